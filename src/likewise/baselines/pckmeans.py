"""Pairwise constrained k-means: pairs that two-means would separate cost a penalty.

Follows Basu, Banerjee and Mooney (2004), with each pair assigned jointly and exactly.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample

BoolArray = NDArray[np.bool_]

__all__ = [
    "GAIN_TOLERANCE",
    "PCKMeans",
    "PairClusters",
    "PairKMeans",
    "assign_rows",
    "cluster_means",
    "cluster_pairs",
    "half_advantages",
    "is_split",
    "separated",
]

GAIN_TOLERANCE = 1e-9
"""Gain of a sweep, relative to the objective, at which to stop."""


@dataclass(frozen=True, eq=False)
class PairClusters:
    """Two clusters of the rows of a sample and how they were found.

    Attributes
    ----------
    in_second : boolean array of shape (n_rows,)
        For left members, right members and unlabeled rows.
    centers : array of shape (2, n_features)
    metric : array of shape (n_features, n_features)
        Under which a new row goes to the nearer centre.
    outcome : Outcome
    """

    in_second: BoolArray
    centers: FloatArray
    metric: FloatArray
    outcome: Outcome


def half_advantages(rows: FloatArray, centers: FloatArray, metric: FloatArray) -> FloatArray:
    """Return how much nearer rows are to the second centre, in half squared distances.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    centers : array of shape (2, n_features)
    metric : array of shape (n_features, n_features)

    Returns
    -------
    array of shape (n_rows,)
    """
    axis = metric @ (centers[1] - centers[0])
    return np.asarray(rows @ axis - centers.mean(axis=0) @ axis)


def assign_rows(advantages: FloatArray, penalties: FloatArray | float, n_pairs: int) -> BoolArray:
    """Assign rows to two clusters at the least cost, each pair jointly.

    Parameters
    ----------
    advantages : array of shape (n_rows,)
        What each row would save by moving from the first to the second cluster: left members,
        right members, unlabeled rows.
    penalties : float or array of shape (n_pairs,)
        What it costs to put the members of a pair in different clusters; may be infinite.
    n_pairs : int

    Returns
    -------
    boolean array of shape (n_rows,)
        Which rows are in the second cluster; of equal costs, that of the pair kept together.
    """
    left, right = advantages[:n_pairs], advantages[n_pairs : 2 * n_pairs]
    both_first, both_second = left + right, np.zeros(n_pairs)
    choice = np.argmin([both_first, both_second, left + penalties, right + penalties], axis=0)
    in_second = advantages > 0
    in_second[:n_pairs] = (choice == 1) | (choice == 3)
    in_second[n_pairs : 2 * n_pairs] = (choice == 1) | (choice == 2)
    return in_second


def separated(in_second: BoolArray, n_pairs: int) -> BoolArray:
    """Tell which pairs have their members in different clusters, shape (n_pairs,)."""
    return np.asarray(in_second[:n_pairs] != in_second[n_pairs : 2 * n_pairs])


def is_split(in_second: BoolArray) -> bool:
    """Tell whether neither cluster is empty."""
    return bool(in_second.any() and not in_second.all())


def cluster_means(rows: FloatArray, in_second: BoolArray) -> FloatArray:
    """Return the means of both clusters, shape (2, n_features)."""
    return np.stack([rows[~in_second].mean(axis=0), rows[in_second].mean(axis=0)])


def cluster_pairs(
    sample: Sample, centers: FloatArray, *, weight: float, max_iter: int
) -> PairClusters | None:
    """Alternate between assigning rows and moving centres, until the objective stands still.

    Parameters
    ----------
    sample : Sample
    centers : array of shape (2, n_features)
        Where to start.
    weight : float
        Cost of a separated pair; may be infinite.
    max_iter : int

    Returns
    -------
    PairClusters, or None if a cluster became empty
    """
    rows, n_pairs = sample.everything, len(sample.left)
    metric = np.eye(rows.shape[1])
    objective, n_iter, converged = np.inf, 0, False
    while not converged and n_iter < max_iter:
        n_iter += 1
        in_second = assign_rows(half_advantages(rows, centers, metric), weight, n_pairs)
        if not is_split(in_second):
            return None
        centers = cluster_means(rows, in_second)
        n_separated = int(separated(in_second, n_pairs).sum())
        before, objective = objective, _half_squares(rows, centers, in_second)
        if n_separated:  # an infinite weight times no pair is nothing
            objective += weight * n_separated
        converged = before - objective <= GAIN_TOLERANCE * objective
    return PairClusters(in_second, centers, metric, Outcome(objective, n_iter, converged))


def _half_squares(rows: FloatArray, centers: FloatArray, in_second: BoolArray) -> float:
    return float(((rows - centers[in_second.astype(np.intp)]) ** 2).sum() / 2.0)


class PairKMeans(Baseline):
    """Two-means with pairs: several starts, of which the one with the least objective is kept.

    A subclass gives `_runs`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    max_iter: int
    n_init: int
    random_state: Any

    @abstractmethod
    def _runs(self, sample: Sample) -> Iterator[PairClusters | None]:
        """Yield the clusters found from each start, or None where one of them became empty."""

    def _fit(self, sample: Sample) -> Outcome:
        runs = [run for run in self._runs(sample) if run is not None]
        if not runs:
            raise ValueError(
                f"{type(self).__name__} ended with an empty cluster from every start: the rows do "
                "not split in two; give it more distinct rows, or raise n_init."
            )
        best = min(runs, key=lambda run: run.outcome.objective)
        self.cluster_centers_, self.metric_ = best.centers, best.metric
        return best.outcome

    def _starts(self, sample: Sample, metric: FloatArray) -> Iterator[FloatArray]:
        """Yield centres by k-means++ under a metric, a pair being one point of twice the weight."""
        random_state = check_random_state(self.random_state)
        middles = (sample.left + sample.right) / 2.0
        points = np.vstack([middles, sample.unlabeled])
        sizes = np.repeat([2.0, 1.0], [len(middles), len(sample.unlabeled)])
        images = points @ np.linalg.cholesky(metric)
        for _ in range(self.n_init):
            _, chosen = kmeans_plusplus(
                images, n_clusters=2, sample_weight=sizes, random_state=random_state
            )
            yield points[chosen]

    def _in_second(self, rows: FloatArray) -> BoolArray:
        return np.asarray(half_advantages(rows, self.cluster_centers_, self.metric_) > 0)


