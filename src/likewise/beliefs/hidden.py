"""Answers about all rows of a table, by a model that sees the features of some.

A fold is held out by hiding the features of its rows, not the answers about them. What was said of
two other rows by way of a hidden one (a is like h, h is like b) stays: where answers hang together
like a tree, leaving out rows would else leave next to nothing to learn from.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, Likelihood
from likewise.beliefs.components import Components
from likewise.statements.statements import Statements

__all__ = ["HiddenFeatures", "implied_among", "names_by"]

IntArray = NDArray[np.intp]

_SMALLEST = 1e-3
"""Probability of a known row's class below which all count the same."""


class HiddenFeatures(Likelihood):
    """The likelihood of answers as a function of the class probabilities of the rows that are seen.

    Every class of a hidden row is as likely as any other. Where all answers are right, that is the
    likelihood of what they imply of the rows that are seen (`implied_among`), which is quicker.

    Parameters
    ----------
    whole : Likelihood
        Of answers about all rows.
    seen : boolean array of shape (n_all_rows,)
    """

    def __init__(self, whole: Likelihood, seen: NDArray[np.bool_]) -> None:
        self._whole, self._seen = whole, seen
        self.n_rows = int(np.count_nonzero(seen))
        self.n_classes = whole.n_classes
        self.statements = whole.statements.among(seen)

    @property
    def size(self) -> float:
        """Half the number of seen rows that something is known of."""
        return max(0.5 * float(np.count_nonzero(self._whole.statements.stated[self._seen])), 1.0)

    @property
    def hides_features(self) -> bool:
        """Whether statements about other rows than these are kept, without their features."""
        return True

    @property
    def is_named(self) -> bool:
        """Whether the classes of some rows are known."""
        return self._whole.is_named

    def unnamed(self) -> Likelihood:
        """Return the likelihood of the statements alone; see `Likelihood`."""
        return HiddenFeatures(self._whole.unnamed(), self._seen) if self.is_named else self

    def naming(self, log_p: FloatArray) -> IntArray:
        """Return which class each name belongs to; see `Likelihood`."""
        return self._whole.naming(self._of_all(log_p))

    def among(self, chosen: NDArray[np.bool_]) -> Likelihood:
        """Return the likelihood of some of the seen rows and the statements about them alone."""
        rows = np.zeros(self._seen.size, dtype=bool)
        rows[np.flatnonzero(self._seen)[chosen]] = True
        return self._whole.among(rows)

    def held(self, beliefs: Beliefs | None) -> "HiddenFeatures":
        """Return the likelihood with a learned error rate held as it is; see `Likelihood`."""
        return HiddenFeatures(self._whole.held(beliefs), self._seen)

    def evaluate(self, log_p: FloatArray, near: Beliefs | None = None) -> Beliefs:
        """Return what the answers imply; see `Likelihood`."""
        found = self._whole.evaluate(self._of_all(log_p), None if near is None else near.state)
        posteriors = found.posteriors[self._seen]
        return Beliefs(
            found.value,
            found.gradient[self._seen],
            posteriors,
            posteriors.mean(axis=0),
            np.broadcast_to(1.0 / self.n_rows, self.n_rows),
            error_rate=found.error_rate,
            wrong=found.wrong,
            converged=found.converged,
            state=found,
        )

    def _of_all(self, log_p: FloatArray) -> FloatArray:
        of_all = np.full((self._seen.size, self.n_classes), -np.log(self.n_classes))
        of_all[self._seen] = log_p
        return of_all


def names_by(known: IntArray, posteriors: FloatArray) -> IntArray:
    """Match the names of known rows with the classes of a model, one to one.

    Parameters
    ----------
    known : integer array of shape (n_rows,)
        Names of single rows; -1 where nothing is known.
    posteriors : array of shape (n_rows, n_classes)
        Class probabilities by the model, which knows no names.

    Returns
    -------
    integer array of shape (n_classes,)
        Which class each name belongs to; names that no row has get what is left.
    """
    rows, n_classes = np.flatnonzero(known >= 0), posteriors.shape[1]
    gains = np.zeros((n_classes, n_classes))
    # A row that the model is wrong about must not outweigh many others.
    np.add.at(gains, known[rows], np.log(np.maximum(posteriors[rows], _SMALLEST)))
    return np.asarray(linear_sum_assignment(gains, maximize=True)[1])


def implied_among(
    components: Components, known: IntArray | None, chosen: NDArray[np.bool_]
) -> tuple[Statements, IntArray | None]:
    """Return what answers without errors imply of some rows, which are numbered anew.

    Parameters
    ----------
    components : Components
        That the answers tie the rows together to.
    known : integer array of shape (n_rows,), or None
        Classes of single rows; -1 where nothing is known.
    chosen : boolean array of shape (n_rows,)

    Returns
    -------
    statements : Statements
        Of every component, all chosen rows beside the first; and of components that differ, their
        first rows.
    known : integer array of shape (n_chosen,), or None
    """
    of_row = components.of_row[chosen]
    flips = components.is_flipped
    is_other = np.zeros(of_row.size, dtype=bool) if flips is None else flips[chosen]
    first = np.full(components.count, -1, dtype=np.intp)
    first[of_row[::-1]] = np.arange(of_row.size)[::-1]
    others = np.flatnonzero(first[of_row] != np.arange(of_row.size))
    left, right = first[components.left], first[components.right]
    both = (left >= 0) & (right >= 0)
    pairs = np.concatenate(
        [np.column_stack([first[of_row[others]], others]), np.column_stack([left, right])[both]]
    )
    alike = is_other[others] == is_other[first[of_row[others]]]
    is_similar = np.append(alike, np.zeros(int(both.sum()), dtype=bool))
    order = np.argsort(~is_similar, kind="stable")
    statements = Statements(
        of_row.size,
        pairs[order].ravel(),
        2 * np.arange(order.size + 1),
        is_similar[order],
        np.arange(order.size),
    )
    return statements, None if known is None else _known_of(components, known)[chosen]


def _known_of(components: Components, known: IntArray) -> IntArray:
    """Return the classes of all rows whose component has a known one."""
    rows = np.flatnonzero(known >= 0)
    flips: Any = components.is_flipped
    turned = known if flips is None else np.where(flips, 1 - known, known)
    of_component = np.full(components.count, -1, dtype=np.intp)
    of_component[components.of_row[rows]] = turned[rows]
    found = of_component[components.of_row]
    return found if flips is None else np.where(flips & (found >= 0), 1 - found, found)
