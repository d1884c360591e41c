"""What every prior estimator returns."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from likewise._html import html_table

__all__ = ["PriorEstimate"]


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """The share of the majority class, or of every class, estimated without labels.

    Attributes
    ----------
    value : float, or array of shape (n_classes,)
        Share of the majority class, in [0.5, 1]; for more than two classes the shares of all, the
        largest first.
    interval : tuple of two floats, array of shape (n_classes, 2), or None
        Confidence interval, or one for each class; None where the method has none.
    level : float or None
        Confidence level of the interval.
    method : str
    diagnostics : dict
        What the method saw on its way; ``notes`` holds sentences to be read.

    Examples
    --------
    >>> from likewise.prior import PriorEstimate
    >>> print(PriorEstimate(0.71, (0.66, 0.75), 0.95, "pair_moments"))
    majority class 0.710 (95 % interval 0.660 to 0.750, pair_moments)
    """

    value: Any
    interval: Any
    level: float | None
    method: str
    diagnostics: dict[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        """Return the share of the majority class."""
        return float(np.max(self.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PriorEstimate):
            return NotImplemented
        return (
            np.array_equal(self.value, other.value)
            and np.array_equal(self.interval, other.interval)
            and (self.level, self.method) == (other.level, other.method)
            and self.diagnostics == other.diagnostics
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        names = "majority class" if np.ndim(self.value) == 0 else "classes"
        shares = ", ".join(f"{share:.3f}" for share in np.ravel(self.value))
        line = f"{names} {shares} ({self._interval_text()}, {self.method})"
        return "; ".join([line, *self.diagnostics.get("notes", [])])

    def _repr_html_(self) -> str:
        """Show the shares as a table, in a notebook."""
        values = np.ravel(self.value)
        names = (
            ["majority class"] if values.size == 1 else [f"class {k}" for k in range(values.size)]
        )
        ends = (
            [("none", "none")] * values.size
            if self.interval is None
            else [
                tuple(f"{100 * end:.1f} %" for end in row)
                for row in np.reshape(self.interval, (-1, 2))
            ]
        )
        rows = [
            (name, f"{100 * value:.1f} %", *end)
            for name, value, end in zip(names, values, ends, strict=True)
        ]
        level = "" if self.level is None else f", {100 * self.level:g} % interval"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.diagnostics.get("notes", []))
        head = (f"class prior ({self.method}{level})", "estimate", "from", "to")
        return html_table(head, rows) + notes

    def _interval_text(self) -> str:
        if self.interval is None or self.level is None:
            return "no interval"
        pairs = np.reshape(self.interval, (-1, 2))
        text = ", ".join(f"{low:.3f} to {high:.3f}" for low, high in pairs)
        return f"{100 * self.level:g} % interval{'s' if len(pairs) > 1 else ''} {text}"
