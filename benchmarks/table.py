"""What a benchmark returns: a table of comparisons, each with the limit it has to keep."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["Limit", "Plot", "Row", "Table", "number", "seconds"]


@dataclass(frozen=True)
class Limit:
    """The range that a number has to lie in, ends included."""

    lowest: float = -math.inf
    highest: float = math.inf

    def admits(self, value: float) -> bool:
        """Tell whether `value` lies in the range; what is not a number does not."""
        return self.lowest <= value <= self.highest

    def __str__(self) -> str:
        if math.isinf(self.lowest):
            return f"at most {number(self.highest)}"
        if math.isinf(self.highest):
            return f"at least {number(self.lowest)}"
        return f"{number(self.lowest)} to {number(self.highest)}"


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    what : str
        What is compared.
    ours, rival : str
        The two quantities, in words and units.
    value : float
        The number that they come to; what it means is said in the notes of the table.
    limit : Limit, optional
        None for a number that is there for scale only.
    """

    what: str
    ours: str
    rival: str
    value: float
    limit: Limit | None = None

    @property
    def verdict(self) -> str:
        """``"met"`` or ``"missed"``, or nothing where there is no limit."""
        if self.limit is None:
            return ""
        return "met" if self.limit.admits(self.value) else "missed"

    @property
    def cells(self) -> tuple[str, ...]:
        """What is printed, one text for each of the columns of a table."""
        limit = "" if self.limit is None else str(self.limit)
        return (self.what, self.ours, self.rival, number(self.value), limit, self.verdict)


@dataclass(frozen=True)
class Plot:
    """Times that are to be drawn.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    title, x_name : str
    curves : mapping of names to mappings
        From a size to seconds.
    """

    name: str
    title: str
    x_name: str
    curves: Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class Table:
    """The comparisons of one benchmark, with notes on how they were made, and pictures."""

    title: str
    value_name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings, one for each cell of a row."""
        return ("", "likewise", "against", self.value_name, "limit", "verdict")

    def without_limits(self) -> "Table":
        """Return the same numbers, not judged: limits are meant for full sizes."""
        return replace(self, rows=tuple(replace(row, limit=None) for row in self.rows))

    @property
    def misses(self) -> tuple[Row, ...]:
        """The rows that missed their limit."""
        return tuple(row for row in self.rows if row.verdict == "missed")


def number(value: float) -> str:
    """Write a number with three digits, or whole where it is large."""
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"


def seconds(value: float) -> str:
    """Write a time with its unit."""
    return f"{number(value)} s" if value >= 1 else f"{number(1000 * value)} ms"
