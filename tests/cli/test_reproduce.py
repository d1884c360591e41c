"""`likewise reproduce`: what it runs, leaves behind and refuses."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from likewise.datasets import DatasetInfo, make_gaussians
from likewise.experiments import prior as experiment
from likewise.experiments.runner import read_records

from .conftest import Run

OUT = ("reproduce", "prior", "--out", "out", "--jobs", "1")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make the foretaste tiny, on generated pools."""
    names = ["one", "two", "three"]
    infos = [DatasetInfo(name, 500, 2, 0.5, "folder") for name in names]
    monkeypatch.setattr(experiment, "list_datasets", lambda: infos)
    monkeypatch.setattr(
        experiment,
        "load",
        lambda name, return_X_y=True: make_gaussians(500, prior=0.5, random_state=len(name)),
    )
    tiny = {"datasets": ["one", "two"], "sizes": (40, 60), "trials": 2}
    monkeypatch.setattr(experiment, "QUICK", tiny)
    monkeypatch.setattr(experiment, "SIZES", (40,))
    experiment._pool.cache_clear()
    experiment._fit_kernel_mean.cache_clear()
    monkeypatch.chdir(tmp_path)


def test_quick_leaves_records_and_pictures_and_shows_a_table(succeed: Run) -> None:
    output = succeed(*OUT, "--quick").stdout
    for words in ("one", "two", "60", "km1", "km2", "pair_moments", "±", "out/prior.png"):
        assert words in output
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "prior.png",
        "prior.svg",
        "records.jsonl",
    ]
    assert len(read_records(Path("out/records.jsonl"))) == 2 * 2 * 2 * 3


def test_a_second_run_adds_only_what_is_missing(succeed: Run) -> None:
    chosen = (*OUT, "--quick", "--datasets", "three", "--methods", "km2", "--json")
    first = json.loads(succeed(*chosen, "--trials", "1").stdout)
    assert first["new_records"] == 2
    second = json.loads(succeed(*chosen, "--trials", "3").stdout)
    assert second["new_records"] == 4
    assert {cell["trials"] for cell in second["results"]} == {3}
    assert {(cell["dataset"], cell["method"]) for cell in second["results"]} == {("three", "km2")}
    assert json.loads(succeed(*chosen, "--trials", "3").stdout)["new_records"] == 0


def test_a_missing_dataset_is_named_with_the_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))
    result = run(*OUT)  # the first that cannot be had, before the others are downloaded
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "LIKEWISE_DATA" in line
    assert "cod-rna.npz" in line
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--methods", "km1,km9"], ["'km9'", "km1, km2"]), (["--jobs", "0"], ["--jobs"])],
)
def test_bad_options_are_named(run: Run, options: list[str], words: list[str]) -> None:
    result = run(*OUT, "--quick", *options)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    for word in words:
        assert word in line


def test_an_unknown_dataset_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    result = run("reproduce", "prior", "--out", "out", "--datasets", "banaan")
    assert result.exit_code == 2
    assert "Did you mean 'banana'?" in result.stderr


def test_without_matplotlib_there_are_records_but_no_picture(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = succeed(*OUT, "--quick", "--methods", "km1", "--json")
    (line,) = result.stderr.splitlines()
    assert "likewise[plots]" in line
    files: Any = json.loads(result.stdout)["files"]
    assert files == ["out/records.jsonl"]


def test_help_names_the_figure(succeed: Run) -> None:
    assert "Figure 4" in succeed("reproduce", "prior", "--help").stdout
    assert "prior" in succeed("reproduce", "--help").stdout
