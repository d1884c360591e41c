"""The code on pages runs."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here

PAGES = Path(__file__).parents[2] / "docs"
WITH_A_TABLE = (
    "../README",
    "index",
    "statements",
    "asking",
    "guide/how-many-classes",
    "guide/how-many-pairs",
    "guide/named-classes",
    "guide/pairing",
    "guide/trust",
    "guide/weights",
    "guide/wrong-answers",
)
"""Pages whose code begins with a table, and with pairs of its rows."""


def run_blocks(page: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the blocks of Python on a page one after another; return their names."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    names = {"__name__": page, **(names or {})}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks, f"{page} has no code"
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # noqa: S102
    return names


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    """What pages take for granted: a table, pairs, a classifier, new rows."""
    rows, hidden = lw.datasets.make_gaussians(240, separation=4.0, random_state=0)
    table = pd.DataFrame(rows, columns=["height", "width"])
    pairs = np.random.default_rng(0).integers(240, size=(160, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    same, different = pairs[alike], pairs[~alike]
    X, y = lw.pack(table, similar=same, dissimilar=different)
    A, B = (rows[same[:, side]] for side in (0, 1))
    return {
        "lw": lw,
        "table": table,
        "same": same,
        "different": different,
        "X": X,
        "y": y,
        "clf": lw.PairClassifier(random_state=0).fit(X, y),
        "X_new": table.iloc[:20],
        "X_labeled": table,
        "y_labeled": hidden,
        "unlabeled": rows,
        "A": A,
        "B": B,
        "weights": np.linspace(0.5, 1.5, 240),
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_A_TABLE)
# One page asks for three classes of a table that has two, and says that `fit` warns.
@pytest.mark.filterwarnings("ignore:A class has almost no rows")
def test_the_code_on_a_page_runs_with_a_table_of_ones_own(
    page: str, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks(page, given).keys() > given.keys()


def test_the_code_on_big_data_runs_with_a_folder_of_rows(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    rows = given["table"].reset_index(names="id")
    pq.write_table(pa.Table.from_pandas(rows), tmp_path / "rows" / "part.parquet")
    said = {
        kind: pa.table({"left": given[kind][:, 0], "right": given[kind][:, 1]})
        for kind in ("same", "different")
    }
    pq.write_table(said["same"], tmp_path / "pairs.parquet")
    names = run_blocks("big-data", {"same": "pairs.parquet", "different": said["different"]})
    assert names["clf"].n_passes_ > 0


def test_losses_and_rewrites_of_ones_own_learn(given: dict[str, Any]) -> None:
    for page in ("add-a-loss", "add-a-rewrite"):
        clf = run_blocks(page)["clf"]
        accuracy = clf.fit(given["X"], given["y"]).score(given["table"], given["y_labeled"])
        assert max(accuracy, 1 - accuracy) > 0.9


@pytest.mark.parametrize("page", ["add-a-statement", "add-a-score", "add-an-engine", "any-model"])
def test_the_code_on_a_page_runs_and_learns(page: str) -> None:
    from likewise.search.settings import KINDS

    before = dict(KINDS)
    try:
        names = run_blocks(page)
    finally:
        KINDS.clear()
        KINDS.update(before)
    clf = names["clf"]
    if page == "add-an-engine":
        assert clf.score(names["points"], names["classes"]) > 0.8
        return
    agreement = ((clf.predict(names["table"]) > 0) == (names["truth"] == 1)).mean()
    assert max(agreement, 1 - agreement) > 0.75


def test_the_quick_start_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_blocks("quickstart")
    assert "accuracy" in capsys.readouterr().out
    assert names["accuracy"] > 0.85
    assert (tmp_path / "model.skops").exists()
