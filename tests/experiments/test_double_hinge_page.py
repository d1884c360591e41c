"""How like the paper's column others are, and the table of it."""

import json
from pathlib import Path

import pytest

from likewise.experiments.double_hinge_page import explained, likeness, tried
from likewise.experiments.published import TABLE_4

PRINTED = {
    name: cell.accuracy
    for (name, method), cell in TABLE_4.items()
    if method == "su-double-hinge" and cell is not None
}


def test_the_column_itself_is_like_itself() -> None:
    found = likeness(PRINTED)
    assert found["mean"] == pytest.approx(77.6, abs=0.05)
    assert (found["apart"], found["near"]) == (0.0, 12)
    assert found["correlation"] == pytest.approx(1.0)


def test_the_table_has_a_line_for_every_change() -> None:
    accuracies = {
        name: {"as it is": [value / 100, value / 100], "worse": [value / 100 - 0.05]}
        for name, value in PRINTED.items()
    }
    lines = tried({"accuracies": accuracies}).split("\n")
    assert lines[3] == "| as it is | 77.6 | 0.0 | 1.00 | 12 of 12 |"
    assert lines[4] == "| worse | 72.6 | 5.0 | 1.00 | 0 of 12 |"


def test_the_nearest_of_all_changes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    assert explained(path).startswith("We do not know")
    accuracies = {
        name: {
            "ours": [value / 100 - 0.05] * 2,
            "another prior": [value / 100 - 0.04] * 2,
            "the last iterate": [value / 100 - 0.01, value / 100 + 0.03],
        }
        for name, value in PRINTED.items()
    }
    path.write_text(json.dumps({"trials": 2, "accuracies": accuracies}), encoding="utf-8")
    words = explained(path)
    assert "the last iterate comes nearest to it: 1.0 points apart" in words
    assert "our own column is 5.0 apart" in words
    assert "whose mean is 2.0 apart from that of many by chance" in words
