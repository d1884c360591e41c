"""Which pair of rows to ask about, given what is known of every row.

One answer about a row whose class is open, against a row whose class is sure, settles it (of two
classes; of more, the likeliest class is asked first). So questions put an uncertain row beside a
sure one. They are drawn, not ranked: the most uncertain rows lie together, and answers about one of
them say what the others are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.asking.groups import Groups

__all__ = ["RELATIONS", "Answer", "Chooser", "Question", "Relation", "read_answers"]

Relation = Literal["same", "different", "unsure"]
RELATIONS: tuple[Relation, ...] = ("same", "different", "unsure")

_SHARPNESS = 6
"""Rows are drawn in proportion to this power of the probability that their likeliest class is
wrong. Of powers 1, 3 and 6 it was best on average after 200 answers (magic, spambase, phoneme,
waveform): the most uncertain rows, but not always the same corner of the table."""
_SURE = 0.95
"""Probability of its likeliest class at which others are asked about beside a row."""
_MOST_PARTNERS = 3
"""Rows of a class that others are asked about beside: of the sure ones those that most was said of.
People get to know them, and where some answers are wrong, their class is known best: else a wrong
answer about a partner would turn all answers beside it."""
_CHECKS = 0.25
"""Share of questions about partners of different classes, until all of these are checked: chains of
answers tie everything to the partners, and a wrong one between two of them would turn the half of
it. Then answers fit two classes as well as one class that most rows are in."""
_MOST_BESIDE = 20
"""Rows of a group that stands for a class, of more than two, that others are asked about beside."""
_TRIES = 50
"""Draws until one is a pair that was not asked about."""

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Question:
    """A pair of rows to ask about.

    Attributes
    ----------
    left, right
        Row numbers, or labels of a data frame's index.
    reason : {"random", "uncertain", "check", "start"}
        How it was chosen: "random": `left` is the next row of a random order of all rows;
        "uncertain": since its class is open; "check": since other rows are compared with these two;
        "start": before anything was known.

    Examples
    --------
    >>> import likewise as lw
    >>> asker = lw.Asker([[0.0], [1.0], [5.0], [6.0]], random_state=0)
    >>> asker.next().reason
    'start'
    """

    left: Any
    right: Any
    reason: str


@dataclass(frozen=True)
class Answer:
    """What somebody said about a pair of rows.

    Attributes
    ----------
    left, right
        As in `Question`.
    relation : {"same", "different", "unsure"}
    reason : str
        How the question was chosen.
    person : str
        Who said so.

    Examples
    --------
    >>> from likewise.asking import Answer
    >>> Answer(3, 17, "same").relation
    'same'
    """

    left: Any
    right: Any
    relation: Relation
    reason: str = ""
    person: str = ""


class Chooser:
    """Draws pairs of row numbers.

    Parameters
    ----------
    n_rows : int
    random_share : float
        Share of questions about rows that are drawn at random.
    random_state : RandomState
    """

    def __init__(
        self, n_rows: int, random_share: float, random_state: np.random.RandomState
    ) -> None:
        self._n_rows = n_rows
        self._random_share = random_share
        self._random = random_state
        self._open = np.ones(n_rows, dtype=bool)
        self._in_order = rows_in_order(n_rows)
        self._next = 0
        self._cumulated: FloatArray | None = None
        self._partners: list[IntArray] = []
        self._order: IntArray | None = None
        self._groups: Groups | None = None
        self._posteriors = np.zeros((n_rows, 0))
        self._begun: IntArray = np.zeros(0, dtype=np.intp)

    def look(self, posteriors: FloatArray, counts: IntArray, groups: Groups | None) -> None:
        """Take in what is known of every row.

        Parameters
        ----------
        posteriors : array of shape (n_rows, n_classes)
        counts : integer array of shape (n_rows,)
            Answers about every row, less those that were "unsure": where these are more, the row
            is hard to tell and no partner of others.
        groups : Groups or None
            Of these, where there are more than two classes.
        """
        self._groups, self._posteriors = groups, posteriors
        self._begun = np.zeros(0, np.intp) if groups is None else groups.begun()
        highest = posteriors.max(axis=1)
        self._cumulated = np.cumsum((1.0 - highest) ** _SHARPNESS)
        known = np.flatnonzero((counts > 0) & (highest > _SURE))
        known = known[np.lexsort((-highest[known], -counts[known]))]
        classes = posteriors[known].argmax(axis=1)
        self._partners = [known[classes == k] for k in range(posteriors.shape[1])]
        self._order = np.argsort(-posteriors, axis=1, kind="stable")

    def mark(self, *rows: int) -> None:
        """Note that something was asked about rows."""
        self._open[list(rows)] = False

    def draw(
        self, is_new: Callable[[int, int], bool], members: IntArray
    ) -> tuple[int, int, str] | None:
        """Return two rows and why, or None if nothing is left.

        Parameters
        ----------
        is_new : callable
            Tells whether two rows were not yet asked about.
        members : integer array
            Rows that were asked about, in order.
        """
        if not members.size:
            return int(self._in_order[-1]), int(self._in_order[-2]), "start"
        if self._random.random_sample() < _CHECKS:
            found = self._between_partners(is_new)
            if found is not None:
                return found
        is_random = self._random.random_sample() < self._random_share
        for number in range(_TRIES):
            found = self._at_random(members) if is_random else self._uncertain(members, number)
            if found is not None and is_new(found[0], found[1]):
                return found
            is_random = is_random or found is None or number > _TRIES // 2
        return self._anything(is_new)

    def random_rows(self) -> IntArray:
        """Return a random sample of all rows, whatever else was asked about.

        It is what comes first in the random order, up to the first row that was not asked about.
        """
        while self._next < self._n_rows and not self._open[self._in_order[self._next]]:
            self._next += 1
        return self._in_order[: self._next]

    def _between_partners(self, is_new: Callable[[int, int], bool]) -> tuple[int, int, str] | None:
        """Return partners of two classes that were not yet asked about beside each other."""
        if self._groups is not None:  # of more classes, whole groups are beside each other
            return None
        for one, other in combinations(self._partners, 2):
            for left, right in product(one[:_MOST_PARTNERS], other[:_MOST_PARTNERS]):
                if is_new(int(left), int(right)):
                    return int(left), int(right), "check"
        return None

    def _at_random(self, members: IntArray) -> tuple[int, int, str] | None:
        if self.random_rows().size == self._n_rows:
            return None
        left, reason = int(self._in_order[self._next]), "random"
        if self._cumulated is None:
            left, reason = int(self._in_order[self._open[self._in_order]][-1]), "start"
        return left, self._partner(left, members, 0), reason

    def _uncertain(self, members: IntArray, tried: int) -> tuple[int, int, str] | None:
        """Return an open row beside a sure one: one of more, the more draws were in vain."""
        if self._cumulated is None:
            return self._at_random(members)
        if self._begun.size:  # first go on with a row that is half settled
            left = int(self._begun[0])
            beside = [] if self._groups is None else self._groups.beside(left, self._posteriors)
            self._begun = self._begun[1:]
            if beside:
                return left, int(self._random.choice(beside[0][:_MOST_BESIDE])), "uncertain"
        point = self._random.random_sample() * self._cumulated[-1]
        left = min(int(np.searchsorted(self._cumulated, point)), self._n_rows - 1)
        for rank in range(max(len(self._partners) - 1, 1)):
            right = self._partner(left, members, rank, _MOST_PARTNERS + tried)
            if right != left:
                return left, right, "uncertain"
        return None

    def _partner(self, left: int, members: IntArray, rank: int, most: int = _MOST_PARTNERS) -> int:
        """Return a sure row of a class that is likely for another row, or any asked about."""
        sure: IntArray = np.zeros(0, dtype=np.intp)
        if self._groups is not None:
            beside = self._groups.beside(left, self._posteriors)
            return int(self._random.choice(beside[0][:_MOST_BESIDE] if beside else members))
        if self._order is not None and self._partners:
            sure = self._partners[int(self._order[left, rank])][:most]
        if not sure.size:
            sure = np.concatenate([np.zeros(0, np.intp), *self._partners])
        return int(self._random.choice(sure if sure.size else members))

    def _anything(self, is_new: Callable[[int, int], bool]) -> tuple[int, int, str] | None:
        """Return the first pair of rows that was not asked about, from a random row on."""
        start = int(self._random.randint(self._n_rows))
        for step in range(self._n_rows):
            left = (start + step) % self._n_rows
            for right in range(self._n_rows):
                if left != right and is_new(left, right):
                    return left, right, "random"
        return None


def rows_in_order(n_rows: int) -> IntArray:
    """Return all rows in the random order in which they are asked about.

    It depends on nothing but their number, so that all who ask about one table go by the same.

    Parameters
    ----------
    n_rows : int
    """
    return np.random.RandomState(n_rows).permutation(n_rows)


def read_answers(answers: Any) -> list[Answer]:
    """Read answers in any of their forms.

    Parameters
    ----------
    answers : iterable of Answer or of tuples, data frame, or None
    """
    if answers is None:
        return []
    if hasattr(answers, "columns"):
        names = [name for name in Answer.__dataclass_fields__ if name in list(answers.columns)]
        columns = [answers[name].to_list() for name in names]
        rows = zip(*columns, strict=True)
        return [Answer(**dict(zip(names, row, strict=True))) for row in rows]
    return [one if isinstance(one, Answer) else Answer(*one) for one in answers]
