"""The examples of nets run, and say what they reach."""

import re
import runpy
from pathlib import Path

import pytest

from likewise.nets import PairNetClassifier

EXAMPLES = Path(__file__).parents[2] / "examples" / "nets"


def _right(name: str, capsys: pytest.CaptureFixture[str]) -> float:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    found = re.search(r"right: (0\.\d+|1\.0+)", capsys.readouterr().out)
    assert found is not None
    return float(found[1])


@pytest.mark.slow
def test_digits_are_learned_from_two_thousand_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert _right("digits", capsys) >= 0.93


@pytest.mark.slow
def test_the_digits_example_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = PairNetClassifier.__init__

    def shorter(self: PairNetClassifier, *args: object, **kwargs: object) -> None:
        whole(self, *args, **{**kwargs, "max_steps": 60, "restarts": 1, "moves": 0})  # type: ignore[arg-type]

    monkeypatch.setattr(PairNetClassifier, "__init__", shorter)
    assert _right("digits", capsys) > 0.5


def test_mnist_is_left_out_politely(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path))
    runpy.run_path(str(EXAMPLES / "mnist.py"), run_name="__main__")
    assert "LIKEWISE_DATA" in capsys.readouterr().out
