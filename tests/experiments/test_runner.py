"""The runner: records survive a crash, finished trials are not run again, one thread each."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.experiments.runner import (
    KEY,
    Record,
    keep_records,
    key_of,
    read_records,
    run_trials,
)


def record(trial: int, **more: Any) -> Record:
    return {"experiment": "e", "dataset": "d", "n": 2, "method": "m", "trial": trial, **more}


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    written = [record(0, error=0.1, reason=None), record(1, reason="two\nlines, äöü")]
    assert list(keep_records(path, iter(written))) == written
    assert read_records(path) == written
    assert len(path.read_text().splitlines()) == 2


def test_a_record_is_in_the_file_before_the_next_trial_begins(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"

    def trials() -> Iterator[Record]:
        yield record(0)
        assert read_records(path) == [record(0)]
        raise KeyboardInterrupt

    kept = keep_records(path, trials())
    assert next(kept) == record(0)
    with pytest.raises(KeyboardInterrupt):
        next(kept)
    assert read_records(path) == [record(0)]


def test_a_line_cut_short_is_left_out_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    list(keep_records(path, iter([record(0), record(1)])))
    whole = path.read_text()
    path.write_text(whole[:-9])
    assert read_records(path) == [record(0)]
    list(keep_records(path, iter([record(1)])))
    assert path.read_text() == whole


def test_a_file_of_something_else_is_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    for line in ("hello", "3", '{"experiment": "e"}'):
        path.write_text(json.dumps(record(0)) + f"\n{line}\n")
        with pytest.raises(ValueError, match=r"records\.jsonl, line 2 is not a record"):
            read_records(path)


def test_no_file_means_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "records.jsonl") == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_trial_is_run_once_whatever_the_number_of_jobs(jobs: int) -> None:
    groups = [[record(2 * k), record(2 * k + 1)] for k in range(4)]
    found = list(run_trials(dict, groups, jobs=jobs))
    assert sorted(map(key_of, found)) == [key_of(record(k)) for k in range(8)]


def test_a_trial_has_one_thread() -> None:
    def threads(**settings: Any) -> Record:
        np.eye(2) @ np.eye(2)
        return {**settings, "threads": {pool["num_threads"] for pool in threadpool_info()}}

    with threadpool_limits(2):
        before = threadpool_info()
        (found,) = run_trials(threads, [[record(0)]], jobs=1)
        assert threadpool_info() == before
    assert found["threads"] == {1}


def test_the_key_tells_trials_apart() -> None:
    for name in KEY:
        assert key_of(record(0)) != key_of({**record(0), name: "other"})
    assert key_of(record(0)) == key_of(record(0, value=1.0))
