"""Class prior by mixture proportion estimation: KM1 and KM2 as the paper's Algorithm 1 uses them.

Follows Ramaswamy, Scott and Tewari (2016). The estimate is not consistent for the class prior
(docs/km-is-not-consistent.md); it is here because the paper's experiments need it. The quadratic
programs are solved in `likewise.prior.simplex`; nothing here knows of classifiers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, log, log2, sqrt
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from likewise.engines.rows import is_sparse
from likewise.prior.base import PriorEstimate
from likewise.prior.simplex import (
    DenseGram,
    FactoredGram,
    Gram,
    Projection,
    project_on_simplex,
)
from likewise.statements.labels import locate_su

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]
Variant = Literal["km1", "km2"]

__all__ = ["KernelMeanPrior", "KernelMeanResult", "kernel_mean_embedding"]

_WIDTH_FACTORS = (0.1, 10**-0.5, 1.0, 10**0.5, 10.0)
_PROBE = 1.05
"""Where the slope at the beginning of the distance curve is taken."""
_SHARE_OF_DISTANCE = 0.2
"""Weight of the samples' distance in the threshold of KM2; the first slope has the rest."""
_LARGEST_NOISE = 0.9
"""KM1 takes the threshold of KM2 where its own is above this share of the samples' distance."""
_ACCURACY = 1e-6
"""Error of a distance, relative to the distance of the two samples, at which a solver stops."""
_PROBE_ACCURACY = 1e-5
"""The same for the probe; half of it moves the threshold of KM2 by less than a two-thousandth."""
_TIE = 1e-5
"""Slopes this near to the threshold, relatively, count as above it. A kernel so narrow that all
rows are strangers makes the curve a line whose slope ties with the threshold of KM2; the rounding
of the published solver then leads to the left end."""
_LONGEST_RUN = 5
"""Trials in a row on one side of the crossing before the middle is tried."""
_FLAT = 1e-2
"""A slope this near to the threshold at an end of the search means that the data do not decide."""
_PIVOT_TOLERANCE = 1e-10
_LARGEST_DENSE_BYTES = 2**30
_BLOCK_ROWS = 1000


@dataclass(frozen=True)
class KernelMeanResult:
    """Both estimates of a mixture proportion and how they came about.

    Attributes
    ----------
    km1, km2 : float
        Estimated largest share of the component in the mixture.
    lambda1, lambda2 : float
        ``1 / (1 - share)``, which is what the search runs over.
    threshold1, threshold2 : float
        Slope of the distance curve at which the search stops.
    shared_threshold : bool
        Whether KM1 had to take the threshold of KM2, its own being no smaller than the noise.
    lambda_left, lambda_right, tol : float
        Ends and final length of the search interval.
    slope1, slope2 : float
        Slope of the distance curve near `lambda1` and `lambda2`.
    kernel_width : float
    width_factor : float
        `kernel_width` over the median distance of two rows.
    sample_distance : float
        Distance of the two samples' mean embeddings (maximum mean discrepancy).
    kernel : {"exact", "low-rank"}
    rank : int or None
        Columns of the factor of a low-rank kernel.
    kernel_error : float
        Largest error that an entry of the kernel matrix can have; 0 for the exact one.
    distance_error : float
        Certificate: largest error of a distance that the search used.
    n_projections, n_iter : int
        Quadratic programs solved and iterations that all of them took.
    """

    km1: float
    km2: float
    lambda1: float
    lambda2: float
    threshold1: float
    threshold2: float
    shared_threshold: bool
    lambda_left: float
    lambda_right: float
    tol: float
    slope1: float
    slope2: float
    kernel_width: float
    width_factor: float
    sample_distance: float
    kernel: Literal["exact", "low-rank"]
    rank: int | None
    kernel_error: float
    distance_error: float
    n_projections: int
    n_iter: int

    def at_floor(self, variant: Variant) -> bool:
        """Tell whether the search ended at its left end, so that the data did not decide."""
        return self._lambda(variant) - self.lambda_left <= self.tol

    def at_ceiling(self, variant: Variant) -> bool:
        """Tell whether the search ended at its right end, so that the data did not decide."""
        return self.lambda_right - self._lambda(variant) <= self.tol

    def is_flat(self, variant: Variant) -> bool:
        """Tell whether the search ended at an end by a slope that is hardly off the threshold.

        Rounding, or another draw of the data, could as well have led to the other end.
        """
        slope, threshold = (
            (self.slope1, self.threshold1) if variant == "km1" else (self.slope2, self.threshold2)
        )
        at_end = self.at_floor(variant) or self.at_ceiling(variant)
        return at_end and abs(slope / threshold - 1.0) < _FLAT

    def _lambda(self, variant: Variant) -> float:
        return self.lambda1 if variant == "km1" else self.lambda2


