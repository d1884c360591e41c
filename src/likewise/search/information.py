"""How much the pairs tell: nats per pair, with a standard error and a permutation test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, expand, log_probabilities, share_covariance

__all__ = ["PairInformation", "exchange_within", "pair_information"]


@dataclass(frozen=True)
class PairInformation:
    """Information that a pair carries about the classes, by cross-fitted scores.

    Attributes
    ----------
    value : float
        Nats per pair; similar pairs of two classes carry at most log 2 (0.69).
    standard_error : float
    left, right : arrays of shape (n_pairs, n_classes)
        Log-probabilities of the classes of the members.
    is_similar : boolean array of shape (n_pairs,)
    folds : integer array of shape (n_pairs,)
        Which model scored the pair.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(6000, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 300, 300, prior=0.7, random_state=0)
    >>> clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
    >>> clf.pair_information_.value > 0.1
    True
    >>> clf.pair_information_.p_value(99, random_state=0)
    0.01
    """

    value: float
    standard_error: float
    left: FloatArray
    right: FloatArray
    is_similar: NDArray[np.bool_]
    folds: NDArray[np.intp]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.3f} nats per pair (standard error {self.standard_error:.3f})"

    def p_value(self, n_permutations: int = 999, random_state: object = None) -> float:
        """Return how often pairs put together at random do at least as well.

        The scores are taken as given: what was chosen by looking at the same pairs (features,
        penalty, start) makes the value too small, the more so the fewer the pairs.

        Partners change within folds and kinds of pairs only, so that every permuted pair was
        scored by one model.

        Parameters
        ----------
        n_permutations : int, default 999
        random_state : int, RandomState instance or None

        Returns
        -------
        float
            At least ``1 / (n_permutations + 1)``.
        """
        random = check_random_state(random_state)
        groups = 2 * self.folds + self.is_similar
        observed = self._total(np.arange(groups.size))
        hits = 0
        for _ in range(n_permutations):
            hits += self._total(exchange_within(groups, random)) >= observed
        return (1 + hits) / (1 + n_permutations)

    def _total(self, partners: NDArray[np.intp]) -> float:
        agreement = np.exp(self.left + self.right[partners]).sum(axis=1)
        chances = np.where(self.is_similar, agreement, 1.0 - agreement)
        return float(np.log(np.maximum(chances, 1e-300)).sum())


def exchange_within(
    groups: NDArray[np.intp], random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Return positions in random order, each in the place of one of its own group."""
    order = np.arange(groups.size)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        order[members] = random_state.permutation(members)
    return order


def pair_information(
    scores: FloatArray,
    counts: Counts,
    folds: NDArray[np.intp],
    pair_shares: FloatArray | None = None,
) -> PairInformation:
    """Measure the information in pairs by calibrated, cross-fitted scores.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
        Rows in the order of `Counts`.
    counts : Counts
    folds : integer array of shape (n_rows,)
    pair_shares : array of shape (n_classes,), optional
        Shares of the classes among freely formed similar pairs.

    Returns
    -------
    PairInformation
    """
    log_p = log_probabilities(scores[:, 0] if scores.shape[1] == 1 else scores)
    found = expand(log_p, counts, pair_shares)
    q, square = found.shares, float(found.shares @ found.shares)
    rates = 1.0 / square if pair_shares is None else pair_shares / q**2
    similar = np.log(np.exp(log_p[counts.left] + log_p[counts.right]) @ (rates * np.ones(q.size)))
    agreement = np.exp(log_p[counts.dissimilar_left] + log_p[counts.dissimilar_right]).sum(axis=1)
    different = np.log(np.maximum(1.0 - agreement, 1e-300)) - np.log(max(1.0 - square, 1e-300))
    terms = np.concatenate([similar, different])
    slope = -2.0 * counts.similar * (q / square if pair_shares is None else pair_shares / q)
    if counts.dissimilar:
        slope = slope + 2.0 * counts.dissimilar * q / (1.0 - square)
    slope = slope / counts.pairs
    noise = float(slope @ share_covariance(log_p, counts, found, pair_shares) @ slope)
    n = max(counts.pairs, 2)
    return PairInformation(
        value=float(terms.mean()),
        standard_error=float(np.sqrt(terms.var() / (n - 1) + max(noise, 0.0))),
        left=np.concatenate([log_p[counts.left], log_p[counts.dissimilar_left]]),
        right=np.concatenate([log_p[counts.right], log_p[counts.dissimilar_right]]),
        is_similar=np.arange(counts.pairs) < counts.similar,
        folds=np.concatenate([folds[counts.left], folds[counts.dissimilar_left]]),
    )
