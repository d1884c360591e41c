"""A report as Markdown."""

from pathlib import Path

import pytest

from likewise.experiments.markdown import write_markdown
from likewise.pages.document import Cell, Picture, Section, Table

TABLE = Table(
    "Accuracy | percent",
    ("dataset", "ours"),
    (
        (Cell("a_b"), Cell("81.0", 81.0, bold=True, paper="80.1")),
        (Cell("c"), Cell("failed", note="the pool is <too> small")),
    ),
)


def written(folder: Path, *sections: Section) -> str:
    write_markdown(folder / "tables.md", "Title", sections, {"trials": "20"})
    return (folder / "tables.md").read_text(encoding="utf-8")


def test_tables_have_bold_cells_the_paper_s_numbers_and_notes(tmp_path: Path) -> None:
    text = written(tmp_path, Section("Accuracy", ("A sentence.",), (TABLE,)))
    assert text.startswith("# Title\n\n- trials: 20\n\n## Accuracy\n\nA sentence.\n")
    assert "**Accuracy \\| percent**" in text
    assert "| dataset | ours |\n| --- | ---: |\n" in text
    assert "| a\\_b | **81.0** [80.1] |" in text
    assert "| c | failed (1) |" in text
    assert "(1) the pool is \\<too\\> small" in text


def test_pictures_lie_beside_the_text(tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    picture = Picture("What is seen.", lambda: figure.Figure(figsize=(1, 1)))
    text = written(tmp_path, Section("Class prior (Figure 4)", (), (), (picture,)))
    assert "![What is seen.](figures/class-prior-figure-4-1.png)" in text
    made = (tmp_path / "figures" / "class-prior-figure-4-1.png").read_bytes()
    assert made.startswith(b"\x89PNG")
