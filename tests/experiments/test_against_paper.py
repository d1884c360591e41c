"""Our columns against the paper's."""

import pytest

from likewise.experiments.against_paper import compare_with_paper
from likewise.experiments.published import PUBLISHED_METHODS, TABLE_4

from .made_up import benchmark_records


def test_averages_and_clear_differences_are_counted() -> None:
    """Waveform ten points above the paper, banana as printed."""
    waveform, banana = TABLE_4["waveform", "km"], TABLE_4["banana", "km"]
    assert waveform is not None
    assert banana is not None
    wobble = (-0.01, 0.0, 0.01)
    records = benchmark_records(
        {
            ("waveform", "km"): [waveform.accuracy / 100 + 0.1 + w for w in wobble],
            ("banana", "km"): [banana.accuracy / 100 + w for w in wobble],
        }
    )
    (section,) = compare_with_paper(records)
    (row,) = section.tables[0].rows
    mean = (waveform.accuracy + banana.accuracy) / 2
    assert [cell.value for cell in row[1:4]] == pytest.approx([mean + 5, mean, 5.0])
    assert [cell.text for cell in row[4:7]] == ["1", "1", "0"]


def test_every_published_column_has_its_reason_and_ours_have_no_row() -> None:
    names = [*PUBLISHED_METHODS, "pair-likelihood"]
    records = benchmark_records({("banana", name): [0.6, 0.7] for name in names})
    rows = compare_with_paper(records)[0].tables[0].rows
    assert len(rows) == len(PUBLISHED_METHODS)
    assert all(row[-1].text for row in rows)


def test_a_cell_that_the_paper_lacks_is_left_out() -> None:
    assert compare_with_paper(benchmark_records({("w8a", "seraph"): [0.7, 0.72]})) == []
