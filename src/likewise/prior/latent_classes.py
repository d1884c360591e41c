"""Two hidden classes behind a table of pairs and a row of counts.

A score of every row is sorted into K bins. Given its class, a row falls into bin i with
probability ``positive[i]`` or ``negative[i]``, and the members of a similar pair fall
independently. So with ``p = prior^2 / (prior^2 + (1 - prior)^2)``

    P(pair in bins (i, j)) = p positive[i] positive[j] + (1 - p) negative[i] negative[j]
    P(row in bin i)        = prior positive[i] + (1 - prior) negative[i]

which is likelihood enough to find the prior, whatever the score is worth: the moments of every
function of the binned score are used. Of all bin probabilities that explain the counts, those are
preferred whose log-ratio of the two classes is nearly linear in the score, as it is for any linear
score of two Gaussians; with many rows the preference does not matter. Nothing here knows of rows or
of how scores are learned.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri, softmax

from likewise._types import FloatArray

_PSEUDO_COUNT = 0.5
"""Rows added to every bin of either class, so that no probability is zero."""
_STRAIGHTNESS = 0.3
"""Precision of the log-ratio's second derivative around zero, per unit of a normal score. It may
well bend by two: a stronger preference would take the bend of other distributions than normal ones
for another share of the classes."""


@dataclass(frozen=True)
class Counts:
    """How often bins of a ranked score were hit.

    Attributes
    ----------
    pairs : array of shape (n_bins, n_bins)
        Symmetric: a pair counts one half at (i, j) and one half at (j, i).
    rows : array of shape (n_bins,)
    edges : array of shape (n_bins - 1,)
        Ranks among unlabeled rows at which one bin ends and the next begins.
    """

    pairs: FloatArray
    rows: FloatArray
    edges: FloatArray

    @classmethod
    def of_ranks(
        cls,
        left: FloatArray,
        right: FloatArray,
        rows: FloatArray,
        edges: FloatArray,
        weights: tuple[FloatArray, FloatArray] | None = None,
    ) -> "Counts":
        """Count the bins of left members, right members and unlabeled rows, given as ranks.

        Pairs and rows may have weights.
        """
        n_bins = edges.size + 1
        bins = [np.searchsorted(edges, ranks) for ranks in (left, right, rows)]
        of_pairs, of_rows = weights or (None, None)
        return cls.of_tables(
            count_pairs(bins[0], bins[1], n_bins, of_pairs),
            count_rows(bins[2], n_bins, of_rows),
            edges,
        )

    @classmethod
    def of_tables(cls, pairs: FloatArray, rows: FloatArray, edges: FloatArray) -> "Counts":
        """Make the table of pairs symmetric: which member is left means nothing."""
        return cls((pairs + pairs.T) / 2.0, rows, edges)

    def signal(self) -> float:
        """Return by how many standard errors the members of a pair vary together."""
        ends = np.concatenate([[0.0], self.edges, [1.0]])
        # The smaller class, in which pairs show most, has the low ranks: logarithms spread them.
        levels = np.log((ends[:-1] + ends[1:]) / 2.0 + 0.05)
        n_pairs = self.pairs.sum()
        shares = self.pairs / n_pairs
        levels = levels - shares.sum(axis=0) @ levels
        covariance = levels @ shares @ levels
        variance = levels**2 @ shares @ levels**2 - covariance**2
        return float(covariance * np.sqrt(n_pairs / variance)) if variance > 0 else 0.0


def count_pairs(
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    n_bins: int,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Count how often pairs of bins occur, shape (n_bins, n_bins)."""
    table = np.bincount(left * n_bins + right, weights, minlength=n_bins**2)
    return table.reshape(n_bins, n_bins).astype(np.float64)


def count_rows(
    bins: NDArray[np.intp], n_bins: int, weights: FloatArray | None = None
) -> FloatArray:
    """Count how often bins occur, shape (n_bins,)."""
    return np.bincount(bins, weights, minlength=n_bins).astype(np.float64)


def profile_log_likelihood(
    counts: Counts, priors: FloatArray, *, tol: float = 1e-4, max_iter: int = 200
) -> FloatArray:
    """Return the penalized log-likelihood of every prior at its best bin probabilities.

    Parameters
    ----------
    counts : Counts
        Bins in the order of the score, the majority class on the high side.
    priors : array of shape (n_priors,)
        In [0.5, 1).
    tol : float
        Stop when no log-likelihood rises by more than this in a step.
    max_iter : int

    Returns
    -------
    array of shape (n_priors,)
    """
    model = _Model(counts, priors)
    logits = model.start()
    value = model.log_likelihood(logits)
    damping = np.full(priors.size, 1e-3)
    for _ in range(max_iter):
        trial = logits + model.scoring_step(logits, damping)
        trial_value = model.log_likelihood(trial)
        better = trial_value >= value
        rise = np.where(better, trial_value - value, 0.0)
        logits = np.where(better[:, None], trial, logits)
        value = np.where(better, trial_value, value)
        damping = np.clip(np.where(better, damping / 5.0, damping * 10.0), 1e-9, 1e9)
        settled = rise <= np.maximum(tol, 1e-13 * np.abs(value))
        if np.all(settled & (better | (damping > 1.0))):
            break
    return value


