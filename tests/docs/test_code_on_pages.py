"""The code on pages runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.candidates import no_class_more  # noqa: F401 - used by all tests here

PAGES = Path(__file__).parents[2] / "docs"


def run_blocks(page: str) -> dict[str, Any]:
    """Run the blocks of Python on a page one after another; return their names."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, page, "exec"), names)  # noqa: S102
    return names


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
