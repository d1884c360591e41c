"""What every kind of statement offers to a learner: one contract, written down once.

A likelihood turns class probabilities of rows into a value (how well they explain what was said),
posteriors (what is known of every row), shares of the classes and an error rate. It knows neither
features nor models. A new kind of statement is a new class with these methods.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.engines.rows import Positions
from likewise.statements.statements import Links, Statements

__all__ = ["Beliefs", "HeldOut", "Likelihood", "log_probabilities", "log_sum"]


@dataclass(frozen=True)
class Beliefs:
    """What statements imply, given class probabilities.

    Attributes
    ----------
    value : float
        Log-likelihood in nats.
    gradient : array of shape (n_rows, n_classes)
        Of the value, in the scores whose softmax the probabilities are.
    posteriors : array of shape (n_rows, n_classes)
        Class probabilities of every row given its features and all statements.
    shares : array of shape (n_classes,)
        Shares of the classes among rows.
    weights : array of shape (n_rows,)
        Weight of each row in the distribution of rows; they sum to one.
    pair_shares : array of shape (n_classes,), or None
        Shares of the classes among similar pairs, where these are free.
    error_rate : float
    wrong : array of shape (n_statements,)
        Probability that each statement is wrong.
    converged : bool
        Whether beliefs settled; if not, the value is not to be trusted.
    state : any
        Where a search at nearby probabilities may begin.
    """

    value: float
    gradient: FloatArray
    posteriors: FloatArray
    shares: FloatArray
    weights: FloatArray
    pair_shares: FloatArray | None = None
    error_rate: float = 0.0
    wrong: FloatArray = field(default_factory=lambda: np.zeros(0))
    converged: bool = True
    state: Any = None


@dataclass(frozen=True)
class HeldOut:
    """A fold of rows, seen from outside.

    Attributes
    ----------
    rows : boolean array of shape (n_rows,)
        Rows of the fold.
    train : boolean array of shape (n_rows,)
        Rows to learn from: neither in the fold nor, for fresh pairs, partners of such.
    likelihood : Likelihood
        Of the training rows and the statements about them alone.
    n_judged : float
        How many statements the evidence of this fold is of.
    """

    rows: NDArray[np.bool_]
    train: NDArray[np.bool_]
    likelihood: "Likelihood"
    n_judged: float


class Likelihood(ABC):
    """The likelihood of statements about rows, as a function of class probabilities.

    Attributes
    ----------
    n_rows, n_classes : int
    statements : Statements
    """

    n_rows: int
    n_classes: int
    statements: Statements

    @property
    @abstractmethod
    def size(self) -> float:
        """The effective number of pairs: what penalties are measured against."""

    @property
    def is_named(self) -> bool:
        """Whether classes have names, so that they cannot be exchanged: some rows are known."""
        return False

    @property
    def is_fresh_mixture(self) -> bool:
        """Whether statements are fresh pairs of both kinds."""
        return False

    @property
    @abstractmethod
    def has_free_shares(self) -> bool:
        """Whether the classes have shares of their own among similar pairs."""

    @abstractmethod
    def evaluate(self, log_p: FloatArray, near: Beliefs | None = None) -> Beliefs:
        """Return what the statements imply.

        Parameters
        ----------
        log_p : array of shape (n_rows, n_classes)
            Log-probabilities of the classes.
        near : Beliefs, optional
            Those of nearby probabilities: the search begins there.
        """

    @abstractmethod
    def among(self, chosen: NDArray[np.bool_]) -> "Likelihood":
        """Return the likelihood of some of the rows and of the statements about them alone."""

    @abstractmethod
    def paired(self, pairing: str) -> "Likelihood":
        """Return the likelihood of the same statements, had they come about another way."""

    @property
    @abstractmethod
    def population(self) -> Positions:
        """Rows that stand for all rows there could be."""

    @property
    @abstractmethod
    def links(self) -> Links:
        """The statements as couples of rows."""

    def ties(self) -> sp.csr_array:
        """Return how much rows say of each other's class, (n_rows, n_rows), symmetric.

        Similar statements together weigh one, dissimilar ones less one.
        """
        links = self.links
        same = links.is_similar
        weights = np.where(same, 0.5 / max(same.sum(), 1), -0.5 / max((~same).sum(), 1))
        both = (np.append(links.left, links.right), np.append(links.right, links.left))
        return sp.csr_array((np.tile(weights, 2), both), shape=(self.n_rows, self.n_rows))

    @abstractmethod
    def share_covariance(self, log_p: FloatArray, beliefs: Beliefs) -> FloatArray:
        """Return the covariance of the classes' shares, the probabilities taken as given.

        It is what is left to know of the shares once the probabilities are calibrated.
        """

    def share_of_population(self, mean: float, beliefs: Beliefs, k: int = 1) -> float:
        """Return the share of a class among all rows there could be.

        Parameters
        ----------
        mean : float
            Mean probability of the class over the population's rows.
        beliefs : Beliefs
        k : int
            The class.
        """
        return mean

    @abstractmethod
    def simulate(
        self, log_p: FloatArray, beliefs: Beliefs, draw: np.random.Generator
    ) -> tuple[NDArray[np.intp], "Likelihood"]:
        """Draw a sample in which pairs were formed at random.

        Returns
        -------
        rows : integer array
            Which rows it consists of.
        likelihood : Likelihood
            Of the statements about these.
        """

    def held(self, beliefs: Beliefs | None) -> "Likelihood":
        """Return the likelihood with learned numbers, such as an error rate, held as they are.

        Parameters
        ----------
        beliefs : Beliefs or None
            Where the numbers are taken from; None for those that learning starts from.
        """
        return self

    @abstractmethod
    def hold_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold, with the likelihood of what can be learned from without it."""

    @abstractmethod
    def evidence(self, fold: HeldOut, log_p: FloatArray, trained: Beliefs) -> float:
        """Return the log-probability of what was said about a fold, given all else, in nats.

        It is counted against the best model without features.

        Parameters
        ----------
        fold : HeldOut
        log_p : array of shape (n_rows, n_classes)
            Log-probabilities of all rows by a model that did not see the fold.
        trained : Beliefs
            What the training rows imply by the same model: shares of freely formed pairs and the
            error rate are taken from it.
        """


def log_sum(terms: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of exponentials along the last axis.

    Parameters
    ----------
    terms : array of shape (..., n_terms)
    """
    if not terms.size:
        return np.zeros(terms.shape[:-1])
    highest = terms.max(axis=-1)
    shifted = terms - highest[..., None]
    total = np.exp(shifted, out=shifted).sum(axis=-1)
    return np.asarray(np.log(total, out=total) + highest)


def log_probabilities(scores: FloatArray) -> FloatArray:
    """Return log-probabilities, (n_rows, n_classes), of scores.

    Parameters
    ----------
    scores : array of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
        Log-odds of the second of two classes, or one score per class (softmax).

    Returns
    -------
    array of shape (n_rows, n_classes)
    """
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim == 1:
        tail = np.log1p(np.exp(-np.abs(scores)))
        # Class by class in memory: sums over a few classes are then sums of long vectors.
        return np.stack([-np.maximum(scores, 0.0) - tail, np.minimum(scores, 0.0) - tail]).T
    scores = np.asfortranarray(scores)
    return np.asarray(scores - log_sum(scores)[:, None])
