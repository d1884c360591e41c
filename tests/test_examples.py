"""The examples run, and say what they reach."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(("name", "least"), [("gaps", 0.83), ("text_embeddings", 0.8)])
def test_an_example_runs(name: str, least: float, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    found = re.search(r"right: (0\.\d+|1\.0+)", capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) > least
