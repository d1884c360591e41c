"""The page on adding a method: its code runs, and the method has its column."""

import re
from pathlib import Path

import pytest

from likewise.experiments.methods import METHODS
from likewise.experiments.runner import read_records

PAGE = Path(__file__).resolve().parents[2] / "docs" / "add-a-baseline.md"


def test_the_code_of_the_page_runs_and_its_method_is_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(METHODS, "spectral", METHODS["km"])  # taken back at the end of the test
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)  # noqa: S102
    records = read_records(tmp_path / "results" / "records.jsonl")
    own = [record for record in records if record["method"] == "spectral"]
    assert [record["status"] for record in own] == ["ok", "ok"]
    assert {record["affinity"] for record in own} == {"rbf"}
    assert "('dataset', 'KM', 'Spectral')" in capsys.readouterr().out
