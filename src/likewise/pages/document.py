"""What a report says, before it is a page: sections of sentences, tables and pictures.

Experiments build these; `likewise.pages.report` writes them. Nothing here knows of HTML, and
nothing draws: a picture is a function that draws when it is asked to.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cell", "Picture", "Section", "Table"]


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
        What is read in the cell.
    value : float, optional
        What the cell is sorted by; without it, its text.
    bold : bool
        Whether the cell stands out, as the best of its row does.
    note : str, optional
        A sentence about this cell, such as why a number is missing.
    paper : str, optional
        The number that the paper prints for it.

    Examples
    --------
    >>> from likewise.pages.document import Cell
    >>> Cell("67.8 (0.5)", value=67.8, bold=True, paper="67.2 (1.0)").value
    67.8
    """

    text: str
    value: float | None = None
    bold: bool = False
    note: str | None = None
    paper: str | None = None

    def __post_init__(self) -> None:
        if self.value is not None and math.isnan(self.value):
            raise ValueError(
                f"The cell {self.text!r} has the value NaN, which has no place in an order; "
                "give it None."
            )


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header; the first cell of a row says what the row is about.

    Attributes
    ----------
    caption : str
    header : tuple of str
    rows : tuple of tuples of Cell
        Each as long as the header.

    Examples
    --------
    >>> from likewise.pages.document import Cell, Table
    >>> table = Table("Accuracy", ("dataset", "ours"), ((Cell("banana"), Cell("0.81", 0.81)),))
    >>> len(table.rows)
    1
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if not self.header:
            raise ValueError(f"The table {self.caption!r} has no columns.")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"Row {number} of the table {self.caption!r} has {len(row)} cells, but its "
                    f"header has {len(self.header)}."
                )


@dataclass(frozen=True)
class Picture:
    """A picture yet to be drawn.

    Attributes
    ----------
    caption : str
        Read below the picture, and in its stead by who cannot see it.
    draw : function
        Takes nothing and returns a matplotlib Figure, its own rather than pyplot's: nobody closes
        it.
    """

    caption: str
    draw: "Callable[[], Figure]"


@dataclass(frozen=True)
class Section:
    """A titled part of a report: sentences first, then tables, then pictures.

    Attributes
    ----------
    title : str
    paragraphs : tuple of str
        Plain text.
    tables : tuple of Table
    pictures : tuple of Picture

    Examples
    --------
    >>> from likewise.pages.document import Section
    >>> Section("Class prior", ("How far off the estimates are.",)).tables
    ()
    """

    title: str
    paragraphs: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
