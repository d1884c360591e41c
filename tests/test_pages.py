"""The pages that show how to extend the library say what runs."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGES = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["add-a-statement", "add-a-score", "add-an-engine", "any-model"])
def test_the_code_on_a_page_runs_and_learns(page: str) -> None:
    from likewise.search.settings import KINDS

    before = dict(KINDS)
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {"__name__": page}
    try:
        for block in blocks:
            exec(compile(block, page, "exec"), names)  # noqa: S102
    finally:
        KINDS.clear()
        KINDS.update(before)
    clf = names["clf"]
    if page == "add-an-engine":
        assert clf.score(names["points"], names["classes"]) > 0.8
        return
    agreement = ((clf.predict(names["table"]) > 0) == (names["truth"] == 1)).mean()
    assert max(agreement, 1 - agreement) > 0.75