def kernel_mean_embedding(
    mixture: FloatArray,
    component: FloatArray,
    *,
    lambda_left: float = 2.0,
    lambda_right: float = 8.0,
    tol: float = 0.04,
    exact_rows: int = 3000,
    max_rank: int = 1000,
    progress: Progress | None = None,
) -> KernelMeanResult:
    r"""Estimate the largest share of a component in a mixture, by KM1 and KM2 in one run.

    With :math:`\mu_F, \mu_H` the mean embeddings of the two samples in the space of a Gaussian
    kernel and C the convex hull of all embedded rows, the curve

    .. math:: d(\lambda) = \min_{c \in C} \| \lambda \mu_F + (1 - \lambda) \mu_H - c \|

    is convex and rises from :math:`d(1) = 0`. Its slope passes a threshold near
    :math:`\lambda^* = 1 / (1 - \kappa^*)`; bisection on the forward difference over ``tol / 2``
    finds where, and as the slope only grows, a search that guesses ends in the same interval after
    fewer trials. The threshold is :math:`1 / \sqrt{\min(n_F, n_H)}` for KM1 and
    :math:`0.8 \, d(1.05) / 0.05 + 0.2 \, \|\mu_F - \mu_H\|` for KM2. The width of the kernel is the
    median distance of two rows times one of 0.1, 0.32, 1, 3.2 and 10: the one for which the
    distance of the two samples is largest.

    Parameters
    ----------
    mixture : array of shape (n_mixture, n_features)
    component : array of shape (n_component, n_features)
        Taken as they are: scale the features before.
    lambda_left, lambda_right : float
        Ends of the search; shares outside ``[1 - 1/lambda_left, 1 - 1/lambda_right]`` cannot come
        out. Ramaswamy et al. start at 1, Bao et al. at 2 since two rows agree in class with
        probability at least 1/2.
    tol : float, default 0.04
        Length of the final interval.
    exact_rows : int, default 3000
        Up to so many rows the kernel matrix is exact. Beyond, it is a pivoted Cholesky factor with
        the exact diagonal, and the median distance is taken over that many evenly spaced rows.
    max_rank : int, default 1000
        Most columns of that factor; `KernelMeanResult.kernel_error` bounds what it leaves out.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Returns
    -------
    KernelMeanResult

    References
    ----------
    H. Ramaswamy, C. Scott and A. Tewari, *Mixture proportion estimation via kernel embeddings of
    distributions*, ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> component = rng.normal(size=(200, 2)) + 2
    >>> mixture = np.vstack([rng.normal(size=(120, 2)), rng.normal(size=(80, 2)) + 2])
    >>> result = kernel_mean_embedding(mixture, component, lambda_left=1.0)
    >>> abs(result.km2 - 0.4) < 0.15
    True
    """
    if not 1.0 <= lambda_left < lambda_right:
        raise ValueError(
            f"The search needs 1 <= lambda_left < lambda_right; got {lambda_left} and "
            f"{lambda_right}."
        )
    rows = np.concatenate([mixture, component]).astype(np.float64, copy=False)
    exact = rows.shape[0] <= exact_rows
    steps = _Steps(progress, total=2 + 2 * _halvings(lambda_left, lambda_right, tol))
    # Many small factorisations: threads would cost more than they bring.
    with threadpool_limits(1, "blas"):
        embedding = (
            _embed_exactly(rows, mixture.shape[0])
            if exact
            else _embed_in_few_dimensions(rows, mixture.shape[0], exact_rows, max_rank)
        )
        steps.done(1)
        return _search(embedding, lambda_left, lambda_right, tol, steps)


