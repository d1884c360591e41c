"""Pairwise constrained k-means that learns a metric on the way, one for both clusters.

Follows Bilenko, Basu and Mooney (2004), with each pair assigned jointly and exactly.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.utils._param_validation import Interval

from likewise.baselines.base import FloatArray, Outcome, Sample
from likewise.baselines.pckmeans import (
    GAIN_TOLERANCE,
    BoolArray,
    PairClusters,
    PairKMeans,
    assign_rows,
    cluster_means,
    half_advantages,
    is_split,
    separated,
)

__all__ = ["MPCKMeans", "best_metric", "cluster_pairs_with_metric", "scatter"]


def cluster_pairs_with_metric(
    sample: Sample,
    centers: FloatArray,
    metric: FloatArray,
    *,
    weight: float,
    ridge: float,
    max_iter: int,
) -> PairClusters | None:
    """Alternate between assigning rows, moving centres and refitting the metric.

    Every step lowers the objective; it stops when that stands still.

    Parameters
    ----------
    sample : Sample
    centers : array of shape (2, n_features)
        Where to start.
    metric : array of shape (n_features, n_features)
        The metric of the first assignment.
    weight : float
        Cost of a separated pair, per squared distance of its members.
    ridge : float
        Penalty on the trace of the metric, per row.
    max_iter : int

    Returns
    -------
    PairClusters, or None if a cluster became empty
    """
    rows, differences, n_pairs = sample.everything, sample.differences, len(sample.left)
    objective, n_iter, converged = np.inf, 0, False
    while not converged and n_iter < max_iter:
        n_iter += 1
        lengths = np.einsum("ij,ij->i", differences @ metric, differences)
        advantages = 2.0 * half_advantages(rows, centers, metric)
        in_second = assign_rows(advantages, weight * lengths, n_pairs)
        if not is_split(in_second):
            return None
        centers = cluster_means(rows, in_second)
        metric, log_det = best_metric(scatter(sample, in_second, weight) / len(rows), ridge)
        before, objective = objective, len(rows) * (rows.shape[1] - log_det)
        converged = before - objective <= GAIN_TOLERANCE * abs(objective)
    return PairClusters(in_second, centers, metric, Outcome(objective, n_iter, converged))


def scatter(sample: Sample, in_second: BoolArray, weight: float) -> FloatArray:
    """Return the scatter of rows about the mean of their cluster, separated pairs added.

    Parameters
    ----------
    sample : Sample
    in_second : boolean array of shape (n_rows,)
    weight : float
        Of a separated pair.

    Returns
    -------
    array of shape (n_features, n_features)
    """
    rows = sample.everything
    residuals = rows - cluster_means(rows, in_second)[in_second.astype(np.intp)]
    apart = sample.differences[separated(in_second, len(sample.left))]
    return np.asarray(residuals.T @ residuals + weight * (apart.T @ apart))


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
    """Two-means of all rows that learns a metric, in which separated similar pairs cost a penalty.

    Minimises, over centres m, the cluster l(i) of every row and a positive definite metric A::

        sum_i |x_i - m_l(i)|_A^2 - n log det A + ridge n tr A
            + weight * (sum over separated pairs of |left - right|_A^2)

    where ``|v|_A^2 = v' A v``. Features are standardised first. New rows go to the nearer centre
    under A. One metric serves both clusters: a small cluster could not carry its own. The first
    metric is that of the pairs' differences, so that the scale of the columns does not matter.

    Parameters
    ----------
    weight : float, default 1.0
        Cost of a separated pair, per squared distance of its members.
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
        A, for standardised rows.
    cluster_centers_ : array of shape (2, n_features)
        Centres of the standardised rows.
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
    >>> rival = MPCKMeans(random_state=0).fit(*sample.pack())
    >>> rival.score(sample.X_test, sample.y_test) > 0.8
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
        differences = sample.differences
        # Members of a pair scatter about the mean of their class, wherever that is.
        within = differences.T @ differences / (2.0 * len(differences))
        metric, _ = best_metric(within, self.ridge)
        for centers in self._starts(sample, metric):
            yield cluster_pairs_with_metric(
                sample,
                centers,
                metric,
                weight=self.weight,
                ridge=self.ridge,
                max_iter=self.max_iter,
            )
