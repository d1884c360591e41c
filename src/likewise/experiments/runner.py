"""Runs trials side by side and keeps their records, so that a stopped run can go on.

Records are lines of JSON, appended as trials finish. The runner does not know what a trial does,
only that whatever it raises is an outcome too.
"""

import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from likewise.experiments.provenance import made_by
from likewise.io import replacing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "KEY",
    "SETTINGS",
    "Measure",
    "Record",
    "Records",
    "Settings",
    "forget",
    "keep_records",
    "key_of",
    "read_records",
    "run_trials",
]

Record = dict[str, Any]
Records = Generator[Record, None, None]
Settings = Mapping[str, Any]
Measure = Callable[..., Record]
"""What a trial does: called with its settings by name, it returns what it found."""

KEY = ("experiment", "dataset", "method", "trial")
SETTINGS = ("n", "n_unlabeled", "prior")
"""Beside the key, the fields that say which trial a record is of; not every experiment has all."""

_LONGEST_REASON = 500


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
    lines = path.read_bytes().split(b"\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last end of line is cut
        try:
            record = json.loads(line)
            key_of(record), record["status"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path}, line {number} is not a record of an experiment; mend or remove it."
            ) from error
        records.append(record)
    return records


def keep_records(path: Path, records: Records) -> Records:
    """Append each record to a file, whole and on disk, before it is passed on.

    Parameters
    ----------
    path : Path
        Made if it is not there; a last line that was cut short is removed. Refused while another
        run writes to it.
    records : generator of dict
        Closed at the end, however that comes.

    Yields
    ------
    dict
    """
    with closing(records), _claimed(path):
        _cut_to_last_line(path)
        with path.open("a", encoding="utf-8") as stream:
            for record in records:
                stream.write(json.dumps(record, allow_nan=False) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
                yield record


def forget(path: Path, keys: AbstractSet[Any]) -> None:
    """Remove the records of some trials from a file, which is replaced as a whole.

    Parameters
    ----------
    path : Path
        Need not exist.
    keys : set
        As of `key_of`.
    """
    records = read_records(path)
    kept = [record for record in records if key_of(record) not in keys]
    if len(kept) == len(records):
        return
    with _claimed(path), replacing(path) as stream:
        for record in kept:
            stream.write((json.dumps(record, allow_nan=False) + "\n").encode())


def run_trials(measure: Measure, groups: Sequence[Sequence[Settings]], *, jobs: int = 1) -> Records:
    """Run trials side by side, each on one thread, and give out records as they are finished.

    Parameters
    ----------
    measure : callable
        Called with a trial's settings by name; must be importable, not a lambda. Any exception
        that it raises becomes a record with ``status="failed"`` and the reason.
    groups : sequence of sequences of settings
        Trials that run one after the other in the same process, so that what they share can be
        remembered there.
    jobs : int, default 1
        Number of processes; -1 is one for each core.

    Yields
    ------
    dict
        In no particular order: the settings, ``status`` ("ok" or "failed"), ``accuracy``,
        ``seconds``, ``reason``, what made it (see `likewise.experiments.provenance.made_by`), and
        whatever `measure` returned; what there is not is None.
    """
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    # The code is looked at once, now: files may change while trials run.
    made = [[made_by(one["experiment"], one["method"]) for one in group] for group in groups]
    with _deaf_children():
        finished = parallel(
            delayed(_run_group)(measure, *group) for group in zip(groups, made, strict=True)
        )
    try:
        for records in finished:
            yield from records
    finally:
        with warnings.catch_warnings():  # of trials that were begun in vain: whoever stops us knows
            warnings.simplefilter("ignore")
            finished.close()


def key_of(record: Settings) -> tuple[Any, ...]:
    """Return which trial a record is of.

    Examples
    --------
    >>> from likewise.experiments.runner import key_of
    >>> key_of({"experiment": "prior", "dataset": "adult", "method": "km1", "trial": 3, "n": 200})
    ('prior', 'adult', 'km1', 3, 200, None, None)
    """
    own = tuple(record[name] for name in KEY)
    return own + tuple(record.get(name) for name in SETTINGS)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Have processes that start in here ignore Ctrl-C, which a terminal sends to all of them.

    Who stops the run ends them; on their own they would each print where they happened to be.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is None:
        yield  # only the main thread may set signals; what was not set by Python cannot be set back
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_group(measure: Measure, group: Sequence[Settings], made: Sequence[Record]) -> list[Record]:
    from threadpoolctl import threadpool_limits

    # Where there is but one job it runs in this very process, whose threads nobody has limited.
    with threadpool_limits(1):
        return [_run_one(measure, *one) for one in zip(group, made, strict=True)]


def _run_one(measure: Measure, settings: Settings, made: Record) -> Record:
    start = perf_counter()
    outcome: Record = {
        "status": "ok",
        "accuracy": None,
        "seconds": None,
        "reason": None,
        **made,
    }
    try:
        # The settings come last: a trial cannot change which trial it is.
        record = {**settings, **outcome, **measure(**settings), **settings}
        json.dumps(record, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - whatever a method raises is its result
        return {**settings, **outcome, **_failure(error), "seconds": perf_counter() - start}
    if record["seconds"] is None:
        record["seconds"] = perf_counter() - start
    return record


def _failure(error: Exception) -> Record:
    words = " ".join(str(error).split())[:_LONGEST_REASON]
    return {"status": "failed", "reason": f"{type(error).__name__}: {words}"}


@contextmanager
def _claimed(path: Path) -> Iterator[None]:
    """Keep other runs from a file; the end of this process, however it comes, lets them in."""
    if fcntl is None:  # Windows has no such lock; there, keeping runs apart is left to people
        yield
        return
    with path.open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{path} is being written by another run; let it finish, or name another folder."
            ) from None
        yield


def _cut_to_last_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
