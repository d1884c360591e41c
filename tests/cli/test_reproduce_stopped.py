"""`likewise reproduce` in a process of its own, stopped half-way: nothing is lost or done twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from likewise.experiments.runner import Record, key_of, read_records
from likewise.experiments.theory import EXPERIMENT

from .conftest import Run

WANTED = ("--trials", "36", "--quick", "--methods", "bound", "--datasets", "gaussians")
COUNT = 36 * 3
SECONDS = 1200
"""To begin or to end in, on a busy machine too."""


def start(out: Path) -> "subprocess.Popen[str]":
    """Run it on two workers, all in a group of processes of its own."""
    command = [sys.executable, "-m", "likewise.cli", "reproduce", "theory", "--out", str(out)]
    return subprocess.Popen(  # noqa: S603
        [*command, *WANTED, "--jobs", "2"],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + SECONDS
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "it did not get going"
        time.sleep(0.005)


def stop_half_way(folder: Path, number: signal.Signals) -> tuple[Path, int, str]:
    """Stop a run before its end; return where it was, its exit code and what it said.

    The run is halted before it is looked at. On a busy machine it may have ended by then: then
    another one is begun.
    """
    for attempt in range(10):
        out = folder / f"stopped-{attempt}"
        with start(out) as process:
            wait_for_lines(out / "records.jsonl", 4)
            os.killpg(process.pid, signal.SIGSTOP)
            is_half_way = (out / "records.jsonl").read_bytes().count(b"\n") < COUNT
            if is_half_way:
                os.killpg(process.pid, number)
            os.killpg(process.pid, signal.SIGCONT)
            code = process.wait(SECONDS)
            words = process.stderr.read() if process.stderr else ""
        if is_half_way:
            return out, code, words
    pytest.fail("every run ended before it could be stopped")


def untimed(records: list[Record]) -> list[Record]:
    return [{name: one[name] for name in one if name != "seconds"} for one in records]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_a_stopped_run_goes_on_to_the_same_records_and_tables(
    number: signal.Signals, code: int, tmp_path: Path, succeed: Run
) -> None:
    whole = tmp_path / "whole"
    stopped, ended, words = stop_half_way(tmp_path, number)
    assert ended == code
    if number == signal.SIGINT:
        assert words == (
            "likewise: stopped; what is finished is kept, and the same command goes on from "
            "there.\n"
        )
    before = read_records(stopped / "records.jsonl")
    assert 4 <= len(before) < COUNT

    for folder in (stopped, whole):
        succeed("reproduce", "theory", "--out", str(folder), *WANTED, "--jobs", "1")
    after = read_records(stopped / "records.jsonl")
    assert after[: len(before)] == before
    assert len({key_of(one) for one in after}) == len(after) == COUNT
    first, second = (
        EXPERIMENT.own(read_records(folder / "records.jsonl")) for folder in (stopped, whole)
    )
    assert untimed(first) == untimed(second)
    tables = [[one.tables for one in EXPERIMENT.sections(found)] for found in (first, second)]
    assert tables[0] == tables[1]
