"""Cells that no computation bears are named, whichever command reads them."""

from pathlib import Path

import pytest

from .conftest import Run, write_files

SU = ("--method", "su", "--prior", "0.7")


def put(folder: Path, row: int, cell: str) -> None:
    """Write a value into the column second."""
    path = folder / "rows.csv"
    lines = path.read_text().splitlines()
    lines[row + 1] = ",".join([*lines[row + 1].split(",")[:2], cell])
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("cell", ["1e200", "-1e150", "1.7976931348623157e308"])
@pytest.mark.parametrize(
    "command",
    [
        ("prior", "rows.csv", "pairs.csv"),
        ("fit", "rows.csv", "pairs.csv", "-o", "model.skops"),
        ("fit", "rows.csv", "pairs.csv", "-o", "model.skops", "--method", "su"),
        ("fit", "rows.csv", "pairs.csv", "-o", "model.skops", "--model", "trees"),
        ("report", "rows.csv", "pairs.csv"),
    ],
)
def test_a_cell_that_is_too_large_is_named(
    folder: Path, refuse: Run, command: tuple[str, ...], cell: str
) -> None:
    put(folder, 7, cell)
    sentence = refuse(*command)
    assert "rows.csv, column 'second', row with id 'r007'" in sentence
    assert f"{abs(float(cell)):g}" in sentence
    assert "too large" in sentence


@pytest.mark.usefixtures("model")
def test_a_row_to_predict_is_named_too(folder: Path, refuse: Run) -> None:
    put(folder, 7, "1e200")
    sentence = refuse("predict", "model.skops", "rows.csv")
    assert "rows.csv, column 'second', row with id 'r007'" in sentence
    sentence = refuse("report", "rows.csv", "pairs.csv", "--model", "model.skops")
    assert "rows.csv, column 'second', row with id 'r007'" in sentence


def test_a_column_that_is_too_small_is_named(folder: Path, refuse: Run) -> None:
    for row in range(300):
        put(folder, row, "-1e-200" if row % 2 else "1e-201")
    sentence = refuse("fit", "rows.csv", "pairs.csv", "-o", "model.skops")
    assert "rows.csv, column 'second': no value is farther from zero than 1e-200" in sentence


def test_cells_of_any_usual_size_will_do(folder: Path, succeed: Run) -> None:
    write_files(folder, n_rows=100, n_pairs=30)
    put(folder, 3, "1e100")
    succeed("fit", "rows.csv", "pairs.csv", "-o", "model.skops", *SU)