class _Steps:
    """Counts finished steps for a progress bar."""

    def __init__(self, report: Progress | None, total: int) -> None:
        self._report, self._total, self._done = report, total, 0

    def done(self, count: int) -> None:
        self._done = count
        if self._report is not None:
            self._report(self._done, self._total)

    def another(self) -> None:
        self.done(self._done + 1)


@dataclass(frozen=True)
class _Embedding:
    """Both samples in the kernel's space; mixture rows come first."""

    gram: Gram
    n_mixture: int
    width: float
    width_factor: float
    sample_distance: float
    rank: int | None
    kernel_error: float

    @property
    def n_component(self) -> int:
        return self.gram.size - self.n_mixture

    def target(self, value: float) -> FloatArray:
        """Return the weights of ``value * mixture + (1 - value) * component``."""
        weights = np.full(self.gram.size, (1.0 - value) / self.n_component)
        weights[: self.n_mixture] = value / self.n_mixture
        return weights

    def contrast(self) -> FloatArray:
        """Return the weights of ``mixture - component``."""
        return _contrast(self.n_mixture, self.n_component)


def _contrast(n_mixture: int, n_component: int) -> FloatArray:
    return np.concatenate(
        [np.full(n_mixture, 1.0 / n_mixture), np.full(n_component, -1.0 / n_component)]
    )


def _embed_exactly(rows: FloatArray, n_mixture: int) -> _Embedding:
    distances = _squared_distances(rows, rows)
    np.fill_diagonal(distances, 0.0)
    median = _positive_root_of_median(distances)
    contrast = _contrast(n_mixture, rows.shape[0] - n_mixture)
    best, sample_distance = _best_width(_forms(distances, median, contrast, contrast))
    width = _WIDTH_FACTORS[best] * median
    distances /= -2.0 * width**2
    kernel = np.exp(distances, out=distances)
    return _Embedding(
        DenseGram(kernel), n_mixture, width, _WIDTH_FACTORS[best], sample_distance, None, 0.0
    )


def _embed_in_few_dimensions(
    rows: FloatArray, n_mixture: int, median_rows: int, max_rank: int
) -> _Embedding:
    few = rows[np.linspace(0, rows.shape[0] - 1, median_rows).astype(np.intp)]
    distances = _squared_distances(few, few)
    np.fill_diagonal(distances, 0.0)
    median = _positive_root_of_median(distances)
    del distances
    contrast = _contrast(n_mixture, rows.shape[0] - n_mixture)
    best, sample_distance = _best_width(_contrast_norms(rows, contrast, median))
    width = _WIDTH_FACTORS[best] * median
    factor, residual = _pivoted_cholesky(rows, width, max_rank)
    return _Embedding(
        FactoredGram(factor, residual),
        n_mixture,
        width,
        _WIDTH_FACTORS[best],
        sample_distance,
        factor.shape[1],
        float(residual.max()),
    )


def _squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    distances = left @ (-2.0 * right.T)
    distances += np.einsum("ij,ij->i", left, left)[:, None]
    distances += np.einsum("ij,ij->i", right, right)[None, :]
    return np.maximum(distances, 0.0, out=distances)


def _positive_root_of_median(squared_distances: FloatArray) -> float:
    """Return the median distance over all ordered pairs of rows, a row with itself included."""
    median = sqrt(float(np.median(squared_distances)))
    if not median > 0.0:
        raise ValueError(
            "At least half of all distances between rows are zero, so the kernel has no width: "
            "too many rows are alike, or all features are constant."
        )
    return median


def _forms(
    squared_distances: FloatArray, median: float, left: FloatArray, right: FloatArray
) -> FloatArray:
    """Return ``left' K right`` for each width, from small to large, by powers of the widest K."""
    kernel = squared_distances / (-2.0 * (_WIDTH_FACTORS[-1] * median) ** 2)
    np.exp(kernel, out=kernel)
    power = np.empty_like(kernel)
    forms = [float(left @ (kernel @ right))]
    for _ in _WIDTH_FACTORS[1:]:  # the kernel of a width is the tenth power of the next larger one
        np.multiply(kernel, kernel, out=power)
        np.multiply(power, power, out=power)
        power *= kernel
        np.multiply(power, power, out=kernel)
        forms.append(float(left @ (kernel @ right)))
    return np.array(forms[::-1])


