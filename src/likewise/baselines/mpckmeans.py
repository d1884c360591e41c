"""Pairwise constrained k-means that learns a metric on the way, one for both clusters.

Follows Bilenko, Basu and Mooney (2004), with rows of a pair assigned jointly and exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from likewise._sklearn import Interval
from likewise.baselines.assignment import BoolArray, LinkedRows
from likewise.baselines.base import FloatArray, Outcome, Sample
from likewise.baselines.pckmeans import (
    GAIN_TOLERANCE,
    PairClusters,
    PairKMeans,
    cluster_means,
    half_advantages,
    is_split,
)

__all__ = ["MPCKMeans", "MetricProblem", "best_metric", "longest_difference"]

_SMALLEST_EIGENVALUE = 0.01
"""Share of the mean eigenvalue of the scatter below which none may fall, where dissimilar pairs
pull it there: the authors' constant for a metric that would not be positive definite."""


@dataclass(frozen=True, eq=False)
class MetricProblem:
    """Rows with links, and what it costs to break these.

    Attributes
    ----------
    sample : Sample
    linked : LinkedRows
        Of the sample.
    weight : float
        Cost of a broken link, per squared distance.
    ridge : float
        Penalty on the trace of the metric, per row.
    """

    sample: Sample
    linked: LinkedRows
    weight: float
    ridge: float

    def cluster(
        self, centers: FloatArray, metric: FloatArray, *, max_iter: int
    ) -> PairClusters | None:
        """Alternate between assigning rows, moving centers and refitting the metric.

        Stops when the objective stands still. Without broken dissimilar pairs every step lowers it;
        with them, rows may be farther apart under the new metric, and a sweep that makes things
        worse is undone.

        Parameters
        ----------
        centers : array of shape (2, n_features)
            Where to start.
        metric : array of shape (n_features, n_features)
            The metric of the first assignment.
        max_iter : int

        Returns
        -------
        PairClusters, or None if a cluster became empty
        """
        rows = self.sample.rows
        longest = self._longest(metric)
        found: PairClusters | None = None
        objective, n_iter, converged = np.inf, 0, False
        while not converged and n_iter < max_iter:
            n_iter += 1
            advantages = 2.0 * half_advantages(rows, centers, metric)
            costs = self.weight * self.costs(metric, longest)
            start = None if found is None else found.in_second
            in_second = self.linked.assign(advantages, costs, start)
            if not is_split(in_second):
                return None
            centers = cluster_means(rows, in_second)
            metric, cost = self._refit(in_second, longest)
            before, shorter, longest = objective, longest, self._longest(metric)
            objective = len(rows) * cost + self._lengthened(in_second, metric, shorter, longest)
            gain = before - objective
            converged = gain <= GAIN_TOLERANCE * abs(objective)
            if found is not None and gain < -GAIN_TOLERANCE * abs(objective):
                outcome = Outcome(before, n_iter, converged)
                return PairClusters(found.in_second, found.centers, found.metric, outcome)
            found = PairClusters(in_second, centers, metric, Outcome(objective, n_iter, converged))
        return found

    def costs(self, metric: FloatArray, longest: FloatArray) -> FloatArray:
        """Return what each link costs if broken, before the weight, shape (n_links,).

        Parameters
        ----------
        metric : array of shape (n_features, n_features)
        longest : array of shape (n_features,)
            Difference of the farthest rows.
        """
        differences = self.sample.differences
        lengths = np.einsum("ij,ij->i", differences @ metric, differences)
        far = float(longest @ metric @ longest)
        missing = np.maximum(far - lengths, 0.0)
        return np.asarray(np.where(self.linked.links.is_similar, lengths, missing))

    def scatter(self, in_second: BoolArray, longest: FloatArray) -> FloatArray:
        """Return the scatter of rows about the mean of their cluster, broken links added.

        Parameters
        ----------
        in_second : boolean array of shape (n_rows,)
        longest : array of shape (n_features,)
            Difference of the farthest rows.

        Returns
        -------
        array of shape (n_features, n_features)
        """
        rows, differences = self.sample.rows, self.sample.differences
        residuals = rows - cluster_means(rows, in_second)[in_second.astype(np.intp)]
        broken, is_similar = self.linked.broken(in_second), self.linked.links.is_similar
        apart, together = differences[broken & is_similar], differences[broken & ~is_similar]
        total = residuals.T @ residuals + self.weight * (apart.T @ apart)
        if len(together):
            missing = len(together) * np.outer(longest, longest) - together.T @ together
            total += self.weight * missing
        return np.asarray(total)

    def _refit(self, in_second: BoolArray, longest: FloatArray) -> tuple[FloatArray, float]:
        """Return the metric of the least cost for given clusters, and that cost per row."""
        mean_scatter = self.scatter(in_second, longest) / len(in_second)
        usable = mean_scatter
        if self._n_together(in_second):
            usable = _made_positive(mean_scatter)
        metric, log_det = best_metric(usable, self.ridge)
        # At the best metric the trace of its product with what it is the inverse of.
        trace = len(metric) + float(np.sum(metric * (mean_scatter - usable)))
        return metric, trace - log_det

    def _longest(self, metric: FloatArray) -> FloatArray:
        if self.linked.links.is_similar.all():
            return np.zeros(len(metric))
        return longest_difference(self.sample, metric)

    def _lengthened(
        self, in_second: BoolArray, metric: FloatArray, before: FloatArray, now: FloatArray
    ) -> float:
        """Return by how much dissimilar pairs together cost more as other rows are farthest."""
        growth = float(now @ metric @ now - before @ metric @ before)
        return self.weight * self._n_together(in_second) * growth

    def _n_together(self, in_second: BoolArray) -> int:
        broken = self.linked.broken(in_second)
        return int(np.count_nonzero(broken & ~self.linked.links.is_similar))


