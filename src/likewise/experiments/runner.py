"""Runs trials side by side and keeps their records, so that a stopped run can go on.

Records are lines of JSON, appended as trials finish. The runner does not know what a trial does.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["KEY", "Record", "Trial", "keep_records", "key_of", "read_records", "run_trials"]

Record = dict[str, Any]
Trial = Callable[..., Record]
Settings = Mapping[str, Any]

KEY = ("experiment", "dataset", "n", "method", "trial")
"""The fields that say which trial a record is of."""


def read_records(path: Path) -> list[Record]:
    """Read records, leaving out a last line that was cut short.

    Parameters
    ----------
    path : Path
        Need not exist.

    Returns
    -------
    list of dict
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last end of line is cut
        try:
            record = json.loads(line)
            key_of(record)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}, line {number} is not a record of an experiment; mend or remove it."
            ) from error
        records.append(record)
    return records


def keep_records(path: Path, records: Iterator[Record]) -> Iterator[Record]:
    """Append each record to a file, whole and on disk, before it is passed on.

    Parameters
    ----------
    path : Path
        Made if it is not there; a last line that was cut short is removed.
    records : iterator of dict

    Yields
    ------
    dict
    """
    _cut_to_last_line(path)
    with path.open("a", encoding="utf-8") as stream:
        for record in records:
            stream.write(json.dumps(record, allow_nan=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
            yield record


def run_trials(
    trial: Trial, groups: Sequence[Sequence[Settings]], *, jobs: int = 1
) -> Iterator[Record]:
    """Run trials side by side, each on one thread, and give out records as they are finished.

    Parameters
    ----------
    trial : callable
        Called with a trial's settings by name; must be importable, not a lambda.
    groups : sequence of sequences of settings
        Trials that run one after the other in the same process, so that what they share can be
        remembered there.
    jobs : int, default 1
        Number of processes; -1 is one for each core.

    Yields
    ------
    dict
        In no particular order.
    """
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for records in parallel(delayed(_run_group)(trial, group) for group in groups):
        yield from records


def key_of(record: Record) -> tuple[Any, ...]:
    """Return which trial a record is of."""
    return tuple(record[name] for name in KEY)


def _run_group(trial: Trial, group: Sequence[Settings]) -> list[Record]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # where there is but one job, it runs in this very process
        return [trial(**settings) for settings in group]


def _cut_to_last_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
