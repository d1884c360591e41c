"""Answers in force, kept up to date line by line: by pair, and by person."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from likewise.io.answers import UNDONE, Line, pair_of, relation_of

__all__ = ["Ledger", "PersonRecord", "person_records"]

Pair = tuple[str, str]


class Ledger:
    """What is said by now, from all lines of a store.

    Attributes
    ----------
    last : int
        Number of the last line that was taken in.
    """

    def __init__(self) -> None:
        self.last = 0
        self._lines: dict[int, Line] = {}
        self._by_pair: dict[Pair, dict[int, Line]] = {}

    def __len__(self) -> int:
        """Return the number of answers in force."""
        return len(self._lines)

    def take(self, line: Line) -> Pair:
        """Take in a line and return its pair; one that is known already changes nothing."""
        pair = pair_of(line.left, line.right)
        if line.line <= self.last:
            return pair
        self.last = line.line
        about = self._by_pair.setdefault(pair, {})
        if line.replaces is not None:
            about.pop(line.replaces, None)
            self._lines.pop(line.replaces, None)
        if line.relation != UNDONE:
            about[line.line] = self._lines[line.line] = line
        return pair

    def about(self, pair: Pair) -> list[Line]:
        """Return the answers in force about a pair, one per person, in order."""
        return list(self._by_pair.get(pair, {}).values())

    def relation(self, pair: Pair) -> str | None:
        """Return what most people say about a pair; None if nobody said anything."""
        said = self.about(pair)
        return relation_of(line.relation for line in said) if said else None

    def lines(self) -> list[Line]:
        """Return all answers in force, in order."""
        return list(self._lines.values())

    def pairs(self) -> Iterable[Pair]:
        """Return the pairs that something is said about, in order of the first answers."""
        return [pair for pair, about in self._by_pair.items() if about]


@dataclass(frozen=True)
class PersonRecord:
    """How somebody answered.

    Attributes
    ----------
    person : str
    answers : int
        In force, "unsure" among them.
    unsure : int
    shared : int
        Pairs that somebody else said "same" or "different" of too.
    agreement : float or None
        Share of these on which they say the same; None without any.
    contradicted : float or None
        Share of "same" and "different" that contradict the classes found from all answers: an
        estimate of the error rate. None while there are none.
    """

    person: str
    answers: int
    unsure: int
    shared: int
    agreement: float | None
    contradicted: float | None


def person_records(ledger: Ledger, class_of: dict[str, Any] | None) -> list[PersonRecord]:
    """Say of every person how they answered, by name.

    Parameters
    ----------
    ledger : Ledger
    class_of : dict, optional
        Classes found of rows, by id.
    """
    by_person: dict[str, list[Line]] = {}
    for line in ledger.lines():
        by_person.setdefault(line.person, []).append(line)
    return [_record(person, by_person[person], ledger, class_of) for person in sorted(by_person)]


def _record(
    person: str, lines: list[Line], ledger: Ledger, class_of: dict[str, Any] | None
) -> PersonRecord:
    decided = [line for line in lines if line.relation != "unsure"]
    agreed = [
        line.relation == other.relation
        for line in decided
        for other in ledger.about(pair_of(line.left, line.right))
        if other.person != person and other.relation != "unsure"
    ]
    wrong = None
    if class_of is not None:
        wrong = [
            (class_of[line.left] == class_of[line.right]) != (line.relation == "same")
            for line in decided
        ]
    return PersonRecord(
        person, len(lines), len(lines) - len(decided), len(agreed), _share(agreed), _share(wrong)
    )


def _share(found: list[bool] | None) -> float | None:
    return sum(found) / len(found) if found else None
