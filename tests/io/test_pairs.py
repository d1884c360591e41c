"""Files of pairs: what they mean, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.io import read_pairs, read_table

from .small_files import csv_file, parquet_file


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return read_table(csv_file(tmp_path, "id,a\n01,1\n2,2\nx,3\n"))


def test_pairs_are_row_numbers_of_the_table(tmp_path: Path, table: Any) -> None:
    pairs = read_pairs(csv_file(tmp_path, "Right, left\n01,x\nx,2\n", "pairs.csv"), table)
    assert np.asarray(pairs.similar).tolist() == [[2, 0], [1, 2]]
    assert pairs.dissimilar.shape == (0, 2)


@pytest.mark.parametrize("same", ["same", "SIMILAR", "must-link", "Must_Link", "must link"])
@pytest.mark.parametrize("different", ["different", "Dissimilar", "cannot-link", "CANNOT LINK"])
def test_relations_have_many_names(tmp_path: Path, table: Any, same: str, different: str) -> None:
    text = f"left,right,relation\n01,2,{same}\n2,x,{different}\n"
    pairs = read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)
    assert np.asarray(pairs.similar).tolist() == [[0, 1]]
    assert pairs.dissimilar.tolist() == [[1, 2]]


def test_whole_numbers_of_parquet_match_the_text_of_csv(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a\n1,1\n2,2\n"))
    pairs = read_pairs(parquet_file(tmp_path, "pairs.parquet", left=[2], right=[1]), table)
    assert np.asarray(pairs.similar).tolist() == [[1, 0]]


def test_unknown_ids_are_counted_and_the_first_three_named(tmp_path: Path, table: Any) -> None:
    text = "left,right\n1,2\n01,2\na,b\nc,d\nd,2\n"
    with pytest.raises(ValueError, match=r"pairs\.csv names 5 ids not found in .*rows\.csv") as got:
        read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)
    assert "'1' (row 1), 'a' (row 3), 'b' (row 3)." in str(got.value)
    assert "'c'" not in str(got.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left,right\n2,x\n2,2\n", "row 2: '2' is paired with itself"),
        ("left,right\n", "no pairs"),
        ("left,right\n2,\n", r"1 id not found.*'' \(row 1\)"),
        ("a,b\n2,x\n", "no column 'left', 'right'.*'a', 'b'"),
        ("left,right,relation\n2,x,same\n2,01,friends\n", "row 2: the relation is 'friends'"),
        ("left,right,relation\n2,x,\n", "row 1: the relation is ''"),
        ("left,Left,right\n2,01,x\n", "two columns that mean left, 'left', 'Left'"),
        ("left, RIGHT ,right\n2,01,x\n", "two columns that mean right, ' RIGHT ', 'right'"),
    ],
)
def test_bad_pairs_are_refused_by_name(tmp_path: Path, table: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"pairs\.csv.*{message}"):
        read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)


def test_a_repeated_pair_counts_twice(tmp_path: Path, table: Any) -> None:
    pairs = read_pairs(csv_file(tmp_path, "left,right\n2,x\nx,2\n", "pairs.csv"), table)
    assert np.asarray(pairs.similar).tolist() == [[1, 2], [2, 1]]


def test_columns_that_mean_nothing_may_hold_anything(tmp_path: Path, table: Any) -> None:
    path = parquet_file(tmp_path, "pairs.parquet", left=["2"], right=["x"], note=[[1]], Note=[[2]])
    assert np.asarray(read_pairs(path, table).similar).tolist() == [[1, 2]]


def test_a_folder_of_pairs_is_read_whole(tmp_path: Path, table: Any) -> None:
    folder = tmp_path / "pairs"
    folder.mkdir()
    parquet_file(folder, "1.parquet", left=["2"], right=["x"])
    parquet_file(folder, "2.parquet", left=["x"], right=["01"])
    assert np.asarray(read_pairs(folder, table).similar).tolist() == [[1, 2], [2, 0]]


def test_ids_that_would_command_a_terminal_are_shown_escaped(tmp_path: Path, table: Any) -> None:
    with pytest.raises(ValueError, match="names 1 id not found") as caught:
        read_pairs(csv_file(tmp_path, "left,right\n2,\x1b[31m\n", "pairs.csv"), table)
    assert str(caught.value).isprintable()
