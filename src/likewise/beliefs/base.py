"""What every kind of statement offers to a learner: one contract, written down once.

A likelihood turns class probabilities of rows into a value (how well they explain what was said),
posteriors (what is known of every row), shares of the classes and an error rate. It knows neither
features nor models. A new kind of statement is a new class with this contract.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from likewise._types import FloatArray
from likewise.engines.rows import Positions
from likewise.statements.statements import Links, Statements

__all__ = ["Beliefs", "HeldOut", "Likelihood", "as_shares", "log_probabilities", "log_sum"]

_GAIN = 1e-3
"""Nats by which another round must raise the likelihood of constant probabilities."""
_MOST_ROUNDS = 10
"""Of such, nearly all are over after three."""
_RIPPLE = 1e-3
"""Deviation of the scores of a model without features."""


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

    A kind of statement must say what it implies (`evaluate`) and what is left of it for some of the
    rows (`among`). All else has a default that is right for statements about the rows of one table.

    Attributes
    ----------
    n_rows, n_classes : int
    statements : Statements
    """

    n_rows: int
    n_classes: int
    statements: Statements

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

    def slope(
        self, scores: FloatArray, near: Beliefs | None = None
    ) -> tuple[float, FloatArray, Beliefs | None]:
        """Return the value and its gradient in the scores: all that a climb needs.

        A kind of statement that has a short cut to these may take it.

        Parameters
        ----------
        scores : array of shape (n_rows, m)
            One column for two classes, one per class for more.
        near : Beliefs, optional
            Of nearby scores.

        Returns
        -------
        value : float
        gradient : array of shape (n_rows, m)
        beliefs : Beliefs or None
            For the next call; None after a short cut.
        """
        found = self.evaluate(log_probabilities(scores), near)
        gradient = found.gradient[:, 1:] if scores.shape[1] == 1 else found.gradient
        return found.value, gradient, found

    @abstractmethod
    def among(self, chosen: NDArray[np.bool_]) -> "Likelihood":
        """Return the likelihood of some of the rows and of the statements about them alone."""

    @property
    def size(self) -> float:
        """The effective number of pairs: half the rows that something is known of.

        Penalties are measured against it.
        """
        return max(0.5 * float(np.count_nonzero(self.statements.stated)), 1.0)

    @property
    def is_named(self) -> bool:
        """Whether classes have names, so that they cannot be exchanged: some rows are known."""
        return False

    def unnamed(self) -> "Likelihood":
        """Return the likelihood of the statements alone, without rows whose classes are known."""
        return self

    def naming(self, log_p: FloatArray) -> NDArray[np.intp]:
        """Return which class of a model each name belongs to, as known rows speak for it.

        Parameters
        ----------
        log_p : array of shape (n_rows, n_classes)
            Log-probabilities by a model whose classes stand in any order.

        Returns
        -------
        integer array of shape (n_classes,)
        """
        return np.arange(self.n_classes)

    @property
    def hides_features(self) -> bool:
        """Whether statements about other rows than these are kept, without their features."""
        return False

    @property
    def is_fresh_mixture(self) -> bool:
        """Whether statements are fresh pairs of both kinds."""
        return False

    @property
    def has_free_shares(self) -> bool:
        """Whether the classes have shares of their own among similar pairs."""
        return False

    @property
    def population(self) -> Positions:
        """Rows that stand for all rows there could be: all of them."""
        return slice(0, self.n_rows, 1)

    @property
    def population_weights(self) -> FloatArray | None:
        """Weights of these rows among all there could be, which sum to one; None if all are alike.

        Statements about the rows of a table are given its rows, whatever these weigh: weights
        change what is said of all rows there could be, not the likelihood.
        """
        weights = self.statements.weights
        return None if weights is None else weights / weights.sum()

    @property
    def links(self) -> Links:
        """The statements as couples of rows."""
        return self.statements.links

    def paired(self, pairing: str) -> "Likelihood":
        """Return the likelihood of the same statements, had they come about another way."""
        raise ValueError(f"{type(self).__name__} knows no pairing {pairing!r}.")

    def ties(self) -> sp.csr_array:
        """Return how much rows say of each other's class, (n_rows, n_rows), symmetric.

        Similar statements together weigh one, dissimilar ones less one.
        """
        links = self.links
        same = links.is_similar
        weights = np.where(same, 0.5 / max(same.sum(), 1), -0.5 / max((~same).sum(), 1))
        both = (np.append(links.left, links.right), np.append(links.right, links.left))
        return sp.csr_array((np.tile(weights, 2), both), shape=(self.n_rows, self.n_rows))

    def share_covariance(self, log_p: FloatArray, beliefs: Beliefs) -> FloatArray:
        """Return the covariance of the classes' shares, the probabilities taken as given.

        It is what is left to know of the shares once the probabilities are calibrated: rows are a
        sample.
        """
        weights = self.population_weights
        if weights is None:
            return np.atleast_2d(np.cov(np.exp(log_p), rowvar=False)) / self.n_rows
        eta = np.exp(log_p)
        deviations = weights[:, None] * (eta - weights @ eta)
        return np.asarray(deviations.T @ deviations)

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
        raise NotImplementedError(f"{type(self).__name__} cannot be simulated.")

    def held(self, beliefs: Beliefs | None) -> "Likelihood":
        """Return the likelihood with learned numbers, such as an error rate, held as they are.

        Parameters
        ----------
        beliefs : Beliefs or None
            Where the numbers are taken from; None for those that learning starts from.
        """
        return self

    def hold_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold, with the likelihood of what can be learned from without it."""
        return self.leave_out(rows)

    def leave_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold whose rows are left out together with all that was said about them.

        What the whole adds to the value of such a part is the log-probability of these statements,
        which can be compared between models of any number of classes.
        """
        links = self.links
        touched = rows[links.left] | rows[links.right]
        judged = np.unique(links.statement[touched]).size
        return HeldOut(rows, ~rows, self.among(~rows), float(judged))

    def evidence(self, fold: HeldOut, log_p: FloatArray, trained: Beliefs) -> float:
        """Return the log-probability of what was said about a fold, given all else, in nats.

        It is the value of all statements less that of the statements about the other rows alone,
        both by a model that did not see the fold. A model without features has such a difference
        too, which is taken off: constant probabilities that were found without the fold, or those
        with the shares of the model in question, whichever tell more. Else a model would be praised
        for shares that suit the fold by luck.

        Parameters
        ----------
        fold : HeldOut
        log_p : array of shape (n_rows, n_classes)
            Log-probabilities of all rows by a model that did not see the fold.
        trained : Beliefs
            What the training rows imply by the same model: shares of freely formed pairs and the
            error rate are taken from it.
        """
        same = _nearly_constant(log_sum(log_p.T) - np.log(self.n_rows), self.n_rows)
        baseline = max(self._gain_without_features(fold), self._gain(fold, same, trained))
        return self._gain(fold, log_p, trained) - baseline

    def _gain(self, fold: HeldOut, log_p: FloatArray, trained: Beliefs) -> float:
        whole = self.held(trained).evaluate(log_p)
        seen = fold.likelihood.held(trained).evaluate(log_p[fold.train])
        if not (whole.converged and seen.converged):
            return -np.inf  # beliefs that go to and fro are no evidence
        return whole.value - seen.value

    def _gain_without_features(self, fold: HeldOut) -> float:
        """Return what the best constant probabilities, found without the fold, tell of it."""
        key = fold.rows.tobytes()
        if key not in self._baselines:
            row, found = fold.likelihood.constant()
            gain = self._gain(fold, _nearly_constant(row, self.n_rows), found)
            if not np.isfinite(gain) and fold.likelihood.hides_features:
                gain = 0.0  # the answers are kept, and even odds add nothing to them
            elif not np.isfinite(gain):
                gain = self._independent(fold, np.exp(row), found.error_rate)
            self._baselines[key] = gain
        return self._baselines[key]

    @cached_property
    def _baselines(self) -> dict[bytes, float]:
        return {}

    def _independent(self, fold: HeldOut, shares: FloatArray, error_rate: float) -> float:
        """Return the log-probability of a fold's statements, were they independent."""
        links = self.links
        touched = fold.rows[links.left] | fold.rows[links.right]
        alike = float(shares @ shares)
        same = (1.0 - error_rate) * alike + error_rate * (1.0 - alike)
        n_same = int(np.count_nonzero(links.is_similar[touched]))
        n_apart = int(np.count_nonzero(touched)) - n_same
        return n_same * float(np.log(same)) + n_apart * float(np.log1p(-same))

    def constant(self) -> tuple[FloatArray, Beliefs]:
        """Return the best log-probabilities that are the same for all rows, and what they imply.

        What is learned beside them, such as an error rate, is held while they move, and settled in
        between: it would take many times as long at every step.
        """
        offsets, held = np.linspace(-0.5, -1.0, self.n_classes - 1), self.held(None)
        found, reached = None, -np.inf
        for _ in range(_MOST_ROUNDS):
            offsets = held._best_offsets(offsets)
            row = log_probabilities(np.append(0.0, offsets)[None])[0]
            found = self.evaluate(_nearly_constant(row, self.n_rows), found)
            if held is self or not found.value > reached + _GAIN:
                break
            held, reached = self.held(found), found.value
        assert found is not None  # noqa: S101 - there is one round at least
        return row, found

    def _best_offsets(self, start: FloatArray) -> FloatArray:
        """Return scores of all classes but the first, the same for all rows, that fit best."""
        k = self.n_classes
        near: list[Beliefs | None] = [None]

        def objective(offsets: FloatArray) -> tuple[float, FloatArray]:
            scores = np.append(0.0, offsets)
            found = near[0] = self.evaluate(_nearly_constant(scores, self.n_rows), near[0])
            # A weak prior, worth one row of every class, keeps probabilities off zero.
            eta = np.exp(log_probabilities(scores[None]))[0]
            value = found.value + float(np.log(eta).sum())
            gradient = found.gradient.sum(axis=0) + 1.0 - k * eta
            return -value / self.size, -gradient[1:] / self.size

        return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B").x)


def _nearly_constant(scores: FloatArray, n_rows: int) -> FloatArray:
    """Return log-probabilities that are the same for all rows but for a ripple.

    Without it, two classes of one size would be in balance: answers that may be wrong could then
    not decide which rows are of either, and would look as if most of them were wrong.
    """
    ripple = _RIPPLE * np.random.default_rng(0).standard_normal((n_rows, scores.size))
    return log_probabilities(scores + ripple)


def as_shares(values: FloatArray, smallest: float) -> FloatArray:
    """Return values as shares: none below a smallest one, together one along the last axis.

    Parameters
    ----------
    values : array of shape (..., n_classes)
    smallest : float
        Before shares are brought to one.
    """
    values = np.maximum(values, smallest)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


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
