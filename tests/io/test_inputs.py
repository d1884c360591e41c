"""A table with statements about its rows: every value in memory once."""

from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.io import read_inputs

from .small_files import csv_file


def test_no_row_is_copied(tmp_path: Path) -> None:
    rows = csv_file(tmp_path, "id,a,b\n1,1,5\n2,2,6\n3,3,7\n")
    pairs = csv_file(tmp_path, "left,right,relation\n1,2,same\n2,3,different\n", "pairs.csv")
    inputs = read_inputs(rows, pairs, drop=["b"])
    X, y = lw.pack(inputs.X, **inputs.statements)
    assert X is inputs.X
    assert y.toarray().tolist() == [[1, 0], [1, -1], [0, -1]]
    assert not inputs.table.columns  # what is in X is not kept a second time
    assert (len(inputs.table), inputs.id_of(2)) == (3, "3")
    np.testing.assert_array_equal(X, [[1.0], [2.0], [3.0]])


def test_groups_are_statements_of_any_size(tmp_path: Path) -> None:
    rows = csv_file(tmp_path, "id,a\n1,1\n2,2\n3,3\n4,4\n")
    groups = csv_file(tmp_path, "id,group\n4,x\n1,y\n2,x\n1,x\n3,y\n2,x\n", "groups.csv")
    inputs = read_inputs(rows, groups)
    assert [members.tolist() for members in inputs.pairs.similar] == [[3, 1, 0], [0, 2]]
    assert inputs.pairs.are_groups
    assert inputs.counts()["groups"] == len(inputs.pairs) == 2
    assert lw.pack(inputs.X, **inputs.statements)[1].shape == (4, 2)


def test_statements_are_numbered_similar_ones_first(tmp_path: Path) -> None:
    rows = csv_file(tmp_path, "id,a\n1,1\n2,2\n3,3\n")
    text = "left,right,relation\n1,2,different\n2,3,same\n"
    pairs = read_inputs(rows, csv_file(tmp_path, text, "pairs.csv")).pairs
    found = [pairs.statement(number) for number in range(2)]
    assert [(members.tolist(), relation) for members, relation in found] == [
        ([1, 2], "same"),
        ([0, 1], "different"),
    ]


def test_a_text_that_no_model_could_hold_is_refused_before_anything_is_learned(
    tmp_path: Path,
) -> None:
    rows = csv_file(tmp_path, f"id,a,word\n1,1,red\n2,2,{'é' * 100_001}\n")
    pairs = csv_file(tmp_path, "left,right\n1,2\n", "pairs.csv")
    with pytest.raises(ValueError, match=r"'word', row with id '2': a text of 100,001 characters"):
        read_inputs(rows, pairs)
    assert read_inputs(rows, pairs, drop=["word"]).X.shape == (2, 1)