def _contrast_norms(rows: FloatArray, contrast: FloatArray, median: float) -> FloatArray:
    """Return ``contrast' K contrast`` for each width, block by block."""
    norms = np.zeros(len(_WIDTH_FACTORS))
    starts = range(0, rows.shape[0], _BLOCK_ROWS)
    for i in starts:
        upper = slice(i, i + _BLOCK_ROWS)
        for j in range(i, rows.shape[0], _BLOCK_ROWS):
            right = slice(j, j + _BLOCK_ROWS)
            distances = _squared_distances(rows[upper], rows[right])
            times = 1.0 if i == j else 2.0
            norms += times * _forms(distances, median, contrast[upper], contrast[right])
    return norms


def _best_width(squared_norms: FloatArray) -> tuple[int, float]:
    best = int(np.argmax(squared_norms))
    if not squared_norms[best] > 1e-12:
        raise ValueError(
            "The unlabeled rows and the members of the pairs are the same rows, so there is no "
            "mixture to take apart."
        )
    return best, sqrt(float(squared_norms[best]))


def _pivoted_cholesky(
    rows: FloatArray, width: float, max_rank: int
) -> tuple[FloatArray, FloatArray]:
    """Return a factor of the kernel matrix and what it leaves of the diagonal."""
    n = rows.shape[0]
    factor = np.zeros((n, min(max_rank, n)), order="F")
    residual = np.ones(n)
    rank = 0
    while rank < factor.shape[1]:
        pivot = int(np.argmax(residual))
        if residual[pivot] <= _PIVOT_TOLERANCE:
            break
        column = _squared_distances(rows, rows[pivot : pivot + 1])[:, 0]
        column = np.exp(column / (-2.0 * width**2)) - factor[:, :rank] @ factor[pivot, :rank]
        column /= sqrt(residual[pivot])
        factor[:, rank] = column
        residual = np.maximum(residual - column**2, 0.0)
        residual[pivot] = 0.0
        rank += 1
    return np.ascontiguousarray(factor[:, :rank]), residual


