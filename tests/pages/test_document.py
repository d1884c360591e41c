"""Documents refuse what no page could show rightly."""

import pytest

from likewise.pages.document import Cell, Section, Table


def test_a_cell_is_plain_unless_told_otherwise() -> None:
    cell = Cell("67.8")
    assert (cell.value, cell.bold, cell.note, cell.paper) == (None, False, None, None)


def test_a_cell_without_a_place_in_the_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'n/a' has the value NaN.*give it None"):
        Cell("n/a", value=float("nan"))


def test_an_infinite_value_has_its_place() -> None:
    assert Cell("never", value=float("inf")).value == float("inf")


@pytest.mark.parametrize("length", [1, 3])
def test_a_row_of_another_length_than_the_header_is_named(length: int) -> None:
    good, bad = (Cell("a"), Cell("b")), (Cell("c"),) * length
    with pytest.raises(ValueError, match=rf"Row 2 of the table 'T' has {length} cells.*has 2"):
        Table("T", ("x", "y"), (good, bad))


def test_a_table_without_columns_is_refused_and_one_without_rows_is_not() -> None:
    with pytest.raises(ValueError, match="'T' has no columns"):
        Table("T", (), ())
    assert Table("T", ("x",), ()).rows == ()


def test_a_section_may_be_words_alone() -> None:
    section = Section("Title", ("A sentence.",))
    assert (section.tables, section.pictures) == ((), ())
