"""Two-means on the unlabeled rows: the paper's KM, and the last step of its metric learners."""

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from likewise._sklearn import Interval
from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample

__all__ = ["KMeansBaseline", "MetricBaseline", "nearer_to_second", "two_means"]


def two_means(rows: FloatArray, *, n_init: int, random_state: Any) -> KMeans:
    """Return scikit-learn's k-means for two clusters of `rows`, k-means++ starts, fitted.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    n_init : int
        Number of starts; the one with the least sum of squares is kept.
    random_state : int, RandomState or None

    Returns
    -------
    sklearn.cluster.KMeans
    """
    # Many small sweeps: threads would wait for each other longer than they work.
    with threadpool_limits(1, user_api="openmp"):
        return KMeans(n_clusters=2, n_init=n_init, random_state=random_state).fit(rows)


def nearer_to_second(rows: FloatArray, centers: FloatArray) -> NDArray[np.bool_]:
    """Tell which rows are nearer to the second of two centers; a tie goes to the first.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    centers : array of shape (2, n_features)

    Returns
    -------
    boolean array of shape (n_rows,)
    """
    axis = centers[1] - centers[0]
    return np.asarray(rows @ axis > centers.mean(axis=0) @ axis)


class MetricBaseline(Baseline):
    """A baseline that learns a metric ``A = L L'`` and then runs two-means on ``x L``.

    Only the unlabeled rows are clustered (of one table, all rows): members of fresh pairs
    over-represent the majority class. A subclass gives `_learn_metric`.

    Attributes
    ----------
    components_ : array of shape (n_features, rank)
        ``L``, for standardized rows.
    cluster_centers_ : array of shape (2, rank)
        Centers of ``x L``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_init: int
    random_state: Any

    @abstractmethod
    def _learn_metric(self, sample: Sample) -> tuple[FloatArray, Outcome]:
        """Return ``L`` with its outcome."""

    def _fit(self, sample: Sample) -> Outcome:
        self.components_, outcome = self._learn_metric(sample)
        clustering = two_means(
            sample.unlabeled @ self.components_,
            n_init=self.n_init,
            random_state=self.random_state,
        )
        self.cluster_centers_: FloatArray = clustering.cluster_centers_
        return outcome

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        return nearer_to_second(rows @ self.components_, self.cluster_centers_)


class KMeansBaseline(Baseline):
    """K-means with two clusters on the unlabeled rows: the paper's KM.

    Of one table, all rows are clustered. Statements about rows, similar or dissimilar, are not
    used: `n_ignored_` is their number. Features are standardized first, with the mean and deviation
    of all training rows.

    Parameters
    ----------
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    cluster_centers_ : array of shape (2, n_features)
        Centers of the standardized rows.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `likewise.baselines.base.Baseline`; `objective_` is the sum of squared distances.
    mean_, scale_, n_features_in_, feature_names_in_
        As there.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import KMeansBaseline
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> baseline = KMeansBaseline(random_state=0).fit(*sample.pack())
    >>> accuracy = baseline.score(sample.X_test, sample.y_test)
    >>> max(accuracy, 1 - accuracy) > 0.7  # clusters near one half may be named the wrong way round
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _learns_from = "no pairs"

    def __init__(self, *, n_init: int = 10, random_state: Any = None) -> None:
        self.n_init = n_init
        self.random_state = random_state

    def _fit(self, sample: Sample) -> Outcome:
        clustering = two_means(sample.unlabeled, n_init=self.n_init, random_state=self.random_state)
        self.cluster_centers_: FloatArray = clustering.cluster_centers_
        return Outcome(
            float(clustering.inertia_),
            int(clustering.n_iter_),
            bool(clustering.n_iter_ < clustering.max_iter),
        )

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        return nearer_to_second(rows, self.cluster_centers_)
