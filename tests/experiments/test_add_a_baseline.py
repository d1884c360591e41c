"""The page on adding a method: its code runs, and the method has its column."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from likewise.experiments.methods import METHODS
from likewise.experiments.runner import read_records

PAGE = Path(__file__).resolve().parents[2] / "docs" / "add-a-baseline.md"

ADDED = """
from pathlib import Path

from likewise.experiments.benchmark import EXPERIMENT
from likewise.experiments.experiment import run
from likewise.experiments.methods import METHODS, Answer, Method


def all_alike(task):
    return Answer([1] * len(task.X_test), [1] * len(task.unlabeled))


METHODS["all-alike"] = Method("All alike", all_alike)
plan = EXPERIMENT.quick.changed(datasets=["gaussians"], methods=["all-alike"], trials=2)
print([record["status"] for record in run(EXPERIMENT, plan, Path("results"), jobs=2)[1]])
"""


@pytest.mark.slow
def test_a_method_of_one_s_own_script_reaches_the_other_processes(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(ADDED)
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['ok', 'ok']"


def test_the_code_of_the_page_runs_and_its_method_is_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(METHODS, "spectral", METHODS["km"])  # taken back at the end of the test
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, names)  # noqa: S102
    records = read_records(tmp_path / "results" / "records.jsonl")
    own = [record for record in records if record["method"] == "spectral"]
    assert [record["status"] for record in own] == ["ok", "ok"]
    assert {record["affinity"] for record in own} == {"rbf"}
    assert "('dataset', 'KM', 'Spectral')" in capsys.readouterr().out
