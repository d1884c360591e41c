"""Tables without one column of numbers."""

from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.parametrize("method", [("--method", "su", "--prior", "0.7", "--alpha", "0.1")])
def test_a_model_of_text_alone_predicts(
    folder: Path, succeed: Run, method: tuple[str, ...]
) -> None:
    words = ["red", "red", "blue", "green", "red", "blue"]
    rows = [f"{name},{word}" for name, word in zip("abcdef", words, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["id,colour", *rows]) + "\n")
    (folder / "pairs.csv").write_text("left,right\na,b\nc,f\na,e\n")
    succeed("fit", "rows.csv", "pairs.csv", *method, "-o", "model.skops")
    lines = succeed("predict", "model.skops", "rows.csv").stdout.splitlines()
    assert len(lines) == 7