class _DistanceCurve:
    """The convex curve d(lambda); every point is computed once, from the nearest one known."""

    def __init__(self, embedding: _Embedding) -> None:
        self._embedding = embedding
        gram = embedding.gram
        self._component_image = gram.times(embedding.target(0.0))
        self._mixture_image = gram.times(embedding.target(1.0))
        self._contrast = embedding.contrast()
        self._known: dict[float, Projection] = {}

    def at(self, value: float, accuracy: float = _ACCURACY) -> Projection:
        if value not in self._known:
            self._known[value] = project_on_simplex(
                self._embedding.gram,
                self._embedding.target(value),
                self._image(value),
                tol=accuracy * self._embedding.sample_distance,
                start=self._start(value),
            )
        return self._known[value]

    def _start(self, value: float) -> FloatArray:
        """Return the solution of the nearest value known; that of one is the mixture itself.

        Fewer points carry weight at larger values, and to drop points takes less than to find them.
        """

        def effort(known: float) -> float:
            return log(value / known) if value > known else 2.0 * log(known / value)

        nearest = min([1.0, *self._known], key=effort)
        return self._known[nearest].weights if nearest > 1.0 else self._embedding.target(1.0)

    def first_slope(self) -> float:
        """Return ``d(1.05) / 0.05``, from the middle between the bounds of the distance."""
        probe = self.at(_PROBE, _PROBE_ACCURACY)
        return (probe.distance - probe.distance_error / 2.0) / (_PROBE - 1.0)

    def guess(self, slope: float) -> float | None:
        """Guess where the curve has a slope, from the points known; None if they do not tell.

        Between two of them the slope is nearly linear in ``1 / lambda``; before the first and
        beyond the last the curve is taken for a power of ``lambda - 1``.
        """
        known = sorted(value for value in self._known if value > _PROBE)
        slopes = np.array([self.slope(value) for value in known])
        if not known or slopes.min() <= 0.0:
            return None
        if slopes[0] < slope < slopes[-1]:
            return 1.0 / float(np.interp(slope, slopes, 1.0 / np.array(known)))
        end = 0 if slope <= slopes[0] else -1
        reach = known[end] - 1.0
        power = slopes[end] * reach / self._known[known[end]].distance - 1.0
        return 1.0 + reach * exp(min(log(slope / slopes[end]) / max(power, 1e-3), 10.0))

    def _image(self, value: float) -> FloatArray:
        return value * self._mixture_image + (1.0 - value) * self._component_image

    def rises_faster(self, value: float, ahead: float, threshold: float) -> bool:
        """Tell whether ``(d(value + ahead) - d(value)) / ahead`` is above the threshold.

        The curve is convex, so the difference is at least the slope of any point known up to
        `value` and at most that of any from ``value + ahead`` on; the envelope theorem gives
        slopes. Only where those known do not decide is `value` solved for; the point found also
        bounds ``d(value + ahead)`` from above. Where that does not decide either, the difference
        itself is computed.
        """
        if self._decided(value, ahead, threshold) is None:
            self.at(value)
        decided = self._decided(value, ahead, threshold)
        if decided is not None:
            return decided
        here = self._known[value]
        bound = here.squared_distance + ahead * (
            2.0 * self._descent(here) + ahead * self._embedding.sample_distance**2
        )
        if sqrt(max(bound, 0.0)) - here.distance <= ahead * threshold:
            return False
        return self.at(value + ahead).distance - here.distance > ahead * threshold

    def _decided(self, value: float, ahead: float, threshold: float) -> bool | None:
        """Tell whether the curve rises faster if the points known say so, else None."""
        for known, point in self._known.items():
            # The solution is within the root of the gap of the point found.
            error = sqrt(point.gap) * self._embedding.sample_distance
            surplus = self._descent(point) - threshold * point.distance
            if known <= value and surplus > error:
                return True
            if known >= value + ahead and surplus <= -error - threshold * point.distance_error:
                return False
        return None

    def _descent(self, point: Projection) -> float:
        """Return half the derivative of the squared distance."""
        return -float(self._contrast @ point.gradient)

    def slope(self, value: float) -> float:
        """Return the derivative of the curve, by the envelope theorem."""
        here = self.at(value)
        return self._descent(here) / here.distance if here.distance > 0.0 else 0.0

    def slope_near(self, value: float) -> float:
        """Return the slope at the known point that is nearest to `value`."""
        return self.slope(min(self._known, key=lambda known: abs(known - value)))

    @property
    def largest_error(self) -> float:
        return max(point.distance_error for point in self._known.values())

    @property
    def n_projections(self) -> int:
        return len(self._known)

    @property
    def n_iter(self) -> int:
        return sum(point.n_iter for point in self._known.values())


def _search(
    embedding: _Embedding, lambda_left: float, lambda_right: float, tol: float, steps: _Steps
) -> KernelMeanResult:
    curve = _DistanceCurve(embedding)
    far = embedding.sample_distance
    noise = 1.0 / sqrt(min(embedding.n_mixture, embedding.n_component))
    shared = noise > _LARGEST_NOISE * far

    def crossing(threshold: float) -> float:
        return _crossing(curve, threshold, lambda_left, lambda_right, tol, steps)

    lambda1 = None if shared else crossing(noise)
    threshold2 = (1.0 - _SHARE_OF_DISTANCE) * curve.first_slope() + _SHARE_OF_DISTANCE * far
    steps.another()
    lambda2 = crossing(threshold2)
    if lambda1 is None:
        lambda1 = crossing(threshold2)
    return KernelMeanResult(
        km1=1.0 - 1.0 / lambda1,
        km2=1.0 - 1.0 / lambda2,
        lambda1=lambda1,
        lambda2=lambda2,
        threshold1=threshold2 if shared else noise,
        threshold2=threshold2,
        shared_threshold=shared,
        lambda_left=lambda_left,
        lambda_right=lambda_right,
        tol=tol,
        slope1=curve.slope_near(lambda1),
        slope2=curve.slope_near(lambda2),
        kernel_width=embedding.width,
        width_factor=embedding.width_factor,
        sample_distance=far,
        kernel="exact" if embedding.rank is None else "low-rank",
        rank=embedding.rank,
        kernel_error=embedding.kernel_error,
        distance_error=curve.largest_error,
        n_projections=curve.n_projections,
        n_iter=curve.n_iter,
    )


