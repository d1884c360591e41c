"""`likewise demo`: what it shows, with a picture or without."""

import json
import sys
from pathlib import Path

import pytest

from likewise.cli import demo as demo_module

from .conftest import Run

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make two draws instead of ten, in an empty folder."""
    monkeypatch.setattr(demo_module, "N_DRAWS", 2)
    monkeypatch.chdir(tmp_path)


def test_demo_compares_three_losses_with_true_labels_and_draws(succeed: Run) -> None:
    result = succeed("demo")
    for words in ("squared", "logistic", "double-hinge", "true labels", "likewise-demo.png"):
        assert words in result.stdout
    for command in ("prior", "fit", "predict"):
        assert f"likewise {command}" in result.stdout
    assert "--prior" not in result.stdout  # it is estimated
    assert Path("likewise-demo.png").read_bytes().startswith(PNG)


def test_demo_results_are_sound_and_the_seed_fixes_them(succeed: Run) -> None:
    runs = [json.loads(succeed("demo", "--json", "--seed", seed).stdout) for seed in "112"]
    assert runs[0] == runs[1]
    assert runs[0]["results"] != runs[2]["results"]
    accuracy = {name: found["accuracy"] for name, found in runs[0]["results"].items()}
    assert set(accuracy) == {"squared", "logistic", "double_hinge", "labeled"}
    assert all(0.6 < value <= 1 for value in accuracy.values())
    assert accuracy["labeled"] == max(accuracy.values())
    assert runs[0]["picture"] == "likewise-demo.png"


def test_the_table_fits_a_narrow_terminal(succeed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = succeed("demo").stdout.splitlines()
    assert max(map(len, lines)) <= 62  # the longest is a command to copy, not the table
    for method in ("squared loss", "logistic loss", "double-hinge loss", "true labels"):
        (row,) = [line for line in lines if method in line]
        assert "%" in row


def test_the_picture_goes_where_it_is_told(succeed: Run) -> None:
    succeed("demo", "--output", "other.png")
    assert [path.name for path in Path().iterdir()] == ["other.png"]


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
