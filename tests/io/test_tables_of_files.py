"""Folders of Parquet files as one table: what files must agree on, and what becomes of it."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from likewise.io import choose_features, feature_matrix, read_inputs, read_pairs, read_table

from .small_files import csv_file, parquet_file


def folder_of(folder: Path, *files: dict[str, Any]) -> Path:
    """Write files of columns into a folder, each with ids of its own."""
    rows = folder / "rows"
    rows.mkdir()
    for number, columns in enumerate(files):
        n_rows = len(next(iter(columns.values())))
        ids = {"id": [f"{number}{row}" for row in range(n_rows)]}
        pa.parquet.write_table(pa.table({**ids, **columns}), rows / f"part-{number}.parquet")
    return rows


def matrix_of(path: Path, **choice: Any) -> list[list[float]]:
    table = read_table(path)
    found: list[list[float]] = feature_matrix(table, choose_features(table, **choice)).tolist()
    return found


def test_files_are_one_table_after_the_other(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"a": [1.5], "b": [1]}, {"b": [2, 3], "a": [2.5, 3.5]})
    assert read_table(rows).keys.to_pylist() == ["00", "10", "11"]
    assert matrix_of(rows) == [[1.5, 1], [2.5, 2], [3.5, 3]]
    pairs = parquet_file(tmp_path, "pairs.parquet", left=["00"], right=["11"])
    assert read_inputs(rows, pairs).pairs.similar[0].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("one", "other", "wide"),
    [
        (pa.int8(), pa.int64(), pa.int64()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.float16(), pa.float32(), pa.float32()),
        (pa.uint8(), pa.int8(), pa.int64()),
        (pa.uint64(), pa.int64(), pa.float64()),
        (pa.decimal128(9, 2), pa.int32(), pa.float64()),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.large_string()),
        (pa.null(), pa.int32(), pa.int32()),
        (pa.bool_(), pa.bool_(), pa.bool_()),
    ],
)
def test_types_widen_to_one_that_holds_both(
    tmp_path: Path, one: Any, other: Any, wide: Any
) -> None:
    files = [{"a": pa.nulls(1, kind)} for kind in (one, other, one)]
    assert read_table(folder_of(tmp_path, *files)).columns["a"].type == wide


def test_no_digit_is_lost_where_whole_numbers_widen(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"a": pa.array([7], pa.int32())}, {"a": [2**62 + 1]})
    assert read_table(rows).columns["a"].to_pylist() == [7, 2**62 + 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [([True], [2]), ([2], [True]), (["x"], [2]), ([[1]], [2]), ([{"k": 1}], [{"j": 1}])],
)
def test_other_types_are_refused_by_file_and_column(tmp_path: Path, one: Any, other: Any) -> None:
    rows = folder_of(tmp_path, {"a": [1], "b": one}, {"a": [2], "b": other})
    with pytest.raises(ValueError, match=r"part-1\.parquet, column 'b': values of .*part-0\.parq"):
        matrix_of(rows)
    assert matrix_of(rows, keep=["a"]) == [[1], [2]]
    assert matrix_of(rows, drop=["b"]) == [[1], [2]]


def test_a_column_that_is_not_in_all_files_is_refused_unless_it_is_left_out(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"a": [1]}, {"a": [2], "b": [5]}, {"a": [3], "b": [5]})
    with pytest.raises(ValueError, match=r"part-0\.parquet has no column 'b', which .*part-1\.pa"):
        matrix_of(rows)
    assert matrix_of(rows, drop=["b"]) == [[1], [2], [3]]


def test_files_without_rows_have_no_say(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"z": pa.array([], pa.string())}, {"a": [1]}, {"a": []})
    assert matrix_of(rows) == [[1]]
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="has column names but no rows"):
        read_table(folder_of(tmp_path / "none", {"a": []}, {"a": []}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty is a folder without Parquet files"):
        read_table(tmp_path / "empty")


def test_a_file_with_a_name_twice_is_named(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"a": [1]})
    twice = pa.Table.from_arrays([pa.array(["x"]), pa.array([1]), pa.array([2])], ["id", "a", "a"])
    pa.parquet.write_table(twice, rows / "twice.parquet")
    with pytest.raises(ValueError, match=r"twice\.parquet has more than one column called 'a'"):
        read_table(rows)


class TestIds:
    """Ids of any type are compared as text."""

    @pytest.mark.parametrize(
        ("kinds", "keys"),
        [
            ((pa.int32(), pa.int64()), ["1", "20", "1000000", "3"]),
            ((pa.int64(), pa.float64()), ["1", "20", "1000000", "3"]),
            ((pa.float32(), pa.uint64()), ["1", "20", "1000000", "3"]),
            ((pa.decimal128(30, 2), pa.int8()), ["1", "20", "1000000", "3"]),
        ],
    )
    def test_whole_numbers_are_written_without_a_point(
        self, tmp_path: Path, kinds: Any, keys: list[str]
    ) -> None:
        first = pa.array([1, 20, 1_000_000]).cast(kinds[0], safe=False)
        second = pa.array([3]).cast(kinds[1])
        rows = folder_of(tmp_path, {"id": first, "a": [1, 2, 3]}, {"id": second, "a": [4]})
        table = read_table(rows)
        assert table.keys.to_pylist() == keys
        pairs = csv_file(tmp_path, "left,right\n1,20\n1000000,3\n", "pairs.csv")
        assert read_pairs(pairs, table).similar[1].tolist() == [2, 3]

    def test_large_and_broken_numbers_do_not_change_how_others_are_written(
        self, tmp_path: Path
    ) -> None:
        ids = [7e15, 0.5, 1e20, 3.0]
        table = read_table(parquet_file(tmp_path, id=ids, a=[1, 2, 3, 4]))
        assert table.keys.to_pylist() == ["7000000000000000", "0.5", "1e+20", "3"]

    def test_leading_zeros_count(self, tmp_path: Path) -> None:
        table = read_table(parquet_file(tmp_path, id=[7, 8], a=[1, 2]))
        with pytest.raises(ValueError, match=r"1 id not found .*'007' \(row 1\)"):
            read_pairs(csv_file(tmp_path, "left,right\n007,8\n", "pairs.csv"), table)

    def test_categories_are_ids(self, tmp_path: Path) -> None:
        ids = pa.array(["x", "y"]).dictionary_encode()
        table = read_table(parquet_file(tmp_path, id=ids, a=[1, 2]))
        pairs = parquet_file(tmp_path, "pairs.parquet", left=ids[:1], right=ids[1:])
        assert read_pairs(pairs, table).similar[0].tolist() == [0, 1]

    def test_a_number_that_is_none_is_a_missing_id(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"row 2: the id \(column 'id'\) is missing"):
            read_table(parquet_file(tmp_path, id=[1.0, float("nan")], a=[1, 2]))

    @pytest.mark.parametrize("ids", [[[1], [2]], [{"k": 1}, {"k": 2}]])
    def test_lists_are_no_ids(self, tmp_path: Path, ids: Any) -> None:
        with pytest.raises(ValueError, match=r"rows\.parquet, column 'id': values of type .* ids"):
            read_table(parquet_file(tmp_path, id=pa.array(ids), a=[1, 2]))

    def test_text_and_numbers_are_not_mixed(self, tmp_path: Path) -> None:
        rows = folder_of(tmp_path, {"id": ["7"], "a": [1]}, {"id": [8], "a": [1]})
        with pytest.raises(
            ValueError, match=r"part-1\.parquet, column 'id': .* they are of type t"
        ):
            read_table(rows)


def test_a_name_that_is_not_utf8_is_one_sentence(tmp_path: Path) -> None:
    rows = folder_of(tmp_path, {"a": [1]})
    (rows / "part-0.parquet").rename(rows / "part-\udcff.parquet")
    with pytest.raises(ValueError, match="not UTF-8") as caught:
        read_table(rows)
    assert str(caught.value).isprintable()
    with pytest.raises(ValueError, match=r"\\udcff") as caught:
        read_table(rows / "part-\udcff.parquet")
    assert str(caught.value).isprintable()


def test_a_damaged_name_of_a_column_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({"id": ["a"], "zqzq": [1.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zqzq", b"\xe3qzq"))
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read: a name in it"):
        read_table(path)
