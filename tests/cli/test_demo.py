"""`likewise demo`: what it shows, with a picture or without."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.cli import demo as demo_module

from .conftest import Run

PNG = b"\x89PNG\r\n\x1a\n"
METHODS = {"pair", "squared", "logistic", "double_hinge", "labeled"}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make two draws of few pairs, and try few models."""
    monkeypatch.setattr(demo_module, "N_DRAWS", 2)
    monkeypatch.setattr(demo_module, "N_PAIRS", 120)
    monkeypatch.setattr(demo_module, "N_UNLABELED", 80)
    monkeypatch.setattr(demo_module, "_fit_pair", _fit_quickly)
    monkeypatch.setattr(demo_module, "N_ROWS", 80)
    monkeypatch.setattr(demo_module, "N_ANSWERS", 240)


def _fit_quickly(sample: Any, seed: int) -> Any:
    learner = lw.PairClassifier(
        features="rbf", alphas=[0.03], pairing="random", cv=3, random_state=seed
    )
    return learner.fit(*sample.pack())


@pytest.mark.usefixtures("quick")
def test_demo_compares_all_methods_on_a_narrow_terminal_and_draws(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    result = succeed("demo", "--output", "other.png")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 60
    for row in (
        "(likewise)",
        "squared",
        "logistic",
        "double-hinge",
        "true labels",
        "share of +1",
        "own rows",
    ):
        (line,) = [line for line in lines if row in line]
        assert "%" in line
    for command in ("report", "fit", "predict"):
        assert f"likewise {command}" in result.stdout
    assert "Picture: other.png" in lines
    assert Path("other.png").read_bytes().startswith(PNG)
    assert [path.name for path in Path().iterdir()] == ["other.png"]


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_the_seed_fixes_the_results(succeed: Run) -> None:
    runs = [json.loads(succeed("demo", "--json", "--seed", seed).stdout) for seed in "112"]
    assert runs[0] == runs[1]
    assert runs[0]["results"] != runs[2]["results"]
    assert set(runs[0]["results"]) == METHODS
    assert runs[0]["picture"] == "likewise-demo.png"


@pytest.mark.slow
def test_the_whole_demo_comes_near_labels_and_knows_it(succeed: Run) -> None:
    shown = json.loads(succeed("demo", "--json").stdout)
    accuracy = {name: found["accuracy"] for name, found in shown["results"].items()}
    assert set(accuracy) == METHODS
    assert accuracy["pair"] > max(accuracy[loss] for loss in demo_module.LOSSES)
    assert accuracy["pair"] == pytest.approx(accuracy["labeled"], abs=0.02)
    assert set(shown["without_labels"]) == {"prior", "accuracy"}
    for found in shown["without_labels"].values():
        assert found["interval"][0] < found["truth"] < found["interval"][1]


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_without_matplotlib_demo_says_so_and_goes_on(
    succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = succeed("demo")
    (line,) = result.stderr.splitlines()
    assert "likewise[plots]" in line
    assert "squared" in result.stdout
    assert "Picture" not in result.stdout
    assert list(Path().iterdir()) == []


def test_a_folder_that_is_not_there_is_named_before_the_work(run: Run) -> None:
    result = run("demo", "--output", "nowhere/demo.png")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