def _crossing(
    curve: _DistanceCurve, threshold: float, left: float, right: float, tol: float, steps: _Steps
) -> float:
    """Return what bisection would: the middle of the cell where the slope passes the threshold.

    The curve is convex, so it does not matter in which order the ends of the cells are tried.
    """
    threshold *= 1.0 - _TIE
    n_cells = 1 << _halvings(left, right, tol)
    cell = (right - left) / n_cells
    below, above, run = 0, n_cells, 0
    while above - below > 1:
        length = above - below
        guess = curve.guess(threshold)
        if guess is None or abs(run) > _LONGEST_RUN:
            trial = (below + above) // 2
        else:
            # The forward difference is the slope half way.
            place = (guess - tol / 4.0 - left) / cell
            if abs(run) > 1:  # the guesses stay on one side: go as far beyond
                place += place - (above if run > 0 else below)
            trial = ceil(min(max(place, below + 1), above - 1))
        if curve.rises_faster(left + trial * cell, tol / 2.0, threshold):
            above, run = trial, max(run, 0) + 1
        else:
            below, run = trial, min(run, 0) - 1
        for _ in range(ceil(log2(length)) - ceil(log2(above - below))):
            steps.another()
    return left + (below + above) / 2.0 * cell


def _halvings(left: float, right: float, tol: float) -> int:
    """Return how often bisection halves the interval until it is no longer than `tol`."""
    return max(0, ceil(log2((right - left) / tol) - 1e-9))


