"""The paper's numbers, compared with its LaTeX source where that lies beside the repository."""

import re
from pathlib import Path

import pytest

from likewise.datasets import list_datasets
from likewise.experiments.published import PUBLISHED_METHODS, TABLE_4

REPOSITORY = Path(__file__).resolve().parents[2]


def latex_rows() -> dict[str, list[str]]:
    folders = [REPOSITORY / "shared" / "paper", REPOSITORY.parent / "shared" / "paper"]
    sources = [path for folder in folders if folder.is_dir() for path in folder.glob("*.txt")]
    if not sources:
        pytest.skip("needs the paper's LaTeX source in a folder shared/paper")
    text = sources[0].read_text(encoding="utf-8")
    table = text[text.index(r"\label{tab:benchmark}") :].split(r"\end{tabular}")[0]
    rows = [line.split("&") for line in table.splitlines()]
    return {row[0].strip(): row[2:] for row in rows if len(row) == 10 and "Dataset" not in row[0]}


def test_the_table_is_that_of_the_paper() -> None:
    rows = latex_rows()
    assert rows.keys() == {dataset for dataset, _ in TABLE_4}
    for dataset, cells in rows.items():
        for method, cell in zip(PUBLISHED_METHODS, cells, strict=True):
            found = TABLE_4[dataset, method]
            printed = re.search(r"[\d.]+ \([\d.]+\)", cell)
            assert printed is not None
            assert (str(found) if found else "0.0 (0.0)") == printed[0], (dataset, method)
            assert (found is not None and found.bold) == ("textbf" in cell), (dataset, method)


def test_the_table_has_a_row_for_each_of_the_twelve_sets() -> None:
    assert len(TABLE_4) == 12 * 8
    assert {dataset for dataset, _ in TABLE_4} == {info.name for info in list_datasets()}
    assert [key for key, cell in TABLE_4.items() if cell is None] == [("w8a", "seraph")]
