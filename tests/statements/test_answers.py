"""Frames of answers: left, right, relation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likewise as lw

TABLE = np.arange(12.0).reshape(6, 2)
ANSWERS = {
    "left": [0, 1, 2, 4],
    "right": [1, 2, 3, 5],
    "relation": ["same", "unsure", "different", "must-link"],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_answers_are_packed_as_the_two_kinds_of_pairs_they_hold(frame: type) -> None:
    X, y = lw.pack(TABLE, frame(ANSWERS))
    assert X is TABLE
    np.testing.assert_array_equal(y, lw.pack(TABLE, [(0, 1), (4, 5)], [(2, 3)])[1])


def test_answers_name_rows_by_index_labels() -> None:
    table = pd.DataFrame(TABLE, index=list("abcdef"))
    answers = pd.DataFrame({"left": ["a"], "right": ["f"], "relation": ["different"]})
    assert lw.pack(table, answers)[1].tolist() == [-1, 0, 0, 0, 0, -1]


def test_an_unknown_relation_is_named() -> None:
    answers = pd.DataFrame({**ANSWERS, "relation": ["same", "maybe", "same", "same"]})
    with pytest.raises(ValueError, match="Answer 1: the relation is 'maybe'"):
        lw.pack(TABLE, answers)


def test_answers_come_alone() -> None:
    with pytest.raises(ValueError, match="pass all pairs in it, or none"):
        lw.pack(TABLE, pd.DataFrame(ANSWERS), [(0, 5)])


def test_answers_of_which_none_is_sure_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="There are no pairs"):
        lw.pack(TABLE, pd.DataFrame({**ANSWERS, "relation": ["unsure"] * 4}))
