"""Information-theoretic metric learning from pairs, then two-means on the unlabeled rows.

Follows Davis, Kulis, Jain, Sra and Dhillon (2007).
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv, dsyr
from scipy.optimize import minimize
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from likewise._sklearn import Interval
from likewise.baselines.base import FloatArray, Outcome, Sample
from likewise.baselines.kmeans import MetricBaseline

__all__ = [
    "ITML",
    "Bounds",
    "LearnedMetric",
    "descend",
    "metric_objective",
    "project_cyclically",
    "random_distances",
]

_N_RANDOM_PAIRS = 20_000
_SMALLEST_BOUND = 1e-9
_LEAST_RATIO = 1e-12
_LEAST_LENGTH = 1e-150
_SAME_ROWS = 1e-12
"""A pair this near under the metric has nothing to shrink or stretch: its two rows are the same."""


@dataclass(frozen=True, eq=False)
class LearnedMetric:
    """A metric with its certificate.

    Attributes
    ----------
    matrix : array of shape (n_features, n_features)
        The metric A, symmetric and positive definite.
    multipliers : array of shape (n_pairs,)
        At the optimum ``inv(A) = I + sum_i multipliers[i] v_i v_i'``; not below 0 for similar
        pairs, not above 0 for dissimilar ones.
    n_iter : int
        Sweeps over the pairs.
    converged : bool
    """

    matrix: FloatArray
    multipliers: FloatArray
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Bounds:
    """How far apart the members of pairs may be, and how much it matters.

    Attributes
    ----------
    values : array of shape (n_pairs,)
        Squared distances that pairs should not pass.
    is_upper : boolean array of shape (n_pairs,)
        Whether that is an upper bound (of similar pairs), or a lower one (of dissimilar pairs).
    gamma : float
        Weight of a violated bound against the distance from Euclid's metric; may be infinite.
    """

    values: FloatArray
    is_upper: NDArray[np.bool_]
    gamma: float

    def ratios(self, distances: FloatArray) -> FloatArray:
        """Return squared distances over their bounds, or 1 where a bound is met.

        Two equal rows that are said to differ stay together under every metric: their ratio of
        zero, whose logarithm is infinite, is taken for a small one.
        """
        is_passed = (distances > self.values) == self.is_upper
        return np.where(is_passed, np.maximum(distances / self.values, _LEAST_RATIO), 1.0)

    def excess(self, distances: FloatArray) -> float:
        """Return ``gamma sum_i (r_i - log r_i - 1)``, r_i the `ratios` of squared distances."""
        ratios = self.ratios(distances)
        # With gamma infinite the bounds are hard: what rounding leaves of them is no violation.
        cost = (ratios - np.log(ratios) - 1.0).sum()
        return 0.0 if np.isinf(self.gamma) else float(self.gamma * cost)

    def slopes(self, distances: FloatArray) -> FloatArray:
        """Return the derivative of `excess` in every squared distance."""
        return np.asarray(self.gamma * (1.0 - 1.0 / self.ratios(distances)) / self.values)


def project_cyclically(
    differences: FloatArray, bounds: Bounds, *, tol: float, max_iter: int
) -> LearnedMetric:
    """Find the metric nearest to Euclid's under which similar pairs are within their bounds.

    Cyclic Bregman projections, as the authors do: each step meets the constraint of one pair
    exactly, after taking back what an earlier sweep did too much for it.

    Parameters
    ----------
    differences : array of shape (n_pairs, n_features)
        Left minus right member of every pair.
    bounds : Bounds
        Upper ones only.
    tol : float
        Relative change of the multipliers in a sweep at which to stop.
    max_iter : int
        Largest number of sweeps.

    Returns
    -------
    LearnedMetric
    """
    n_pairs, n_features = differences.shape
    # BLAS reads and writes one triangle of a column-major matrix in place: half the work of A @ v.
    matrix = np.asfortranarray(np.eye(n_features))
    multipliers, slacks, gamma = np.zeros(n_pairs), bounds.values.copy(), bounds.gamma
    share = 1.0 if np.isinf(gamma) else gamma / (gamma + 1.0)
    n_iter, converged = 0, False
    while not converged and n_iter < max_iter:
        before = multipliers.copy()
        for i, difference in enumerate(differences):
            image = dsymv(1.0, matrix, difference)
            distance = float(difference @ image)
            if distance <= _SAME_ROWS:
                continue
            step = min(multipliers[i], share * (1.0 / distance - 1.0 / slacks[i]))
            multipliers[i] -= step
            slacks[i] = 1.0 / (1.0 / slacks[i] + step / gamma)
            matrix = dsyr(step / (1.0 - step * distance), image, a=matrix, overwrite_a=1)
        n_iter += 1
        size = np.linalg.norm(multipliers) + np.linalg.norm(before)
        converged = bool(np.abs(multipliers - before).sum() <= tol * size)
    return LearnedMetric(_whole(matrix), multipliers, n_iter, converged)


def descend(differences: FloatArray, bounds: Bounds, *, tol: float, max_iter: int) -> LearnedMetric:
    """Find the metric nearest to Euclid's under which pairs of both kinds are within their bounds.

    Where bounds contradict each other, as those of near rows that were said to differ do, cyclic
    projections take thousands of sweeps. The problem is convex and smooth, so it is minimized over
    a triangular root of the metric.

    Parameters
    ----------
    differences : array of shape (n_pairs, n_features)
    bounds : Bounds
        With a finite weight.
    tol : float
        Relative change of the metric at which to stop, roughly: its square is the relative gain.
    max_iter : int

    Returns
    -------
    LearnedMetric
    """
    n_features = differences.shape[1]
    lower = np.tril_indices(n_features)

    def root_of(entries: FloatArray) -> FloatArray:
        root = np.zeros((n_features, n_features))
        root[lower] = entries
        return root

    def objective(entries: FloatArray) -> tuple[float, FloatArray]:
        root = root_of(entries)
        images = differences @ root
        distances = np.einsum("ij,ij->i", images, images)
        log_det = np.log(np.maximum(entries[diagonal] ** 2, np.finfo(float).tiny)).sum()
        value = float(entries @ entries - log_det - n_features + bounds.excess(distances))
        pulled = differences * bounds.slopes(distances)[:, None]
        gradient = 2.0 * (root + pulled.T @ images)
        # A step may lead to a metric of no length, where the objective is infinite.
        lengths = np.where(np.abs(entries[diagonal]) < _LEAST_LENGTH, np.inf, entries[diagonal])
        gradient[np.diag_indices(n_features)] -= 2.0 / lengths
        return value, gradient[lower]

    diagonal = np.flatnonzero(lower[0] == lower[1])
    found = minimize(
        objective,
        np.eye(n_features)[lower],
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": tol**2, "gtol": 0.0},
    )
    root = root_of(found.x)
    images = differences @ root
    multipliers = bounds.slopes(np.einsum("ij,ij->i", images, images))
    return LearnedMetric(root @ root.T, multipliers, int(found.nit), bool(found.status == 0))


def metric_objective(matrix: FloatArray, differences: FloatArray, bounds: Bounds) -> float:
    """Return what the metric minimizes, slacks eliminated; least where both solvers end.

    ``tr A - log det A - d`` and the `Bounds.excess` of the pairs.

    Parameters
    ----------
    matrix : array of shape (n_features, n_features)
    differences : array of shape (n_pairs, n_features)
    bounds : Bounds

    Returns
    -------
    float
    """
    divergence = np.trace(matrix) - np.linalg.slogdet(matrix)[1] - len(matrix)
    distances = np.einsum("ij,ij->i", differences @ matrix, differences)
    return float(divergence + bounds.excess(distances))


def random_distances(rows: FloatArray, random_state: np.random.RandomState) -> FloatArray:
    """Return the squared distances of 20 000 random pairs of distinct rows.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    random_state : numpy.random.RandomState

    Returns
    -------
    array of shape (20000,)
    """
    left = random_state.randint(len(rows), size=_N_RANDOM_PAIRS)
    right = (left + random_state.randint(1, len(rows), size=_N_RANDOM_PAIRS)) % len(rows)
    return np.asarray(((rows[left] - rows[right]) ** 2).sum(axis=1))


def _whole(triangle: FloatArray) -> FloatArray:
    """Return a symmetric matrix from its upper triangle."""
    upper = np.triu(triangle)
    return np.asarray(upper + np.triu(upper, 1).T)


class ITML(MetricBaseline):
    r"""Information-theoretic metric learning from pairs, then k-means on unlabeled rows.

    Learns the metric A nearest to the identity (in the log-determinant divergence) under which the
    members of similar pairs are near each other and those of dissimilar pairs far apart. It
    minimizes

    .. math:: \operatorname{tr}(A) - \log(\det A) - d + \gamma \sum_i (r_i - \log(r_i) - 1)

    where, with :math:`v_i` the difference of the members of pair i, :math:`r_i` is
    :math:`\max(v_i^T A v_i / u, 1)` for a similar pair and :math:`\min(v_i^T A v_i / l, 1)` for a
    dissimilar one. The bounds u and l are a low and a high percentile of the squared distances of
    random pairs of rows. Loose bounds leave A the identity, and the method is plain k-means. In one
    table, all rows are clustered and give the bounds, each of them once; every statement is a pair,
    a group of g rows is g - 1 of them, and a dissimilar pair of equal rows is left out: no metric
    can separate them. Features are standardized first.

    Parameters
    ----------
    gamma : float, default 1.0
        Weight of violated bounds; infinity makes the bounds hard, of similar pairs only.
    percentile : float in [0, 100], default 5.0
        Percentile of squared distances that is the bound u; ``100 - percentile`` gives l.
    tol : float, default 1e-3
        Relative change of the multipliers in a sweep over the pairs at which to stop; with
        dissimilar pairs, the root of the relative gain of a step.
    max_iter : int, default 1000
        Largest number of sweeps, or steps.
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None
        Draws the pairs whose distances give the bound, and the starts of k-means.

    Attributes
    ----------
    metric_ : array of shape (n_features, n_features)
        A, for standardized rows.
    bound_, lower_bound_ : float
        The squared distances u and l.
    components_ : array of shape (n_features, n_features)
        L with ``A = L L'``.
    cluster_centers_ : array of shape (2, n_features)
        Centers of ``x L``.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `likewise.baselines.base.Baseline`; `objective_` is the sum above.
    mean_, scale_, n_features_in_, feature_names_in_
        As there.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra and I. S. Dhillon. Information-theoretic metric learning.
    ICML 2007.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import ITML
    >>> X, y = lw.datasets.make_waveform(9000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> baseline = ITML(random_state=0).fit(*sample.pack())
    >>> baseline.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetricBaseline._parameter_constraints,
        "gamma": [Interval(Real, 0.0, np.inf, closed="right")],
        "percentile": [Interval(Real, 0.0, 100.0, closed="both")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _learns_from = "all pairs"

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        percentile: float = 5.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.percentile = percentile
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _learn_metric(self, sample: Sample) -> tuple[FloatArray, Outcome]:
        random_state = check_random_state(self.random_state)
        distances = random_distances(sample.rows, random_state)
        self.bound_, self.lower_bound_ = (
            max(float(np.percentile(distances, percentile)), _SMALLEST_BOUND)
            for percentile in (self.percentile, 100.0 - self.percentile)
        )
        differences, is_similar = sample.differences, sample.links.is_similar
        kept = is_similar | differences.any(axis=1)
        differences, is_similar = differences[kept], is_similar[kept]
        bounds = Bounds(
            np.where(is_similar, self.bound_, self.lower_bound_), is_similar, self.gamma
        )
        if not is_similar.all() and np.isinf(self.gamma):
            raise ValueError(
                "With dissimilar pairs bounds may contradict each other, so they cannot be hard: "
                "pass a finite gamma."
            )
        solve = project_cyclically if is_similar.all() else descend
        # Thousands of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            learned = solve(differences, bounds, tol=self.tol, max_iter=self.max_iter)
        self.metric_ = learned.matrix
        objective = metric_objective(learned.matrix, differences, bounds)
        values, vectors = eigh(learned.matrix)
        # Of a direction that the metric all but removes, rounding may leave less than nothing.
        lengths = np.sqrt(np.maximum(values, 0.0))
        return vectors * lengths, Outcome(objective, learned.n_iter, learned.converged)
