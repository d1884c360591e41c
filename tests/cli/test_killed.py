"""Commands that are killed, or run out of disk, leave old outputs whole and no damaged ones."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from likewise.experiments.runner import Record, key_of, read_records
from likewise.io import load_model, read_table

from .conftest import Run, paths_with, write_files

Check = Callable[[Path], None]

ROOT = Path(__file__).parents[2]
SU = ("--method", "su", "--prior", "0.7")


def check_model(path: Path) -> None:
    assert load_model(path).features.names == ("first", "second")


def check_predictions(path: Path) -> None:
    assert len(read_table(path)) == 100


def check_page(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>")


COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, Check]]] = {
    "fit": (("fit", "rows.csv", "pairs.csv", *SU, "-o", "out.skops"), {"out.skops": check_model}),
    "fit pair": (
        (
            *("fit", "rows.csv", "pairs.csv", "-o", "out.skops", "--rows", "out.csv"),
            *("--errors", "0.05"),
        ),
        {"out.skops": check_model, "out.csv": check_predictions},
    ),
    "predict": (
        ("predict", "model.skops", "rows.csv", "-o", "out.csv"),
        {"out.csv": check_predictions},
    ),
    "predict parquet": (
        ("predict", "model.skops", "rows.csv", "-o", "out.parquet"),
        {"out.parquet": check_predictions},
    ),
    "report": (
        ("report", "rows.csv", "pairs.csv", "--model", "model.skops", "-o", "out.html"),
        {"out.html": check_page},
    ),
}
KILLS = {"fit": 12, "fit pair": 8, "predict": 10, "predict parquet": 8, "report": 12}
"""Fifty moments in all."""


@pytest.fixture
def here(folder: Path, succeed: Run) -> Path:
    """Return a folder with rows, pairs and a model."""
    write_files(folder, n_rows=100, n_pairs=30)
    succeed("fit", "rows.csv", "pairs.csv", *SU, "-o", "model.skops")
    return folder


def visible(folder: Path) -> set[str]:
    """Return the names of files but for the hidden ones, which nobody takes for an output."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def copies(
    folder: Path, arguments: tuple[str, ...], *, kills: int, limits: list[int]
) -> Iterator[dict[str, Any]]:
    """Run copies of a command that are killed or run out of disk; yield what came of each."""
    asked = {"arguments": arguments, "kills": kills, "limits": limits, "seed": 0}
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "tests.cli.killing", json.dumps(asked)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **paths_with(ROOT), "OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
            process.stdin.write("go on\n")
            process.stdin.flush()
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_old_or_new_at_whatever_moment_it_ends(name: str, here: Path) -> None:
    arguments, checks = COMMANDS[name]
    before = visible(here)
    told = 0
    for output in checks:
        (here / output).write_text("old")
    limits = [0, 1, 1000, 70_000, *(1 << power for power in (13, 17, 18, 19))]
    for outcome in copies(here, arguments, kills=KILLS[name], limits=limits):
        told += 1
        if outcome["code"] == 0:
            for output, check in checks.items():
                check(here / output)
        for output, check in checks.items():
            path = here / output
            if path.read_bytes() != b"old":
                check(path)
            path.write_text("old")
        if outcome["limit"] is not None:
            assert outcome["code"] in {0, 2}, outcome
        assert visible(here) == before | set(checks)
    assert told == 1 + KILLS[name] + len(limits)


WANTED = ("--trials", "6", "--quick", "--methods", "bound", "--datasets", "gaussians")
COUNT = 6 * 3


def untimed(path: Path) -> list[Record]:
    records = sorted(read_records(path), key=key_of)
    return [{name: one[name] for name in one if name != "seconds"} for one in records]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
def test_experiments_go_on_to_the_same_records_at_whatever_moment_they_end(
    here: Path, succeed: Run
) -> None:
    arguments = ("reproduce", "theory", "--out", "out", *WANTED, "--jobs", "1")
    succeed(*arguments[:3], "whole", *arguments[4:])
    whole = untimed(here / "whole" / "records.jsonl")
    assert len(whole) == COUNT
    records = here / "out" / "records.jsonl"
    n_cut = 0
    limits = [0, 500, 2000, 3000, 70_000]
    for outcome in copies(here, arguments, kills=12, limits=limits):
        found = untimed(records) if records.exists() else []
        assert all(one in whole for one in found)
        n_cut += 0 < len(found) < COUNT
        if outcome["limit"] is not None:
            assert outcome["code"] in {0, 2}, outcome
        if len(found) == COUNT:
            for path in (here / "out").iterdir():
                if path.suffix == ".html":
                    check_page(path)
            records.unlink()
    succeed(*arguments)
    assert untimed(records) == whole
    assert n_cut


class Killed(BaseException):
    """Stands for the end of the process: nothing is tidied up."""


def _fail_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> list[str]:
    """Fail at the n-th step by which a file is written; return the steps before."""
    steps: list[str] = []

    def failing(name: str, real: Any) -> Any:
        def step(*given: Any, **options: Any) -> Any:
            steps.append(name)
            if len(steps) > number:
                raise error
            return real(*given, **options)

        return step

    monkeypatch.setattr(os, "fsync", failing("fsync", os.fsync))
    monkeypatch.setattr(os, "fchmod", failing("fchmod", os.fchmod))
    monkeypatch.setattr(Path, "replace", failing("replace", Path.replace))
    return steps


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("is_killed", [True, False])
def test_an_output_is_old_at_every_step_before_the_last(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch, number: int, is_killed: bool
) -> None:
    (here / "out.csv").write_text("old")
    before = visible(here)
    error: BaseException = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if is_killed:
        error = Killed()
        monkeypatch.setattr(Path, "unlink", lambda *given, **options: None)
    steps = _fail_at(monkeypatch, number, error)
    result = None
    try:
        result = run("predict", "model.skops", "rows.csv", "-o", "out.csv")
    except Killed:
        assert is_killed
    assert len(steps) == number + 1
    assert (here / "out.csv").read_text() == "old"
    assert visible(here) == before
    if not is_killed:
        assert result is not None
        assert result.exit_code == 2
        assert result.stderr == "likewise: out.csv: No space left on device.\n"
        assert not list(here.glob(".*.part"))
