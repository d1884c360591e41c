"""Pairwise constrained k-means: statements that two-means breaks cost a penalty.

Follows Basu, Banerjee and Mooney (2004), with rows of a pair assigned jointly and exactly.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state

from likewise._sklearn import Interval
from likewise.baselines.assignment import BoolArray, LinkedRows
from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample

__all__ = [
    "GAIN_TOLERANCE",
    "PCKMeans",
    "PairClusters",
    "PairKMeans",
    "cluster_means",
    "cluster_pairs",
    "half_advantages",
    "is_split",
]

GAIN_TOLERANCE = 1e-9
"""Gain of a sweep, relative to the objective, at which to stop."""


@dataclass(frozen=True, eq=False)
class PairClusters:
    """Two clusters of the rows of a sample and how they were found.

    Attributes
    ----------
    in_second : boolean array of shape (n_rows,)
    centers : array of shape (2, n_features)
    metric : array of shape (n_features, n_features)
        Under which a new row goes to the nearer center.
    outcome : Outcome
    """

    in_second: BoolArray
    centers: FloatArray
    metric: FloatArray
    outcome: Outcome


def half_advantages(rows: FloatArray, centers: FloatArray, metric: FloatArray) -> FloatArray:
    """Return how much nearer rows are to the second center, in half squared distances.

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


def is_split(in_second: BoolArray) -> bool:
    """Tell whether neither cluster is empty."""
    return bool(in_second.any() and not in_second.all())


def cluster_means(rows: FloatArray, in_second: BoolArray) -> FloatArray:
    """Return the means of both clusters, shape (2, n_features)."""
    return np.stack([rows[~in_second].mean(axis=0), rows[in_second].mean(axis=0)])


def cluster_pairs(
    rows: FloatArray, linked: LinkedRows, centers: FloatArray, *, weight: float, max_iter: int
) -> PairClusters | None:
    """Alternate between assigning rows and moving centers, until the objective stands still.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    linked : LinkedRows
    centers : array of shape (2, n_features)
        Where to start.
    weight : float
        Cost of a broken link; may be infinite.
    max_iter : int

    Returns
    -------
    PairClusters, or None if a cluster became empty
    """
    metric = np.eye(rows.shape[1])
    found: PairClusters | None = None
    objective, n_iter, converged = np.inf, 0, False
    while not converged and n_iter < max_iter:
        n_iter += 1
        start = None if found is None else found.in_second
        in_second = linked.assign(half_advantages(rows, centers, metric), weight, start)
        if not is_split(in_second):
            return None
        centers = cluster_means(rows, in_second)
        n_broken = int(linked.broken(in_second).sum())
        before, objective = objective, _half_squares(rows, centers, in_second)
        if n_broken:  # an infinite weight times no link is nothing
            objective += weight * n_broken
        converged = before - objective <= GAIN_TOLERANCE * objective
        found = PairClusters(in_second, centers, metric, Outcome(objective, n_iter, converged))
    return found


def _half_squares(rows: FloatArray, centers: FloatArray, in_second: BoolArray) -> float:
    return float(((rows - centers[in_second.astype(np.intp)]) ** 2).sum() / 2.0)


class PairKMeans(Baseline):
    """Two-means with statements: several starts, of which that of the least objective is kept.

    All rows are clustered, each of them once, members of fresh pairs too. A subclass gives `_runs`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _learns_from = "all pairs"

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
        """Yield centers by k-means++ under a metric.

        Rows that hang together by similar links are one point, their mean, of as much weight.
        """
        random_state = check_random_state(self.random_state)
        statements = sample.statements
        groups = statements.choose(statements.is_similar).components
        sizes = np.bincount(groups).astype(np.float64)
        places = (np.ones(groups.size), (groups, np.arange(groups.size)))
        points = sp.csr_array(places) @ sample.rows / sizes[:, None]
        images = points @ np.linalg.cholesky(metric)
        for _ in range(self.n_init):
            _, chosen = kmeans_plusplus(
                images, n_clusters=2, sample_weight=sizes, random_state=random_state
            )
            yield points[chosen]

    def _in_second(self, rows: FloatArray) -> BoolArray:
        return np.asarray(half_advantages(rows, self.cluster_centers_, self.metric_) > 0)


class PCKMeans(PairKMeans):
    r"""Two-means of all rows in which a violated statement costs a penalty.

    Minimizes, over centers m and the cluster l(i) of every row,

    .. math::

        \frac{1}{2} \sum_i \left\| x_i - m_{l(i)} \right\|^2 + \mathrm{weight} \cdot (n_S + n_D)

    with :math:`n_S` the number of similar pairs in different clusters and :math:`n_D` that of
    dissimilar pairs in one cluster. Weight 0 is k-means; an infinite weight is k-means with hard
    links (COP-KMeans). Rows of a pair are assigned jointly and exactly; rows that are connected by
    more statements are assigned as in the paper, one at a time, from several starts. In one
    table every row counts once, whatever the number of statements about it; a group of g similar
    rows is a chain of g - 1 pairs. Features are standardized first. New rows go to the nearer
    center.

    Parameters
    ----------
    weight : float or None, default None
        Cost of a broken pair; may be infinite. None is half the total variance of the standardized
        rows: what a row far from its center costs.
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
        Centers of the standardized rows.
    metric_ : array of shape (n_features, n_features)
        The identity, for standardized rows.
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
    >>> baseline = PCKMeans(random_state=0).fit(*sample.pack())
    >>> baseline.score(sample.X_test, sample.y_test) > 0.7
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
        usual = float(sample.rows.var(axis=0).sum() / 2.0)
        self.weight_ = usual if self.weight is None else float(self.weight)
        linked = LinkedRows.of(sample.statements)
        if np.isinf(self.weight_) and linked.contradicted.any():
            raise ValueError(
                "Statements about rows contradict each other, so no two clusters keep them all, as "
                "an infinite weight asks for; pass a finite weight."
            )
        for centers in self._starts(sample, np.eye(sample.rows.shape[1])):
            yield cluster_pairs(
                sample.rows, linked, centers, weight=self.weight_, max_iter=self.max_iter
            )
