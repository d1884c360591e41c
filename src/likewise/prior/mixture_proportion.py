"""The largest share of a component in a mixture, by KM1 and KM2 of Ramaswamy et al. (2016).

The quadratic programs are solved in `likewise.prior.simplex`; nothing here knows of pairs, class
priors or estimators.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import Literal

from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise.prior.distance_curve import DistanceCurve
from likewise.prior.embedding import (
    Embedding,
    TwoSamples,
    embed_exactly,
    embed_in_few_dimensions,
)

Progress = Callable[[int, int], None]
Variant = Literal["km1", "km2"]

__all__ = [
    "KernelMeanResult",
    "Progress",
    "Steps",
    "Variant",
    "find_crossing",
    "kernel_mean_embedding",
    "proportion_of",
]

_SHARE_OF_DISTANCE = 0.2
"""Weight of the samples' distance in the threshold of KM2; the first slope has the rest."""
_LARGEST_NOISE = 0.9
"""KM1 takes the threshold of KM2 where its own is above this share of the samples' distance."""
_TIE = 1e-5
"""Slopes this near to the threshold, relatively, count as above it. A kernel so narrow that all
rows are strangers makes the curve a line whose slope ties with the threshold of KM2; the rounding
of the published solver then leads to the left end."""
_LONGEST_RUN = 5
"""Trials in a row on one side of the crossing before the middle is tried."""
_FLAT = 1e-2
"""A slope this near to the threshold at an end of the search means that the data do not decide."""


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
    return proportion_of(
        TwoSamples.stacked(mixture, component),
        lambda_left=lambda_left,
        lambda_right=lambda_right,
        tol=tol,
        exact_rows=exact_rows,
        max_rank=max_rank,
        progress=progress,
    )


def proportion_of(
    samples: TwoSamples,
    *,
    lambda_left: float,
    lambda_right: float,
    tol: float,
    exact_rows: int = 3000,
    max_rank: int = 1000,
    progress: Progress | None = None,
) -> KernelMeanResult:
    """Estimate the largest share of a component in a mixture of rows that may be in both.

    As `kernel_mean_embedding`, which see. Every row counts once in the convex hull, and the
    threshold of KM1 has effective sample sizes.

    Parameters
    ----------
    samples : TwoSamples
    lambda_left, lambda_right, tol, exact_rows, max_rank, progress
        As in `kernel_mean_embedding`.

    Returns
    -------
    KernelMeanResult
    """
    if not 1.0 <= lambda_left < lambda_right:
        raise ValueError(
            f"The search needs 1 <= lambda_left < lambda_right; got {lambda_left} and "
            f"{lambda_right}."
        )
    exact = len(samples.rows) <= exact_rows
    steps = Steps(progress, total=2 + 2 * _halvings(lambda_left, lambda_right, tol))
    # Many small factorisations: threads would cost more than they bring.
    with threadpool_limits(1, "blas"):
        embedding = (
            embed_exactly(samples)
            if exact
            else embed_in_few_dimensions(samples, exact_rows, max_rank)
        )
        steps.done(1)
        return _search(embedding, lambda_left, lambda_right, tol, steps)


class Steps:
    """Counts finished steps for a progress bar."""

    def __init__(self, report: Progress | None, total: int) -> None:
        self._report, self._total, self._done = report, total, 0

    def done(self, count: int) -> None:
        """Say that so many steps are finished."""
        self._done = count
        if self._report is not None:
            self._report(self._done, self._total)

    def another(self) -> None:
        """Say that one more step is finished."""
        self.done(self._done + 1)


def _search(
    embedding: Embedding, lambda_left: float, lambda_right: float, tol: float, steps: Steps
) -> KernelMeanResult:
    curve = DistanceCurve(embedding)
    far = embedding.sample_distance
    noise = 1.0 / sqrt(embedding.samples.smaller_size())
    shared = noise > _LARGEST_NOISE * far

    def crossing(threshold: float) -> float:
        return find_crossing(curve, threshold, lambda_left, lambda_right, tol, steps)

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


def find_crossing(
    curve: DistanceCurve, threshold: float, left: float, right: float, tol: float, steps: Steps
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
