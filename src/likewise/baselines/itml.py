"""Information-theoretic metric learning from similar pairs, then two-means on the unlabeled rows.

Follows Davis, Kulis, Jain, Sra and Dhillon (2007).
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv, dsyr
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from threadpoolctl import threadpool_limits

from likewise.baselines.base import FloatArray, Outcome, Sample
from likewise.baselines.kmeans import MetricBaseline

__all__ = ["ITML", "LearnedMetric", "learn_metric", "metric_objective", "random_distances"]

_N_RANDOM_PAIRS = 20_000
_SMALLEST_BOUND = 1e-9
_SAME_ROWS = 1e-12
"""A pair this near under the metric has nothing to shrink: its two rows are the same."""


@dataclass(frozen=True, eq=False)
class LearnedMetric:
    """A metric with its certificate.

    Attributes
    ----------
    matrix : array of shape (n_features, n_features)
        The metric A, symmetric and positive definite.
    multipliers : array of shape (n_pairs,)
        At the optimum ``inv(A) = I + sum_i multipliers[i] v_i v_i'``.
    slacks : array of shape (n_pairs,)
        Relaxed bounds: no pair is farther apart than its slack.
    n_iter : int
        Sweeps over the pairs.
    converged : bool
    """

    matrix: FloatArray
    multipliers: FloatArray
    slacks: FloatArray
    n_iter: int
    converged: bool


def learn_metric(
    differences: FloatArray, bound: float, *, gamma: float, tol: float, max_iter: int
) -> LearnedMetric:
    """Find the metric nearest to Euclid's under which the members of pairs are near each other.

    Cyclic Bregman projections: each step meets the constraint of one pair exactly, after taking
    back what an earlier sweep did too much for it.

    Parameters
    ----------
    differences : array of shape (n_pairs, n_features)
        Left minus right member of every pair.
    bound : float
        Squared distance that no pair should exceed.
    gamma : float
        Weight of a violated bound against the distance from Euclid's metric; may be infinite.
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
    multipliers, slacks = np.zeros(n_pairs), np.full(n_pairs, bound)
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
    return LearnedMetric(_whole(matrix), multipliers, slacks, n_iter, converged)


def metric_objective(
    matrix: FloatArray, differences: FloatArray, bound: float, gamma: float
) -> float:
    """Return what the metric minimises, slacks eliminated; least where `learn_metric` ends.

    ``tr A - log det A - d + gamma sum_i (r_i - log r_i - 1)`` with
    ``r_i = max(v_i' A v_i / bound, 1)``.

    Parameters
    ----------
    matrix : array of shape (n_features, n_features)
    differences : array of shape (n_pairs, n_features)
    bound, gamma : float

    Returns
    -------
    float
    """
    divergence = np.trace(matrix) - np.linalg.slogdet(matrix)[1] - len(matrix)
    ratios = np.maximum(np.einsum("ij,ij->i", differences @ matrix, differences) / bound, 1.0)
    excess = ratios - np.log(ratios) - 1.0
    # With gamma infinite the bounds are hard, and what rounding leaves of them is no violation.
    return float(divergence if np.isinf(gamma) else divergence + gamma * excess.sum())


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
    """Information-theoretic metric learning from similar pairs, then k-means on unlabeled rows.

    Learns the metric A nearest to the identity (in the log-determinant divergence) under which the
    members v_i = left_i - right_i of pairs are near each other::

        tr A - log det A - d + gamma sum_i (r_i - log r_i - 1),   r_i = max(v_i' A v_i / u, 1)

    where the bound u is a low percentile of the squared distances of random pairs of rows. A loose
    bound leaves A the identity, and the method is plain k-means. Features are standardised first.

    Parameters
    ----------
    gamma : float, default 1.0
        Weight of violated bounds; infinity makes the bounds hard.
    percentile : float in [0, 100], default 5.0
        Percentile of squared distances that is the bound u.
    tol : float, default 1e-3
        Relative change of the multipliers in a sweep over the pairs at which to stop.
    max_iter : int, default 1000
        Largest number of sweeps.
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None
        Draws the pairs whose distances give the bound, and the starts of k-means.

    Attributes
    ----------
    metric_ : array of shape (n_features, n_features)
        A, for standardised rows.
    bound_ : float
        The squared distance u.
    components_ : array of shape (n_features, n_features)
        L with ``A = L L'``.
    cluster_centers_ : array of shape (2, n_features)
        Centres of ``x L``.
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
    >>> rival = ITML(random_state=0).fit(*sample.pack())
    >>> rival.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetricBaseline._parameter_constraints,
        "gamma": [Interval(Real, 0.0, np.inf, closed="right")],
        "percentile": [Interval(Real, 0.0, 100.0, closed="both")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

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
        distances = random_distances(sample.everything, random_state)
        self.bound_ = max(float(np.percentile(distances, self.percentile)), _SMALLEST_BOUND)
        # Thousands of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            learned = learn_metric(
                sample.differences,
                self.bound_,
                gamma=self.gamma,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        self.metric_ = learned.matrix
        objective = metric_objective(learned.matrix, sample.differences, self.bound_, self.gamma)
        values, vectors = eigh(learned.matrix)
        return vectors * np.sqrt(values), Outcome(objective, learned.n_iter, learned.converged)
