"""What was tried and what was chosen, as a table."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Selection", "Tried"]

_COLUMNS = ("features", "alpha", "information", "standard_error", "weight", "chosen")


@dataclass(frozen=True)
class Tried:
    """One line of the selection.

    Attributes
    ----------
    features : str
    alpha : float or None
        The penalty; None for a sum over other lines, each with its own.
    information : float
        Held-out log-likelihood in nats per pair.
    standard_error : float
    weight : float
        Part of these scores in the chosen ones: one for the line that is chosen, and where that
        is a sum, its weights for the lines it is over.
    chosen : bool

    Examples
    --------
    >>> import likewise as lw
    >>> lw.Tried("linear", 0.1, 0.25, 0.02, 1.0, True).features
    'linear'
    """

    features: str
    alpha: float | None
    information: float
    standard_error: float
    weight: float
    chosen: bool


@dataclass(frozen=True)
class Selection:
    """All that was tried, in order; prints as a table.

    Examples
    --------
    >>> import likewise as lw
    >>> print(lw.Selection((lw.Tried("linear", 0.1, 0.25, 0.02, 1.0, True),)))
    features     alpha   held-out nats     s.e.   weight
    linear         0.1          0.2500   0.0200     1.00  <- chosen
    """

    rows: tuple[Tried, ...]

    def __str__(self) -> str:
        width = max(len("features"), *(len(row.features) for row in self.rows))
        head = f"{'features':<{width}}{'alpha':>10}{'held-out nats':>16}{'s.e.':>9}{'weight':>9}"
        return "\n".join([head, *(_line(row, width) for row in self.rows)])

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table."""
        return {name: [getattr(row, name) for row in self.rows] for name in _COLUMNS}


def _line(row: Tried, width: int) -> str:
    alpha = "" if row.alpha is None else f"{row.alpha:.2g}"
    weight = f"{row.weight:.2f}" if row.weight else ""
    mark = "  <- chosen" if row.chosen else ""
    numbers = f"{row.information:>16.4f}{row.standard_error:>9.4f}{weight:>9}"
    return f"{row.features:<{width}}{alpha:>10}{numbers}{mark}"
