"""Files of known classes: one class or None per row of a table."""

from pathlib import Path
from typing import Any

import pytest

from likewise.io import read_known, read_table

from .small_files import csv_file, parquet_file


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return read_table(csv_file(tmp_path, "id,a\n01,1\n2,2\nx,3\n"))


def test_classes_stand_at_their_rows(tmp_path: Path, table: Any) -> None:
    known = read_known(csv_file(tmp_path, "Class, ID\nspam,x\nham,01\n", "known.csv"), table)
    assert known == ["ham", None, "spam"]


def test_an_id_may_be_repeated_with_its_class(tmp_path: Path, table: Any) -> None:
    known = read_known(csv_file(tmp_path, "id,class\n2,a\n2,a\n", "known.csv"), table)
    assert known == [None, "a", None]


def test_numbers_of_parquet_are_names_too(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a\n1,1\n2,2\n"))
    path = parquet_file(tmp_path, "known.parquet", **{"id": [2], "class": [7]})
    assert read_known(path, table) == [None, "7"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,class\n", "no rows"),
        ("key,class\n2,a\n", "no column 'id'.*'key', 'class'"),
        ("id,class\n3,a\n", r"1 id not found.*'3' \(row 1\)"),
        (
            "id,class\n2,a\n01,b\n2,b\n",
            r"'2' both that it is 'a' and that it is 'b' \(rows 1 and 3\)",
        ),
        ("id,class\n2, \n", "row 1: the class is missing"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, table: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"known\.csv.*{message}"):
        read_known(csv_file(tmp_path, text, "known.csv"), table)