class PCKMeans(PairKMeans):
    """Two-means of all rows in which a separated similar pair costs a penalty.

    Minimises, over centres m and the cluster l(i) of every row::

        sum_i |x_i - m_l(i)|^2 / 2 + weight * (number of separated pairs)

    Weight 0 is k-means; an infinite weight is k-means with hard links (COP-KMeans). Features are
    standardised first. New rows go to the nearer centre.

    Parameters
    ----------
    weight : float or None, default None
        Cost of a separated pair; may be infinite. None is half the total variance of the
        standardised rows: what a row far from its centre costs.
    max_iter : int, default 300
        Largest number of sweeps from one start.
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    weight_ : float
        The weight in use.
    cluster_centers_ : array of shape (2, n_features)
        Centres of the standardised rows.
    metric_ : array of shape (n_features, n_features)
        The identity, for standardised rows.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `likewise.baselines.base.Baseline`; `objective_` is the sum above.
    mean_, scale_, n_features_in_, feature_names_in_
        As there.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney. Active semi-supervision for pairwise constrained
    clustering. SDM 2004.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import PCKMeans
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> rival = PCKMeans(random_state=0).fit(*sample.pack())
    >>> rival.score(sample.X_test, sample.y_test) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairKMeans._parameter_constraints,
        "weight": [Interval(Real, 0.0, np.inf, closed="both"), None],
    }

    def __init__(
        self,
        *,
        weight: float | None = None,
        max_iter: int = 300,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.weight = weight
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _runs(self, sample: Sample) -> Iterator[PairClusters | None]:
        usual = float(sample.everything.var(axis=0).sum() / 2.0)
        self.weight_ = usual if self.weight is None else float(self.weight)
        for centers in self._starts(sample, np.eye(sample.left.shape[1])):
            yield cluster_pairs(sample, centers, weight=self.weight_, max_iter=self.max_iter)
