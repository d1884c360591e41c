"""Entropy-regularized metric learning from pairs, then two-means on the unlabeled rows.

Follows Niu, Dai, Yamada and Sugiyama (2012), with the scale of the metric fixed: from similar
pairs alone their penalized form has the zero metric for its maximum.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from likewise._sklearn import Interval
from likewise.baselines.base import FloatArray, Outcome, Sample
from likewise.baselines.kmeans import MetricBaseline
from likewise.statements.statements import Links

__all__ = ["SERAPH", "PairPosterior", "SpectralMetric", "maximise", "project", "whitening"]

_THRESHOLD = 1.0
"""The distance at which two rows are as likely alike as not, the paper's eta."""
_KEPT_VARIANCE = 1e-6
"""Directions with less than this share of the largest variance are left out."""
_BLOCK_ROWS = 128
"""Rows whose pairs are looked at together: what they need stays in the processor's cache."""
_FIRST_STEP = 0.1
_LARGEST_GROWTH = 1e3
"""Of a step over the one before; a curvature lost in rounding would ask for any length."""
_SUFFICIENT_GAIN = 1e-4
_MAX_HALVINGS = 40


class SpectralMetric(NamedTuple):
    """A positive semi-definite matrix and its root.

    Attributes
    ----------
    matrix : array of shape (n_features, n_features)
    root : array of shape (n_features, rank)
        ``matrix = root @ root.T``.
    """

    matrix: FloatArray
    root: FloatArray


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """How well a metric tells similar pairs from others, and how sure it is of all other pairs.

    With ``d`` the squared distance under the metric and ``p = sigmoid(1 - d)`` the probability that
    two rows are alike::

        L(A) = sum over similar pairs of ln p  +  sum over dissimilar pairs of ln(1 - p)
               -  mu * sum over all pairs that nothing was said about of entropy(p)

    Attributes
    ----------
    rows : array of shape (n_rows, n_features)
    links : Links
        Pairs that something was said about.
    is_new : boolean array of shape (n_links,)
        False for a pair that an earlier link was about too.
    mu : float
        Weight of the entropy.
    """

    rows: FloatArray
    links: Links
    is_new: NDArray[np.bool_]
    mu: float

    @classmethod
    def of(cls, rows: FloatArray, links: Links) -> Self:
        """Weigh the pairs that nothing was said about as much in all as those with a statement."""
        low, high = np.minimum(links.left, links.right), np.maximum(links.left, links.right)
        is_new = np.zeros(low.size, dtype=bool)
        is_new[np.unique(low * len(rows) + high, return_index=True)[1]] = True
        n_others = len(rows) * (len(rows) - 1) // 2 - int(is_new.sum())
        return cls(rows, links, is_new, low.size / max(n_others, 1))

    def value_and_gradient(self, root: FloatArray) -> tuple[float, FloatArray]:
        """Return L and its gradient with respect to ``A = root @ root.T``.

        Parameters
        ----------
        root : array of shape (n_features, rank)

        Returns
        -------
        value : float
        gradient : array of shape (n_features, n_features)
        """
        rows, (left, right, is_similar, _) = self.rows, self.links
        images = rows @ root
        entropies, gradient = self._sum_all_pairs(images)
        log_odds = _THRESHOLD - ((images[left] - images[right]) ** 2).sum(axis=1)
        negative_entropy, slope = (part * self.is_new for part in _certainty(log_odds))
        # ln sigmoid(z) = z - ln(1 + e^z), and its derivative is 1 - sigmoid(z) = 1 / (1 + e^z);
        # those of ln(1 - sigmoid(z)) are less by z and by 1.
        scale = 1.0 + np.exp(log_odds)
        logs = np.where(is_similar, log_odds, 0.0) - np.log(scale)
        value = np.sum(logs) + self.mu * (entropies - negative_entropy.sum())
        differences = rows[left] - rows[right]
        weights = 1.0 / scale - ~is_similar - self.mu * slope
        gradient = self.mu * gradient - (differences * weights[:, None]).T @ differences
        return float(value), gradient

    def _sum_all_pairs(self, images: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative entropy of all pairs of rows and its gradient, block by block."""
        rows, n_rows = self.rows, len(self.rows)
        norms = (images**2).sum(axis=1)
        total, degrees = 0.0, np.zeros(n_rows)
        crossed = np.zeros((rows.shape[1], rows.shape[1]))
        for start in range(0, n_rows, _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, n_rows)
            log_odds = images[start:stop] @ (2.0 * images[start:].T)
            log_odds += (_THRESHOLD - norms[start:stop])[:, None]
            log_odds -= norms[start:]
            np.minimum(log_odds, _THRESHOLD, out=log_odds)
            negative_entropy, slope = _certainty(log_odds)
            for part in (negative_entropy, slope):  # a pair is met once, with its earlier row
                part[:, : stop - start] = np.triu(part[:, : stop - start], 1)
            total += float(negative_entropy.sum())
            degrees[start:stop] -= slope.sum(axis=1)
            degrees[start:] -= slope.sum(axis=0)
            crossed += rows[start:stop].T @ (slope @ rows[start:])
        return total, (rows * degrees[:, None]).T @ rows + crossed + crossed.T


def _certainty(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``p ln p + (1 - p) ln(1 - p)`` for ``p = sigmoid(log_odds)``, and its derivative.

    Log odds are at most the threshold, so their exponential cannot overflow.
    """
    slope = np.exp(log_odds)
    scale = 1.0 + slope
    slope *= log_odds  # in place: these few lines are most of the work
    slope /= scale
    negative_entropy = slope - np.log(scale)
    slope /= scale
    return negative_entropy, slope


def whitening(rows: FloatArray) -> FloatArray:
    """Return the map after which rows have the identity for their covariance.

    Directions in which rows hardly vary are left out: a metric could otherwise put all its weight
    where no row can tell.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)

    Returns
    -------
    array of shape (n_features, rank)
    """
    centred = rows - rows.mean(axis=0)
    values, vectors = eigh(centred.T @ centred / len(rows))
    kept = values > _KEPT_VARIANCE * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def project(matrix: FloatArray, trace: float) -> SpectralMetric:
    """Return the nearest positive semi-definite matrix of a given trace.

    Parameters
    ----------
    matrix : array of shape (n_features, n_features)
        Symmetric.
    trace : float

    Returns
    -------
    SpectralMetric
    """
    values, vectors = eigh(matrix)
    values = _project_on_simplex(values, trace)
    kept = values > 0
    root = vectors[:, kept] * np.sqrt(values[kept])
    return SpectralMetric(root @ root.T, root)


def _project_on_simplex(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest non-negative values with a given sum; `values` must be increasing."""
    values = values - values[-1]  # changes nothing but the rounding, where values are large
    falling = values[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    # The shift leaves as many values positive as are above it, and is the last one to do so.
    shift = shifts[np.flatnonzero(falling > shifts)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))


def maximise(
    posterior: PairPosterior, trace: float, *, tol: float, max_iter: int
) -> tuple[SpectralMetric, Outcome]:
    """Find a metric of given trace that is a local maximum, from a multiple of the identity.

    Spectral projected gradient: steps of Barzilai and Borwein, halved until they gain enough.

    Parameters
    ----------
    posterior : PairPosterior
    trace : float
    tol : float
        Gain of a step, relative to the objective, at which to stop.
    max_iter : int

    Returns
    -------
    metric : SpectralMetric
    outcome : Outcome
    """
    n_features = posterior.rows.shape[1]
    point = _evaluate(posterior, np.zeros((n_features, n_features)), trace)
    slope = np.linalg.norm(point.gradient)
    step = _FIRST_STEP * float(np.linalg.norm(point.metric.matrix) / slope)
    n_iter, converged = 0, False
    while not converged and n_iter < max_iter:
        n_iter += 1
        before = point
        point, step = _ascend(posterior, before, step, trace)
        converged = point.value - before.value <= tol * abs(before.value)
        move = point.metric.matrix - before.metric.matrix
        bend = -float(np.sum(move * (point.gradient - before.gradient)))
        longest = _LARGEST_GROWTH * step
        step = min(float(np.sum(move * move)) / bend, longest) if bend > 0 else 2.0 * step
    return point.metric, Outcome(point.value, n_iter, converged)


class _Point(NamedTuple):
    metric: SpectralMetric
    value: float
    gradient: FloatArray


def _evaluate(posterior: PairPosterior, matrix: FloatArray, trace: float) -> _Point:
    metric = project(matrix, trace)
    return _Point(metric, *posterior.value_and_gradient(metric.root))


def _ascend(
    posterior: PairPosterior, point: _Point, step: float, trace: float
) -> tuple[_Point, float]:
    """Return a point that gains enough, with its step; where none does, the point itself."""
    for _ in range(_MAX_HALVINGS):
        new = _evaluate(posterior, point.metric.matrix + step * point.gradient, trace)
        expected = np.sum(point.gradient * (new.metric.matrix - point.metric.matrix))
        if new.value >= point.value + _SUFFICIENT_GAIN * expected:
            return new, step
        step /= 2.0
    return point, step


class SERAPH(MetricBaseline):
    r"""Entropy-regularized metric learning from pairs, then k-means on unlabeled rows.

    Learns a metric A that makes the statements probable and is certain about all other pairs of
    rows. It maximizes

    .. math::

        L(A) = \sum_{\text{similar}} \ln(p_{ij}) + \sum_{\text{dissimilar}} \ln(1 - p_{ij})
        - \frac{n_{\text{pairs}}}{n_{\text{others}}} \sum_{\text{others}} H(p_{ij})

    .. math:: p_{ij} = \sigma(1 - (x_i - x_j)^T A (x_i - x_j))

    with H the entropy, over positive semi-definite A of a fixed trace, in whitened coordinates. The
    authors penalize
    the trace instead; without dissimilar pairs that has its maximum at A = 0, where everything is
    similar, so here the scale is fixed and the shape is learned. The maximum is mostly of rank 1.
    Time and number of terms grow with the square of the number of rows. Of one table, all rows are
    clustered, each of them once; every statement is a pair, a group of g rows is g - 1 of them.

    Parameters
    ----------
    mean_distance : float, default 2.0
        Mean squared distance of two rows under the metric, which fixes its trace; at a distance of
        1, two rows are as likely alike as not.
    tol : float, default 1e-4
        Gain of a step, relative to the objective, at which to stop.
    max_iter : int, default 200
    n_init : int, default 10
        Number of k-means++ starts; the best is kept.
    random_state : int, RandomState or None, default None
        Draws the starts of k-means.

    Attributes
    ----------
    components_ : array of shape (n_features, rank)
        L with ``A = L L'`` for standardized rows.
    cluster_centers_ : array of shape (2, rank)
        Centers of ``x L``.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `likewise.baselines.base.Baseline`; `objective_` is ``L(A)``.
    mean_, scale_, n_features_in_, feature_names_in_
        As there.

    References
    ----------
    G. Niu, B. Dai, M. Yamada and M. Sugiyama. Information-theoretic semi-supervised metric learning
    via entropy regularization. ICML 2012.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import SERAPH
    >>> X, y = lw.datasets.make_waveform(9000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, n_test=1000, prior=0.7, random_state=0)
    >>> baseline = SERAPH(random_state=0).fit(*sample.pack())
    >>> baseline.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetricBaseline._parameter_constraints,
        "mean_distance": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _learns_from = "all pairs"

    def __init__(
        self,
        *,
        mean_distance: float = 2.0,
        tol: float = 1e-4,
        max_iter: int = 200,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.mean_distance = mean_distance
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _learn_metric(self, sample: Sample) -> tuple[FloatArray, Outcome]:
        white = whitening(sample.rows)
        posterior = PairPosterior.of(sample.rows @ white, sample.links)
        # White rows have unit variance: their mean squared distance is twice the trace.
        metric, outcome = maximise(
            posterior, self.mean_distance / 2.0, tol=self.tol, max_iter=self.max_iter
        )
        return white @ metric.root, outcome
