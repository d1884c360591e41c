"""How much statements tell: nats per statement, with a standard error and a permutation test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood, log_probabilities
from likewise.search.learn import Learned, standard_error

__all__ = ["PairInformation", "exchange_within", "pair_information"]

_SMALLEST = 1e-300


@dataclass(frozen=True)
class PairInformation:
    """Information that a statement carries about the classes, by cross-fitted scores.

    Attributes
    ----------
    value : float
        Nats per statement; similar pairs of two classes carry at most log 2 (0.69). Of fresh pairs
        formed at random, by calibrated scores; else what held-out statements gave without.
    standard_error : float
    log_p : array of shape (n_rows, n_classes)
        Log-probabilities of the classes of the rows.
    left, right : integer arrays of shape (n_links,)
        Rows that statements join.
    is_similar : boolean array of shape (n_links,)
    folds : integer array of shape (n_rows,)
        Which model scored each row.

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
    log_p: FloatArray
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    is_similar: NDArray[np.bool_]
    folds: NDArray[np.intp]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.3f} nats per pair (standard error {self.standard_error:.3f})"

    def p_value(self, n_permutations: int = 999, *, random_state: object = None) -> float:
        """Return the p-value of a permutation test: scores exchanged between rows explain no less.

        The scores are taken as given: what was chosen by looking at the same statements (features,
        penalty, start) makes the value too small, the more so the fewer the statements.

        Rows that statements are about exchange their scores within folds, so that every permuted
        row was scored by the same model.

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
        stated = np.unique(np.concatenate([self.left, self.right]))
        places = np.arange(self.log_p.shape[0])
        observed = self._total(places)
        hits = 0
        for _ in range(n_permutations):
            places[stated] = stated[exchange_within(self.folds[stated], random)]
            hits += self._total(places) >= observed
        return (1 + hits) / (1 + n_permutations)

    def _total(self, places: NDArray[np.intp]) -> float:
        agreement = np.exp(self.log_p[places[self.left]] + self.log_p[places[self.right]])
        alike = agreement.sum(axis=1)
        likely = np.where(self.is_similar, alike, 1.0 - alike)
        return float(np.log(np.maximum(likely, _SMALLEST)).sum())


def exchange_within(
    groups: NDArray[np.intp], random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Return positions in random order, each in the place of one of its own group."""
    order = np.arange(groups.size)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        order[members] = random_state.permutation(members)
    return order


def pair_information(learned: Learned, scores: FloatArray) -> PairInformation:
    """Keep the information in statements, with what a permutation test needs.

    Parameters
    ----------
    learned : Learned
    scores : array of shape (n_rows, m)
        Calibrated, cross-fitted scores.

    Returns
    -------
    PairInformation
    """
    links, log_p = learned.likelihood.links, log_probabilities(scores)
    value, error = learned.information, standard_error(learned.candidate)
    if _can_be_read_off(learned.likelihood):
        value, error = _of_fresh_pairs(np.exp(log_p), learned.likelihood)
    return PairInformation(
        value=value,
        standard_error=error,
        log_p=log_p,
        left=links.left,
        right=links.right,
        is_similar=links.is_similar,
        folds=learned.folds,
    )


def _can_be_read_off(likelihood: Likelihood) -> bool:
    """Tell whether every statement has a probability of its own, given shares of the classes."""
    statements = likelihood.statements
    is_random = statements.is_fresh and not likelihood.has_free_shares
    return bool(is_random and statements.weights is None and likelihood.links.left.size)


def _of_fresh_pairs(eta: FloatArray, likelihood: Likelihood) -> tuple[float, float]:
    """Return how much better probabilities explain fresh pairs than their means do.

    The standard error is that of a mean over pairs, less one that depends on the mean of rows.
    """
    links = likelihood.links
    alike = np.sum(eta[links.left] * eta[links.right], axis=1)
    rows = eta[likelihood.population]
    shares = rows.mean(axis=0)
    by_chance = float(shares @ shares)
    of_pairs = np.where(
        links.is_similar,
        np.log(np.maximum(alike, _SMALLEST)) - np.log(by_chance),
        np.log(np.maximum(1.0 - alike, _SMALLEST)) - np.log(max(1.0 - by_chance, _SMALLEST)),
    )
    similar = float(links.is_similar.mean())
    slope = (1.0 - similar) / max(1.0 - by_chance, _SMALLEST) - similar / by_chance
    of_rows = 2.0 * slope * (rows @ shares)
    variance = of_pairs.var() / of_pairs.size + of_rows.var() / of_rows.size
    return float(of_pairs.mean()), float(np.sqrt(variance))
