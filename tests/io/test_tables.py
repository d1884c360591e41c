"""Tables: which files are read, what their ids are, and what is refused."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from likewise.io import choose_features, feature_matrix, read_table

from .small_files import csv_file, parquet_file


def test_the_id_column_is_the_one_called_id_or_else_the_first(tmp_path: Path) -> None:
    assert read_table(csv_file(tmp_path, "a,Id\n1,x\n")).id_column == "Id"
    assert read_table(csv_file(tmp_path, "key,b\nx,2\n")).id_column == "key"
    assert read_table(csv_file(tmp_path, "id,b\n1,2\n"), id_column="b").keys.to_pylist() == ["2"]


def test_ids_of_a_csv_file_stay_as_they_are_written(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, 'id,a\n007,1\n1.0,2\n 8,3\nNA,4\n"x, y",5\ntrue,6\n'))
    assert table.keys.to_pylist() == ["007", "1.0", " 8", "NA", "x, y", "true"]


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        ([1, 20], ["1", "20"]),
        ([1.0, 20.0], ["1", "20"]),
        ([1.5, 20.0], ["1.5", "20"]),
        (["01", "x"], ["01", "x"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    ],
)
def test_ids_of_a_parquet_file_are_compared_as_text(
    tmp_path: Path, ids: Any, keys: list[str]
) -> None:
    table = read_table(parquet_file(tmp_path, id=ids, a=[1.0, 2.0]))
    assert table.keys.to_pylist() == keys
    assert table.ids.to_pylist() == (ids if isinstance(ids, list) else ids.to_pylist())


def test_a_column_that_is_whole_at_first_and_broken_a_megabyte_later_is_read(
    tmp_path: Path,
) -> None:
    lines = [f"{i},{i}" for i in range(200_000)]
    table = read_table(csv_file(tmp_path, "\n".join(["id,a", *lines, "last,0.5"])))
    assert feature_matrix(table, choose_features(table))[-1, 0] == 0.5


def test_a_byte_order_mark_and_line_breaks_in_quotes_are_understood(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, '\ufeffid,word\n1,"two\nlines"\n2,é\n'))
    assert table.id_column == "id"
    assert feature_matrix(table, choose_features(table)).tolist() == [["two\nlines"], ["é"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "has no columns"),
        ("id,a\n", "no rows"),
        ("id,a\n1,2\n1,3\n2,3\n", r"1 id more than once.*'1'"),
        ("id,a\n1,2\n,3\n", r"row 2: the id \(column 'id'\) is missing"),
        ("id,a,b,a\n1,2,3,4\n", "more than one column called 'a'"),
        ("id,a\n1,2,3\n", "not a well-formed CSV file: .*Expected 2 columns, got 3"),
    ],
)
def test_a_bad_csv_file_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"rows\.csv.*{message}"):
        read_table(csv_file(tmp_path, text))


@pytest.mark.parametrize(
    "content",
    ["id,gr\xf6\xdfe\n1,2\n".encode("latin-1"), b"id,a\n\xff\xfe,2\n"],
)
def test_a_csv_file_that_is_not_utf8_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.csv") as caught:
        feature_matrix(table := read_table(path), choose_features(table))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("content", [b"PAR1 this is not Parquet PAR1", b"id,a\n1,2\n"])
def test_a_corrupt_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as a Parquet file"):
        read_table(path)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = parquet_file(tmp_path, id=list(range(1000)), a=list(range(1000)))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read"):
        read_table(path)


def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rows\.xlsx is neither a \.csv nor a \.parquet file"):
        read_table(csv_file(tmp_path, "id,a\n1,2\n", "rows.xlsx"))


def test_a_missing_file_is_a_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "rows.csv")


def test_a_table_of_many_columns_is_read_whole(tmp_path: Path) -> None:
    names = [f"column{k}" for k in range(60_000)]
    rows = [",".join(f"{0.1 * k + row:.15f}" for k in range(60_000)) for row in range(2)]
    lines = [f"id,{','.join(names)}", *(f"r{row},{cells}" for row, cells in enumerate(rows))]
    table = read_table(csv_file(tmp_path, "\n".join(lines)))
    matrix = feature_matrix(table, choose_features(table, drop=names[:30_000]))
    assert matrix.shape == (2, 30_000)
    assert matrix[1, 0] == pytest.approx(3001.0)


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, f"id,word\n1,{'x' * 3_000_000}\n2,y\n"))
    assert len(table.columns["word"][0].as_py()) == 3_000_000


def test_a_word_in_a_wide_table_is_text_all_the_same(tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(1500)]
    rows = [["1"] * 1500, ["2"] * 1499 + ["word"]]
    lines = [f"id,{','.join(names)}", *(f"{k},{','.join(row)}" for k, row in enumerate(rows))]
    table = read_table(csv_file(tmp_path, "\n".join(lines)))
    assert table.columns["c1499"].to_pylist() == ["1", "word"]
    assert table.columns["c0"].to_pylist() == [1, 2]


def test_a_file_whose_name_is_not_utf8_is_read(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a\n1,2\n", "rows-\udcff.csv"))
    assert feature_matrix(table, choose_features(table)).tolist() == [[2]]


@pytest.mark.parametrize(
    ("text", "id_column"),
    [
        ("id,\x1b[31m\n1,x\n2,\n", None),
        ("id,a\n\x1b[31m,1\n\x1b[31m,2\n", None),
        ("id,a\n1,1\n", "\x1b[31m"),
        ("\x1b[31m,a,a\n1,1,2\n", None),
        ("id,a\n1,\x1b[31m,3\n", None),
    ],
)
def test_messages_command_no_terminal(tmp_path: Path, text: str, id_column: str | None) -> None:
    path = csv_file(tmp_path, text, "rows-\x1b[32m.csv")
    with pytest.raises(ValueError, match="rows") as caught:
        feature_matrix(table := read_table(path, id_column=id_column), choose_features(table))
    assert str(caught.value).isprintable()


def test_of_many_columns_only_the_first_are_named(tmp_path: Path) -> None:
    names = ",".join(f"column{k}" for k in range(5000))
    path = csv_file(tmp_path, f"id,{names}\n1{',2' * 5000}\n")
    with pytest.raises(ValueError, match="'column7' and 4992 more") as caught:
        choose_features(read_table(path), keep=["nowhere"])
    assert len(str(caught.value)) < 500
