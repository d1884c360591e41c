"""Classes of single rows that users know."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from likewise.statements.known import read_known


@pytest.mark.parametrize("known", [None, [None, None], [np.nan, None], [pd.NA, pd.NaT]])
def test_where_no_row_is_known_there_is_nothing(known: Any) -> None:
    assert read_known(known, 2, 2) is None


@pytest.mark.parametrize(
    "known",
    [
        ["b", None, "a", np.nan],
        np.array(["b", None, "a", pd.NA], dtype=object),
        pd.Series(["b", None, "a", None]),
        pd.Series(["b", pd.NA, "a", pd.NA], dtype="string"),
        pd.Categorical(["b", None, "a", None]),
        pl.Series(["b", None, "a", None]),
    ],
    ids=lambda known: type(known).__name__,
)
def test_names_are_sorted_and_rows_point_to_them(known: Any) -> None:
    found = read_known(known, 4, 2)
    assert found is not None
    assert found.classes.tolist() == ["a", "b"]
    np.testing.assert_array_equal(found.codes, [1, -1, 0, -1])


@pytest.mark.parametrize(
    ("known", "n_classes", "classes", "codes"),
    [
        ([7, None, 3], 2, [3, 7], [1, -1, 0]),
        ([-1, 1, None], 2, [-1, 1], [0, 1, -1]),
        (np.array([2.0, np.nan, 1.0]), 2, [1.0, 2.0], [1, -1, 0]),
        (pd.Series([2, pd.NA, 1], dtype="Int64"), 2, [1, 2], [1, -1, 0]),
        ([True, None, False], 2, [False, True], [1, -1, 0]),
        # Classes that no row is known of.
        ([4, None, 4], 3, [4, 5, 6], [0, -1, 0]),
        ([1.5, None, None], 2, [1.5, 2.0], [0, -1, -1]),
        ([True, None, None], 2, [False, True], [1, -1, -1]),
        ([False, None, None], 3, [0, 1, 2], [0, -1, -1]),
        (["cat", None, None], 2, ["cat", "other"], [0, -1, -1]),
        (["cat", None, None], 4, ["cat", "other", "other 2", "other 3"], [0, -1, -1]),
        (["other", None, "a"], 3, ["a", "other", "other 2"], [1, -1, 0]),
        (np.array([255, 255, 255], dtype=np.uint8), 2, [255, 256], [0, 0, 0]),
        ([2**60 + 1, None, None], 2, [2**60 + 1, 2**60 + 2], [0, -1, -1]),
    ],
)
def test_classes_are_named_and_missing_ones_completed(
    known: Any, n_classes: int, classes: list[Any], codes: list[int]
) -> None:
    found = read_known(known, 3, n_classes)
    assert found is not None
    assert found.classes.tolist() == classes
    assert [type(one) for one in found.classes.tolist()] == [type(one) for one in classes]
    np.testing.assert_array_equal(found.codes, codes)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([1, 2, None, 3], r"names 3 classes \(1, 2, 3\), but n_classes=2; pass n_classes=3"),
        ([1, None], "each of the 4 rows; got 2"),
        (["a", 1, None, None], "text beside numbers"),
        ([1, "a", None, None], "text beside numbers"),
        ([{"a": 1}, None, None, None], "one class name or number"),
        (np.zeros((4, 1)), "one class name or number"),
        (np.zeros((4, 2)), "one class name or number"),
    ],
)
def test_what_is_not_one_class_per_row_is_refused(known: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_known(known, 4, 2)