class _Model:
    """The likelihood at many priors at once; logits have shape (n_priors, 2 * n_bins)."""

    def __init__(self, counts: Counts, priors: FloatArray) -> None:
        self._counts = counts
        self._n_bins = counts.rows.size
        self._prior = priors
        self._share = priors**2 / (priors**2 + (1.0 - priors) ** 2)
        bends = _second_differences(counts.edges)
        bends = np.concatenate([bends, -bends], axis=1)
        self._straightness = _STRAIGHTNESS * bends.T @ bends

    def start(self) -> FloatArray:
        """Start from bins whose share of the positive class rises with the score."""
        tilt = expit(np.linspace(-2.0, 2.0, self._n_bins))
        base = np.log(self._counts.rows + 1.0)
        logits = np.concatenate([base + np.log(tilt), base + np.log(1.0 - tilt)])
        return np.tile(logits, (self._prior.size, 1))

    def log_likelihood(self, logits: FloatArray) -> FloatArray:
        positive, negative = self._probabilities(logits)
        pairs, rows = self._cells(positive, negative)
        seen = np.einsum("ij,gij->g", self._counts.pairs, np.log(pairs))
        seen += np.log(rows) @ self._counts.rows
        smooth = np.log(positive).sum(axis=1) + np.log(negative).sum(axis=1)
        bent = np.einsum("gm,mn,gn->g", logits, self._straightness, logits)
        return np.asarray(seen + _PSEUDO_COUNT * smooth - 0.5 * bent)

    def scoring_step(self, logits: FloatArray, damping: FloatArray) -> FloatArray:
        """Return damped Fisher-scoring steps."""
        gradient, information = self._gradient_and_information(logits)
        n_logits = logits.shape[1]
        # Logits need a hold even without damping: probabilities ignore a shift of them.
        size = np.trace(information, axis1=1, axis2=2) / n_logits
        information += (size * (damping + 1e-10))[:, None, None] * np.eye(n_logits)
        return np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0])

    def _gradient_and_information(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        positive, negative = self._probabilities(logits)
        pairs, rows = self._cells(positive, negative)
        pair_slopes, row_slopes = self._slopes(positive, negative)
        k = self._n_bins
        gradient = np.einsum("gijm,gij->gm", pair_slopes, self._counts.pairs / pairs)
        gradient += np.einsum("gim,gi->gm", row_slopes, self._counts.rows / rows)
        gradient += _PSEUDO_COUNT * (1.0 - k * np.concatenate([positive, negative], axis=1))
        information = self._counts.pairs.sum() * np.einsum(
            "gijm,gijn->gmn", pair_slopes / pairs[..., None], pair_slopes, optimize=True
        )
        information += self._counts.rows.sum() * np.einsum(
            "gim,gin->gmn", row_slopes / rows[..., None], row_slopes
        )
        for block, probabilities in ((slice(0, k), positive), (slice(k, 2 * k), negative)):
            spread = probabilities[:, :, None] * (np.eye(k) - probabilities[:, None, :])
            information[:, block, block] += _PSEUDO_COUNT * k * spread
        return gradient - logits @ self._straightness, information + self._straightness

    def _probabilities(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        k = self._n_bins
        return (
            np.maximum(softmax(logits[:, :k], axis=1), 1e-300),
            np.maximum(softmax(logits[:, k:], axis=1), 1e-300),
        )

    def _cells(self, positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
        share, prior = self._share[:, None, None], self._prior[:, None]
        pairs = share * positive[:, :, None] * positive[:, None, :]
        pairs = pairs + (1.0 - share) * negative[:, :, None] * negative[:, None, :]
        return pairs, prior * positive + (1.0 - prior) * negative

    def _slopes(self, positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of both kinds of cells in all logits (last axis)."""
        pair_slopes, row_slopes = [], []
        eye = np.eye(self._n_bins)
        for probabilities, share, prior in (
            (positive, self._share, self._prior),
            (negative, 1.0 - self._share, 1.0 - self._prior),
        ):
            both = share[:, None, None] * probabilities[:, :, None] * probabilities[:, None, :]
            hits = eye[None, :, None, :] + eye[None, None, :, :]
            pair_slopes.append(both[..., None] * (hits - 2.0 * probabilities[:, None, None, :]))
            one = prior[:, None] * probabilities
            row_slopes.append(one[..., None] * (eye[None] - probabilities[:, None, :]))
        return np.concatenate(pair_slopes, axis=-1), np.concatenate(row_slopes, axis=-1)


def _second_differences(edges: FloatArray) -> FloatArray:
    """Return the second derivative in the bins' normal scores as a matrix, (n_bins - 2, n_bins)."""
    ends = np.concatenate([[0.0], edges, [1.0]])
    scores = ndtri((ends[:-1] + ends[1:]) / 2.0)
    before, after = scores[1:-1] - scores[:-2], scores[2:] - scores[1:-1]
    matrix = np.zeros((scores.size - 2, scores.size))
    inner = np.arange(scores.size - 2)
    matrix[inner, inner] = 2.0 / (before * (before + after))
    matrix[inner, inner + 1] = -2.0 / (before * after)
    matrix[inner, inner + 2] = 2.0 / (after * (before + after))
    return matrix
