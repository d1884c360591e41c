"""What every prior estimator returns."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PriorEstimate:
    """The share of the majority class, estimated from similar pairs and unlabeled rows.

    Attributes
    ----------
    value : float
        Share of the majority class, in [0.5, 1].
    interval : tuple of two floats, or None
        Confidence interval; None where the method has none.
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

    value: float
    interval: tuple[float, float] | None
    level: float | None
    method: str
    diagnostics: dict[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        line = f"majority class {self.value:.3f} ({self._interval_text()}, {self.method})"
        return "; ".join([line, *self.diagnostics.get("notes", [])])

    def _interval_text(self) -> str:
        if self.interval is None or self.level is None:
            return "no interval"
        low, high = self.interval
        return f"{100 * self.level:g} % interval {low:.3f} to {high:.3f}"
