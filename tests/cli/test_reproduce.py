"""`likewise reproduce`: what it runs, leaves behind and refuses."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from likewise.cli.reproduce import _show
from likewise.experiments.catalogue import EXPERIMENTS
from likewise.experiments.methods import METHODS, Answer, Method
from likewise.experiments.runner import read_records
from likewise.experiments.samples import Task
from likewise.pages.document import Cell, Section, Table

from .conftest import Run

COMMON = ("--out", "out", "--jobs", "1", "--datasets", "gaussians")
PRIOR = ("reproduce", "prior", *COMMON, "--quick")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def report() -> str:
    return Path("out/report.html").read_text(encoding="utf-8")


def test_one_experiment_leaves_records_and_a_report_and_shows_a_table(succeed: Run) -> None:
    output = succeed(*PRIOR, "--trials", "2", "--methods", "km1,km2").stdout
    for words in ("Figure 4", "200", "400", "KM1 (paper)", "KM2 (paper)", "out/report.html"):
        assert words in output
    left = sorted(path.name for path in Path("out").iterdir())
    assert left == ["figures", "records.jsonl", "report.html", "tables.md"]
    assert "KM1 (paper)" in Path("out/tables.md").read_text(encoding="utf-8")
    records = read_records(Path("out/records.jsonl"))
    assert len(records) == 2 * 2 * 2
    names = {"experiment", "dataset", "method", "trial", "status", "accuracy", "seconds"}
    assert all(names <= record.keys() for record in records)


def test_the_report_tells_how_to_make_it_again(succeed: Run) -> None:
    succeed(*PRIOR, "--trials", "1", "--methods", "km1")
    words = "likewise reproduce prior --out out --quick --trials 1"
    assert f"{words} --datasets gaussians --methods km1" in report()
    assert "prior: 1" in report()


def test_a_second_run_adds_only_what_is_missing(succeed: Run) -> None:
    first = json.loads(succeed(*PRIOR, "--methods", "km2", "--trials", "1", "--json").stdout)
    assert first["new_records"] == 2
    more = (*PRIOR, "--methods", "km2,km1", "--trials", "2", "--json")
    second = json.loads(succeed(*more).stdout)
    assert second["new_records"] == 8 - 2
    assert {cell["trials"] for cell in second["results"]} == {2}
    assert {(cell["experiment"], cell["n"], cell["method"]) for cell in second["results"]} == {
        ("prior", n, method) for n in (200, 400) for method in ("km1", "km2")
    }
    assert second["files"] == ["out/records.jsonl", "out/report.html", "out/tables.md"]
    assert json.loads(succeed(*more).stdout)["new_records"] == 0


def test_some_settings_are_run_more_often_and_the_report_tells_how(succeed: Run) -> None:
    succeed(*PRIOR, "--trials", "1", "--methods", "km1,km2")
    more = (*PRIOR, "--methods", "km1", "--only", "n=400", "--trials", "4", "--json")
    assert json.loads(succeed(*more).stdout)["new_records"] == 3
    counts = Counter((one["method"], one["n"]) for one in read_records(Path("out/records.jsonl")))
    assert counts == {("km1", 200): 1, ("km1", 400): 4, ("km2", 200): 1, ("km2", 400): 1}
    words = "likewise reproduce prior --out out --quick --trials"
    assert f"{words} 1 --datasets gaussians --methods km1,km2;" in report()
    assert f"{words} 4 --datasets gaussians --methods km1 --only n=400" in report()


def test_experiments_of_one_folder_are_in_one_report(succeed: Run) -> None:
    succeed(*PRIOR, "--trials", "1", "--methods", "km1")
    output = succeed("reproduce", "losses", "--out", "out", "--jobs", "1").stdout
    assert "Figure 4" not in output
    assert "Figures 2 and 3" in output
    assert "Figure 4" in report()
    assert "Figures 2 and 3" in report()


def test_without_a_name_all_are_run_that_have_the_methods(succeed: Run) -> None:
    chosen = ("--quick", "--trials", "1", "--methods", "su-squared,squared,variance", "--json")
    found = json.loads(succeed("reproduce", *COMMON, *chosen).stdout)
    assert found["experiments"] == ["losses", "theory", "unlabeled", "benchmark", "half"]
    assert found["failed"] == 0
    ran = {(record["experiment"], record["dataset"]) for record in _records()}
    assert ran == {
        ("losses", "analytic"),
        *((name, "gaussians") for name in ("theory", "unlabeled", "benchmark", "half")),
    }


def test_a_method_that_fails_has_its_cell_and_its_reason(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: Task) -> None:
        raise ZeroDivisionError("by design")

    monkeypatch.setitem(METHODS, "broken", Method("Broken", fail))  # type: ignore[arg-type]
    arguments = ("reproduce", "benchmark", *COMMON, "--trials", "2", "--methods", "km,broken")
    result = succeed(*arguments)
    assert re.search(r"Broken\W+failed", result.stdout)
    assert result.stderr == "likewise: 2 trials failed; the report says why.\n"
    assert "2 of 2 trials failed: ZeroDivisionError: by design" in report()
    assert [one["status"] for one in _records() if one["method"] == "km"] == ["ok", "ok"]


def test_a_mended_method_is_run_again_when_asked(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(task: Task) -> Answer:
        raise NameError("a slip")

    def mended(task: Task) -> Answer:
        return Answer(np.ones(len(task.X_test)), np.ones(len(task.unlabeled)))

    command = ("reproduce", "benchmark", *COMMON, "--methods", "km,own", "--trials", "1", "--json")
    monkeypatch.setitem(METHODS, "own", Method("Own", broken))
    assert json.loads(succeed(*command).stdout)["failed"] == 1
    monkeypatch.setitem(METHODS, "own", Method("Own", mended))
    assert json.loads(succeed(*command).stdout)["new_records"] == 0
    others = [one for one in _records() if one["method"] == "km"]
    again = json.loads(succeed(*command, "--methods", "own", "--again").stdout)
    assert (again["new_records"], again["failed"]) == (1, 0)
    assert [one for one in _records() if one["method"] == "km"] == others


def test_sentences_are_for_the_report_and_not_for_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = ((Cell("KM"), Cell("64.5"), Cell("Ten starts, the best kept. " * 9)),)
    table = Table("Mean accuracy", ("method", "ours", "why"), rows)
    _show([Section("Compared", (), (table,))])
    output = capsys.readouterr().out
    assert "64.5" in output
    assert "starts" not in output
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.slow
def test_curves_are_checked_once_whatever_the_trials(succeed: Run) -> None:
    found = json.loads(
        succeed("reproduce", "losses", "--out", "out", "--trials", "5", "--json").stdout
    )
    assert found["new_records"] == 8
    assert {record["trial"] for record in _records()} == {0}


def test_missing_datasets_are_named_with_the_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))
    result = run("reproduce", "--out", "out")  # the first that cannot be had, before any download
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "LIKEWISE_DATA" in line
    assert ".npz" in line
    assert not (Path("out") / "records.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prior", "--out", "out", "--methods", "km1,km9"], ["'km9'", "km1, km2"]),
        (["--out", "out", "--methods", "km1,km9"], ["'km9'", "km1, km2"]),
        (["prior", "--out", "out", "--datasets", "banaan"], ["Did you mean 'banana'?"]),
        (["losses", "--out", "out", "--datasets", "banana"], ["needs no data"]),
        (["prior", "--out", "out", "--only", "n=201"], ["n=201", "n=200, n=400"]),
        (["prior", "--out", "out", "--only", "prior=0.7"], ["prior=0.7", "these settings: n"]),
        (["losses", "--out", "out", "--only", "n=200"], ["n=200", "these settings: prior"]),
        (["prior", "--out", "out", "--only", "n:200"], ["'n:200'", "n=300,prior=0.7"]),
        (["--out", "out", "--only", "n=200"], ["--only", "name of an experiment"]),
        (["prior", "--out", "out", "--jobs", "0"], ["--jobs"]),
        (["prior", "--quick"], ["--out is missing"]),
        (["--quick"], ["--out is missing"]),
        (["--quick", "prior", "--out", "out"], ["--quick", "after 'prior'"]),
        (["--json", "prior", "--out", "out"], ["--json", "after 'prior'"]),
    ],
)
def test_bad_options_are_named_in_one_line(
    run: Run, arguments: list[str], words: list[str]
) -> None:
    result = run("reproduce", *arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    for word in words:
        assert word in line
    assert not Path("out").exists()


def test_an_unknown_experiment_is_refused(run: Run) -> None:
    result = run("reproduce", "figure9", "--out", "out")
    assert result.exit_code == 2
    assert "figure9" in result.stderr


def test_without_matplotlib_there_is_a_report_all_the_same(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    succeed(*PRIOR, "--methods", "km1", "--trials", "1")
    assert "matplotlib" in report()


def test_help_names_the_figures(succeed: Run) -> None:
    assert "Figure 4" in succeed("reproduce", "prior", "--help").stdout
    output = succeed("reproduce", "--help").stdout
    for name in EXPERIMENTS:
        assert name in output
    assert "Table 4" in output


def _records() -> list[dict[str, object]]:
    return read_records(Path("out/records.jsonl"))