class KernelMeanPrior(BaseEstimator):
    r"""Share of the larger class by KM1 or KM2 (the paper's Algorithm 1).

    Takes the unlabeled rows as a mixture of the members of the pairs and something else, estimates
    the share :math:`\kappa` of the former by kernel mean embedding (`kernel_mean_embedding`), reads
    it as :math:`\pi_s = \pi^2 + (1 - \pi)^2`, and returns
    :math:`\pi = (1 + \sqrt{2 \kappa - 1}) / 2`.

    .. warning:: Not consistent. What is left of the mixture, :math:`(p_+ + p_-) / 2`, contains the
       distribution of the pairs, so the estimated share tends to a larger number than
       :math:`\pi_s`: for separable classes to :math:`\pi_s / \max(\pi, 1 - \pi)`, which makes 0.905
       of a prior of 0.7. On small samples the search often ends at its left end, which
       ``diagnostics["at_floor"]`` says. See docs/km-is-not-consistent.md.

    Parameters
    ----------
    variant : {"km2", "km1"}, default "km2"
        Which threshold for the slope of the distance curve; the paper's experiments use KM2. Both
        cost the same work, and ``estimates_`` holds both.
    lambda_left : float, default 2.0
        Left end of the search; 2 is the paper's heuristic, since :math:`\pi_s \ge 1/2`.
    lambda_right : float, default 8.0
        Right end of the search: no prior above 0.933 can come out. Raise it for a larger one.
    tol : float, default 0.04
        Length of the final search interval.
    standardize : bool, default True
        Whether to scale each feature by its standard deviation over all rows, pairs and unlabeled
        ones; features that do not vary are left as they are. Neither paper says how features were
        scaled; False is the published procedure on the features as given.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Attributes
    ----------
    estimate_ : PriorEstimate
        The prior by `variant`, without an interval: the method has none. ``diagnostics`` says
        whether the search ended at an end (``at_floor``, ``at_ceiling``; ``flat`` if by a hair) or
        the share was below 1/2 (``clipped``): then the value is that of the limit, not of the data.
    estimates_ : dict
        The estimates of both variants by name.
    prior_ : float
        Value of `estimate_`.
    kappa_ : float
        Estimated share of the pairs' distribution in the unlabeled one, read as :math:`\pi_s`.
    result_ : KernelMeanResult
    n_iter_ : int
        Iterations of the solver over all quadratic programs.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.prior.kernel_mean import KernelMeanPrior
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0)
    >>> estimator = KernelMeanPrior().fit(*sample.pack())
    >>> 0.5 <= estimator.prior_ <= 1.0
    True
    >>> sorted(estimator.estimates_)
    ['km1', 'km2']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "variant": [StrOptions({"km1", "km2"})],
        "lambda_left": [Interval(Real, 1.0, None, closed="left")],
        "lambda_right": [Interval(Real, 1.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "standardize": ["boolean"],
        "progress": [callable, None],
    }

    def __init__(
        self,
        variant: Variant = "km2",
        *,
        lambda_left: float = 2.0,
        lambda_right: float = 8.0,
        tol: float = 0.04,
        standardize: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.variant = variant
        self.lambda_left = lambda_left
        self.lambda_right = lambda_right
        self.tol = tol
        self.standardize = standardize
        self.progress = progress

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Estimate the prior from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers. A sparse
            one is made dense.
        y : integer array of shape (n_rows,)
            Weak labels as `likewise.pack` makes them; which row is paired with which is not used.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        rows = locate_su(y, X.shape[0], type(self).__name__)
        X = _dense(X)
        if self.standardize:
            X = _standardized(X)
        self.result_ = kernel_mean_embedding(
            X[rows.unlabeled],
            np.concatenate([X[rows.left], X[rows.right]]),
            lambda_left=float(self.lambda_left),
            lambda_right=float(self.lambda_right),
            tol=float(self.tol),
            progress=self.progress,
        )
        self.estimates_ = {
            "km1": _as_prior(self.result_, "km1"),
            "km2": _as_prior(self.result_, "km2"),
        }
        self.estimate_ = self.estimates_[self.variant]
        self.prior_ = self.estimate_.value
        self.kappa_ = self.result_.km1 if self.variant == "km1" else self.result_.km2
        self.n_iter_ = self.result_.n_iter
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _dense(X: Any) -> FloatArray:
    if not is_sparse(X):
        return np.asarray(X)
    size = 8 * X.shape[0] * X.shape[1]
    if size > _LARGEST_DENSE_BYTES:
        raise ValueError(
            f"A sparse X of shape {X.shape} would take {size / 2**30:.1f} GiB as a dense table, "
            "which the kernel needs: take fewer rows, or fewer columns, for instance with "
            "sklearn.decomposition.TruncatedSVD."
        )
    return np.asarray(X.toarray())


def _standardized(X: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = X.mean(axis=0), X.std(axis=0)
    if not np.all(np.isfinite(scale)):
        raise ValueError("Input X contains values too large to be squared; scale the features.")
    constant = scale <= 1e-9 * np.maximum(np.abs(center), 1.0)
    return np.asarray((X - center) / np.where(constant, 1.0, scale))


def _as_prior(result: KernelMeanResult, variant: Variant) -> PriorEstimate:
    kappa = result.km1 if variant == "km1" else result.km2
    excess = 2.0 * kappa - 1.0
    return PriorEstimate(
        value=(1.0 + sqrt(max(excess, 0.0))) / 2.0,
        interval=None,
        level=None,
        method=variant,
        diagnostics={
            "kappa": kappa,
            "at_floor": result.at_floor(variant),
            "at_ceiling": result.at_ceiling(variant),
            "flat": result.is_flat(variant),
            "clipped": excess < 0.0,
            "notes": _notes(result, variant, kappa),
            "consistent": False,
            "threshold": result.threshold1 if variant == "km1" else result.threshold2,
            "shared_threshold": result.shared_threshold and variant == "km1",
            "sample_distance": result.sample_distance,
            "kernel": result.kernel,
            "kernel_width": result.kernel_width,
            "kernel_error": result.kernel_error,
            "rank": result.rank,
            "distance_error": result.distance_error,
        },
    )


def _notes(result: KernelMeanResult, variant: Variant, kappa: float) -> list[str]:
    """Say in words what makes the estimate less than it seems."""
    notes = ["not consistent: tends to overestimate the larger class as samples grow"]
    if result.at_floor(variant):
        notes.append("the search ended at lambda_left: the value is that end, not an estimate")
    if result.at_ceiling(variant):
        notes.append("the search ended at lambda_right: the value is that end, not an estimate")
    if result.is_flat(variant):
        notes.append("the distance curve is so flat that it might as well have been the other end")
    if kappa < 0.5:
        notes.append("the estimated share is below 1/2, which no prior has: 0.5 is a limit")
    return notes
