"""Features: which columns are learned from, and what may stand in them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from likewise.io import Features, choose_features, feature_matrix, read_table

from .small_files import csv_file, parquet_file


def test_numbers_booleans_and_text_become_features(tmp_path: Path) -> None:
    path = parquet_file(
        tmp_path,
        id=[1, 2],
        whole=pa.array([3, 4], pa.uint8()),
        exact=[Decimal("0.5"), Decimal("1.5")],
        flag=[True, False],
        word=pa.array(["x", "y"]).dictionary_encode(),
    )
    table = read_table(path)
    features = choose_features(table)
    assert features == Features(("whole", "exact", "flag", "word"), frozenset({"word"}))
    assert feature_matrix(table, features).tolist() == [[3, 0.5, 1, "x"], [4, 1.5, 0, "y"]]
    numbers = feature_matrix(table, choose_features(table, drop=["word"]))
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [[3, 0.5, 1], [4, 1.5, 0]]


def test_chosen_columns_keep_the_order_they_were_asked_for(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a,b,c\n1,2,3,4\n"))
    assert choose_features(table, keep=["c", "a", "c"]).names == ("c", "a")


def test_numbers_kept_as_text_are_numbers_where_numbers_are_expected(tmp_path: Path) -> None:
    table = read_table(parquet_file(tmp_path, id=[1, 2], a=[" 1.5", "-2e3"]))
    assert feature_matrix(table, Features(("a",))).tolist() == [[1.5], [-2000.0]]


def test_numbers_are_text_where_text_is_expected(tmp_path: Path) -> None:
    table = read_table(parquet_file(tmp_path, id=[1, 2], a=[1.0, 2.0]))
    assert feature_matrix(table, Features(("a",), frozenset({"a"}))).tolist() == [["1"], ["2"]]


def test_a_stray_word_in_a_column_of_numbers_is_warned_of(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i},{'x' if i % 2 else i}" for i in range(30))
    table = read_table(csv_file(tmp_path, f"id,a,code\n{rows}\nlast,?,y\n"))
    with pytest.warns(UserWarning, match=r"'a', row with id 'last': '\?' among numbers") as caught:
        choose_features(table)
    assert len(caught) == 1


def test_text_that_is_not_utf8_is_refused_as_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    many = "\n".join(f"{i},word" for i in range(5000))
    path.write_bytes(f"id,word\n{many}\nlast,gr\xfcn\n".encode("latin-1"))
    table = read_table(path)
    with pytest.raises(ValueError, match=r"column 'word': values of type binary"):
        feature_matrix(table, choose_features(table))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, None, None], "row with id 'k2': the value is missing .*2 missing values"),
        ([1.0, np.nan, 2.0], "row with id 'k2': the value is missing .*1 missing value"),
        ([1.0, 2.0, -np.inf], "row with id 'k3': the value is infinite"),
        (["x", "", "y"], "row with id 'k2': the value is missing"),
        ([None, None, None], "row with id 'k1': the value is missing"),
        ([[1], [2], [3]], "values of type list.* are neither numbers nor text"),
    ],
)
def test_a_gap_in_a_feature_is_named(tmp_path: Path, values: list[Any], message: str) -> None:
    table = read_table(parquet_file(tmp_path, id=["k1", "k2", "k3"], a=pa.array(values)))
    with pytest.raises(ValueError, match=rf"rows\.parquet, column 'a'.*{message}"):
        feature_matrix(table, choose_features(table))


def test_columns_that_are_left_out_may_hold_anything(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a,day,gap\n1,2,2024-01-01,\n2,3,,5\n"))
    assert feature_matrix(table, choose_features(table, keep=["a"])).tolist() == [[2], [3]]


def filtered_frame(folder: Path) -> Path:
    """Write a frame of which only some rows are left: pandas then saves its row numbers too."""
    frame = pd.DataFrame({"id": list("abcd"), "x": [3.0, 0.0, 1.0, 2.0]})
    path = folder / "rows.parquet"
    frame[frame["x"] > 0].to_parquet(path)
    assert "__index_level_0__" in pa.parquet.read_schema(path).names
    return path


def test_an_index_that_pandas_saved_without_a_name_is_no_feature(tmp_path: Path) -> None:
    table = read_table(filtered_frame(tmp_path))
    assert choose_features(table).names == ("x",)
    assert choose_features(table, drop=["__index_level_0__"]).names == ("x",)


def test_such_an_index_can_be_asked_for_by_its_name(tmp_path: Path) -> None:
    path = filtered_frame(tmp_path)
    names = ("x", "__index_level_0__")
    assert choose_features(read_table(path), keep=names).names == names
    assert read_table(path, id_column="__index_level_0__").keys.to_pylist() == ["0", "2", "3"]
