"""`likewise fit --model trees`: empty cells and text columns, from the file to predictions."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.io import load_model

from .conftest import Run

FIT = ("fit", "people.csv", "answers.csv", "-o", "model.skops")


@pytest.fixture
def truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write people.csv with gaps, and answers.csv; return the classes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    lines = ["id,size,colour,full"]
    for i, k in enumerate(y):
        size = f"{rng.normal() + 3 * k:.3f}" if rng.random() > 0.1 else ""
        colour = ["blue", "red"][k if rng.random() < 0.9 else 1 - k] if rng.random() > 0.1 else ""
        lines.append(f"p{i},{size},{colour},{rng.integers(10)}")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    lines = ["left,right,relation"]
    for _ in range(300):
        a, b = rng.choice(150, 2, replace=False)
        lines.append(f"p{a},p{b},{'same' if y[a] == y[b] else 'different'}")
    Path("answers.csv").write_text("\n".join(lines) + "\n")
    return y


def test_an_empty_cell_is_an_error_that_names_the_way_out(truth: Any, run: Run) -> None:
    result = run(*FIT)
    assert result.exit_code != 0
    assert "'size'" in result.stderr
    assert "--model trees" in result.stderr
    assert not Path("model.skops").exists()


def test_trees_learn_from_empty_cells_and_text(truth: Any, run: Run) -> None:
    result = run(*FIT, "--model", "trees", "--rows", "rows.csv", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["chosen_features"] == "HistGradientBoostingClassifier"
    assert summary["text_features"] == ["colour"]
    assert load_model("model.skops").features.gaps
    result = run("predict", "model.skops", "people.csv")
    assert result.exit_code == 0, result.output
    predicted = [int(row["prediction"]) for row in csv.DictReader(io.StringIO(result.stdout))]
    right = np.mean((np.array(predicted) == 1) == (truth == 1))
    assert max(right, 1 - right) > 0.9
    assert len(Path("rows.csv").read_text().splitlines()) == 151


def test_the_summary_says_what_it_is(truth: Any, run: Run) -> None:
    result = run(*FIT, "--model", "trees")
    assert "gradient boosting" in result.stdout
    assert "penalty" not in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "parquet"), "leave out --engine"),
        (("--method", "su"), "leave out --method su"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    truth: Any, run: Run, options: tuple[str, ...], message: str
) -> None:
    result = run(*FIT, "--model", "trees", *options)
    assert result.exit_code != 0
    assert message in result.stderr


def test_a_model_without_gaps_refuses_them_in_other_files(truth: Any, run: Run) -> None:
    full = [line for line in Path("people.csv").read_text().splitlines() if ",," not in line]
    Path("full.csv").write_text("\n".join(full) + "\n")
    ids = {line.split(",")[0] for line in full}
    lines = Path("answers.csv").read_text().splitlines()
    kept = [line for line in lines[1:] if ids.issuperset(line.split(",")[:2])]
    Path("answers.csv").write_text("\n".join([lines[0], *kept]) + "\n")
    assert run("fit", "full.csv", "answers.csv", "-o", "model.skops").exit_code == 0
    result = run("predict", "model.skops", "people.csv")
    assert result.exit_code != 0
    assert "the value is missing" in result.stderr
