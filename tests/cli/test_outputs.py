"""Where commands write: never over what they read, and to a pipe as to a file."""

import os
from pathlib import Path

import pytest

from .conftest import Run

FIT = ("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("fit rows.csv pairs.csv", "rows.csv"),
        ("fit rows.csv pairs.csv", "pairs.csv"),
        ("fit rows.csv pairs.csv --method su", "./rows.csv"),
        ("predict model.skops rows.csv", "rows.csv"),
        ("predict model.skops rows.csv", "model.skops"),
        ("report rows.csv pairs.csv", "rows.csv"),
        ("report rows.csv pairs.csv", "pairs.csv"),
        ("report rows.csv pairs.csv --model model.skops", "model.skops"),
        ("report rows.csv pairs.csv --model model.html --new-pairs", "model.html"),
    ],
)
def test_an_output_that_is_an_input_is_refused_before_any_work(
    folder: Path, refuse: Run, command: str, output: str
) -> None:
    for name in ("model.skops", "model.html"):
        (folder / name).write_text("no model: whoever reads this has begun to work")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    sentence = refuse(*command.split(), "-o", output)
    assert f"The output {Path(output)} would overwrite the input {Path(output)}" in sentence
    assert "name another file for the output" in sentence
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_link_to_an_input_is_refused(folder: Path, refuse: Run) -> None:
    (folder / "link.csv").symlink_to("rows.csv")
    assert "link.csv would overwrite the input rows.csv" in refuse(*FIT, "-o", "link.csv")


def test_a_folder_of_rows_takes_no_model(folder: Path, refuse: Run) -> None:
    (folder / "rows").mkdir()
    sentence = refuse("fit", "rows", "pairs.csv", "--engine", "parquet", "-o", "rows/model.skops")
    assert "in the input folder rows" in sentence


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_predictions_can_go_to_a_pipe(model: Path, succeed: Run) -> None:
    expected = succeed("predict", "model.skops", "rows.csv").stdout
    os.mkfifo("pipe.csv")
    end = os.open("pipe.csv", os.O_RDONLY | os.O_NONBLOCK)
    try:
        succeed("predict", "model.skops", "rows.csv", "-o", "pipe.csv")
        assert os.read(end, 1 << 16).decode() == expected
    finally:
        os.close(end)
    assert Path("pipe.csv").is_fifo()


def test_a_private_model_stays_private(model: Path, succeed: Run) -> None:
    model.chmod(0o600)
    old = model.read_bytes()
    succeed(*FIT, "--alpha", "0.5", "-o", "model.skops")
    assert model.read_bytes() != old
    assert model.stat().st_mode & 0o077 == 0
