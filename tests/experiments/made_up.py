"""Records that no trial made, to see what is made of them."""

from typing import Any

from likewise.experiments.runner import Record

__all__ = ["made_up"]


def made_up(values: list[float | None], field: str = "accuracy", **more: Any) -> list[Record]:
    """Return a record for each value, of a failed trial where it is None."""
    return [
        {
            "trial": trial,
            "status": "ok" if value is not None else "failed",
            "accuracy": None,
            "seconds": 0.5,
            "reason": None if value is not None else "ValueError: the pool has 8 rows",
            **more,
            field: value,
        }
        for trial, value in enumerate(values)
    ]
