"""The runner: records survive a crash, failures are records, a trial has one thread."""

import importlib
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_info, threadpool_limits

from likewise._version import __version__
from likewise.experiments.provenance import made_by
from likewise.experiments.runner import (
    KEY,
    SETTINGS,
    Record,
    Records,
    forget,
    keep_records,
    key_of,
    read_records,
    run_trials,
)


def record(trial: int, **more: Any) -> Record:
    own = {"experiment": "e", "dataset": "d", "n": 2, "method": "m", "trial": trial}
    return {**own, "status": "ok", **more}


def given(*records: Record) -> Records:
    yield from records


def measure_nothing(**_: Any) -> Record:
    return {}


def test_a_record_says_what_made_it() -> None:
    known = {**record(0), "experiment": "losses", "method": "squared"}
    first, second = run_trials(measure_nothing, [[known, record(1)]])
    for name, value in made_by("losses", "squared").items():
        assert first[name] == value
    assert first["version"] == second["version"] == __version__
    assert (len(first["code"]), second["code"]) == (16, None)


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    written = [record(0, error=0.1, reason=None), record(1, reason="two\nlines, äöü")]
    assert list(keep_records(path, given(*written))) == written
    assert read_records(path) == written
    assert len(path.read_text().splitlines()) == 2


def test_a_record_is_in_the_file_before_the_next_trial_begins(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"

    def trials() -> Records:
        yield record(0)
        assert read_records(path) == [record(0)]
        raise KeyboardInterrupt

    kept = keep_records(path, trials())
    assert next(kept) == record(0)
    with pytest.raises(KeyboardInterrupt):
        next(kept)
    assert read_records(path) == [record(0)]


def test_who_stops_reading_stops_the_trials(tmp_path: Path) -> None:
    ended = []

    def trials() -> Records:
        try:
            yield from given(record(0), record(1))
        finally:
            ended.append(True)

    kept = keep_records(tmp_path / "records.jsonl", trials())
    next(kept)
    kept.close()
    assert ended == [True]


def test_a_line_cut_short_is_left_out_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    list(keep_records(path, given(record(0), record(1))))
    whole = path.read_text()
    path.write_text(whole[:-9])
    assert read_records(path) == [record(0)]
    list(keep_records(path, given(record(1))))
    assert path.read_text() == whole


def test_a_character_cut_in_two_is_a_line_cut_short_too(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    list(keep_records(path, given(record(0))))
    path.write_bytes(path.read_bytes() + '{"reason": "ä'.encode()[:-1])
    assert read_records(path) == [record(0)]


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="Windows has no such lock")
    path = tmp_path / "records.jsonl"
    first = keep_records(path, given(record(0), record(1)))
    next(first)
    with pytest.raises(ValueError, match=r"records\.jsonl is being written by another run"):
        next(keep_records(path, given(record(2))))
    with pytest.raises(ValueError, match="another run"):
        forget(path, {key_of(record(0))})
    assert list(first) == [record(1)]
    assert list(keep_records(path, given(record(2)))) == [record(2)]
    assert read_records(path) == [record(0), record(1), record(2)]


def test_what_is_forgotten_is_gone_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    forget(path, {key_of(record(0))})
    assert not path.exists()
    list(keep_records(path, given(record(0), record(1), record(2))))
    forget(path, {key_of(record(1)), key_of(record(7))})
    assert read_records(path) == [record(0), record(2)]


def test_a_file_of_something_else_is_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    unsigned = {name: value for name, value in record(1).items() if name != "status"}
    for line in ("hello", "3", '"text"', '{"experiment": "e"}', json.dumps(unsigned)):
        path.write_text(json.dumps(record(0)) + f"\n{line}\n")
        with pytest.raises(ValueError, match=r"records\.jsonl, line 2 is not a record"):
            read_records(path)


def test_no_file_means_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "records.jsonl") == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_trial_is_run_once_whatever_the_number_of_jobs(jobs: int) -> None:
    groups = [[record(2 * k), record(2 * k + 1)] for k in range(4)]
    found = list(run_trials(measure_nothing, groups, jobs=jobs))
    assert sorted(map(key_of, found)) == [key_of(record(k)) for k in range(8)]
    assert {one["status"] for one in found} == {"ok"}


@pytest.mark.parametrize("error", [ValueError("two\nlines"), ZeroDivisionError(), MemoryError("x")])
def test_whatever_a_trial_raises_becomes_its_record(error: Exception) -> None:
    def measure(trial: int, **_: Any) -> Record:
        if trial == 1:
            raise error
        return {"accuracy": 0.5}

    first, second, third = run_trials(measure, [[record(k) for k in range(3)]])
    assert first["status"] == third["status"] == "ok"
    assert first["accuracy"] == 0.5
    assert second["status"] == "failed"
    assert second["accuracy"] is None
    assert second["seconds"] >= 0
    assert second["reason"].startswith(type(error).__name__)
    assert "\n" not in second["reason"]


@pytest.mark.parametrize("value", [np.nan, np.inf, np.zeros(2), object()])
def test_what_cannot_be_written_is_a_failure_and_stops_nothing(value: object) -> None:
    def measure(**_: Any) -> Record:
        return {"accuracy": value}

    (found,) = run_trials(measure, [[record(0)]])
    assert found["status"] == "failed"
    json.dumps(found, allow_nan=False)


def test_a_trial_cannot_change_which_trial_it_is() -> None:
    def measure(**_: Any) -> Record:
        return {"trial": 7, "n": None}

    (found,) = run_trials(measure, [[record(0)]])
    assert key_of(found) == key_of(record(0))


def test_an_interrupt_is_no_outcome() -> None:
    def measure(**_: Any) -> Record:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_trials(measure, [[record(0)]]))


def measure_interrupts(**_: Any) -> Record:
    return {"deaf": signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "process": os.getpid()}


def test_an_interrupt_from_the_terminal_is_for_us_and_not_for_the_workers() -> None:
    get_reusable_executor().shutdown(wait=True)  # workers that another test started hear
    before = signal.getsignal(signal.SIGINT)
    for found in run_trials(measure_interrupts, [[record(trial)] for trial in range(4)], jobs=2):
        assert found["process"] != os.getpid()
        assert found["deaf"]
        assert signal.getsignal(signal.SIGINT) is before


def measure_threads(**_: Any) -> Record:
    # Brings OpenMP; the file of methods, too, imports it before a trial begins.
    importlib.import_module("sklearn.cluster")
    pools = threadpool_info()
    return {"threads": sorted({(pool["user_api"], pool["num_threads"]) for pool in pools})}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_trial_has_one_thread_of_either_kind(jobs: int) -> None:
    importlib.import_module("sklearn.cluster")
    with threadpool_limits(2):
        before = threadpool_info()
        (found,) = run_trials(measure_threads, [[record(0)]], jobs=jobs)
        assert threadpool_info() == before
    assert found["threads"] == [("blas", 1), ("openmp", 1)]


def test_the_key_tells_trials_apart() -> None:
    for name in (*KEY, *SETTINGS):
        assert key_of(record(0)) != key_of({**record(0), name: "other"})
    assert key_of(record(0)) == key_of(record(0, value=1.0))
