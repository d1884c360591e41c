"""Records that no trial made, to see what is made of them."""

from typing import Any

from likewise.experiments.runner import Record

__all__ = ["benchmark_records", "made_up"]


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


def benchmark_records(accuracies: dict[tuple[str, str], list[float]]) -> list[Record]:
    """Return records of the benchmark for accuracies by dataset and method."""
    return [
        record
        for (dataset, method), values in accuracies.items()
        for record in made_up(list(values), dataset=dataset, method=method, experiment="benchmark")
    ]