def longest_difference(sample: Sample, metric: FloatArray) -> FloatArray:
    """Return the difference of two rows that are farthest apart under a metric.

    From the row farthest from the mean to the row farthest from that, and on while distances grow:
    not always the farthest two of all, but never nearer than the members of a dissimilar pair.

    Parameters
    ----------
    sample : Sample
    metric : array of shape (n_features, n_features)

    Returns
    -------
    array of shape (n_features,)
    """
    images = sample.rows @ np.linalg.cholesky(metric)
    here = int(np.argmax(_squared_lengths(images - images.mean(axis=0))))
    length, there = -1.0, here
    while True:
        lengths = _squared_lengths(images - images[here])
        farthest = int(np.argmax(lengths))
        if lengths[farthest] <= length:
            break
        length, here, there = float(lengths[farthest]), farthest, here
    links = sample.links
    left, right = (side[~links.is_similar] for side in (links.left, links.right))
    lengths = _squared_lengths(images[left] - images[right])
    if lengths.max(initial=-1.0) > length:
        here, there = left[np.argmax(lengths)], right[np.argmax(lengths)]
    return np.asarray(sample.rows[here] - sample.rows[there])


def _squared_lengths(images: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", images, images))


def _made_positive(scatter: FloatArray) -> FloatArray:
    """Return a symmetric matrix with its eigenvalues kept away from zero."""
    values, vectors = eigh(scatter)
    floor = _SMALLEST_EIGENVALUE * abs(float(values.mean()))
    if values[0] >= floor:
        return scatter
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)


def best_metric(mean_scatter: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """Return the metric A of least ``tr(A (mean_scatter + ridge I)) - log det A``, and log det A.

    Parameters
    ----------
    mean_scatter : array of shape (n_features, n_features)
    ridge : float

    Returns
    -------
    metric : array of shape (n_features, n_features)
    log_det : float
    """
    identity = np.eye(len(mean_scatter))
    try:
        factor = cho_factor(mean_scatter + ridge * identity)
    except LinAlgError as error:
        raise ValueError(
            "The rows of the clusters do not vary in every direction, so no metric is the best; "
            "raise ridge."
        ) from error
    metric = cho_solve(factor, identity)
    return (metric + metric.T) / 2.0, -2.0 * float(np.log(np.diag(factor[0])).sum())


class MPCKMeans(PairKMeans):
    r"""Two-means of all rows that learns a metric, in which violated statements cost a penalty.

    Minimizes, over centers m, the cluster l(i) of every row and a positive definite metric A,

    .. math::

        \sum_i \left\| x_i - m_{l(i)} \right\|_A^2 - n \log(\det A)
        + \mathrm{ridge} \cdot n \operatorname{tr}(A) + \mathrm{weight} \cdot (P_S + P_D)

    .. math::

        P_S = \sum_{\text{similar, apart}} \left\| x_a - x_b \right\|_A^2

    .. math::

        P_D = \sum_{\text{dissimilar, together}}
        (\left\| v \right\|_A^2 - \left\| x_a - x_b \right\|_A^2)

    where :math:`\left\| v \right\|_A^2 = v^T A v`, and in the last sum v is the difference of the
    two farthest rows under A. In one table every row counts once, whatever the number of statements
    about it; a group of g similar rows is a chain of g - 1 pairs. Rows of a pair are assigned
    jointly and exactly; rows that are connected by more statements are assigned as in the paper,
    one at a time, from several starts.

    Features are standardized first. New rows go to the nearer center under A. One metric serves
    both clusters: a small cluster could not carry its own. The first metric is that of the similar
    pairs' differences (without any, of all rows), so that the scale of the columns does not matter.

    Parameters
    ----------
    weight : float, default 1.0
        Cost of a broken pair, per squared distance.
    ridge : float, default 1e-6
        Penalty on the trace of A, which keeps A finite where rows do not vary.
    max_iter : int, default 300
        Largest number of sweeps from one start.
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    metric_ : array of shape (n_features, n_features)
        A, for standardized rows.
    cluster_centers_ : array of shape (2, n_features)
        Centers of the standardized rows.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `likewise.baselines.base.Baseline`; `objective_` is the sum above.
    mean_, scale_, n_features_in_, feature_names_in_
        As there.

    References
    ----------
    M. Bilenko, S. Basu and R. J. Mooney. Integrating constraints and metric learning in
    semi-supervised clustering. ICML 2004.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import MPCKMeans
    >>> X, y = lw.datasets.make_waveform(9000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> baseline = MPCKMeans(random_state=0).fit(*sample.pack())
    >>> baseline.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairKMeans._parameter_constraints,
        "weight": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        weight: float = 1.0,
        ridge: float = 1e-6,
        max_iter: int = 300,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.weight = weight
        self.ridge = ridge
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _runs(self, sample: Sample) -> Iterator[PairClusters | None]:
        # Members of a similar pair scatter about the mean of their class, wherever that is.
        spread, times = sample.left - sample.right, 2.0
        if not len(spread):
            spread, times = sample.rows, 1.0
        metric, _ = best_metric(spread.T @ spread / (times * len(spread)), self.ridge)
        problem = MetricProblem(sample, LinkedRows.of(sample.statements), self.weight, self.ridge)
        for centers in self._starts(sample, metric):
            yield problem.cluster(centers, metric, max_iter=self.max_iter)
