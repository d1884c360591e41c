"""Tables with gaps and categories as numbers."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from likewise.scores.encoding import (
    CategoryNumbers,
    as_numbers,
    gradient_boosting,
    is_finite_table,
)

COLUMNS: dict[str, list[Any]] = {
    "size": [1.0, None, 3.0, 5.0],
    "colour": ["red", "blue", None, "red"],
    "kind": ["a", "b", "c", "a"],
    "flag": [True, False, True, True],
}


def as_objects() -> Any:
    found = np.empty((4, 4), dtype=object)
    for j, column in enumerate(COLUMNS.values()):
        found[:, j] = column
    return found


@pytest.mark.parametrize("table", [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), as_objects()])
def test_every_kind_of_table_gives_the_same_numbers(table: Any) -> None:
    found = CategoryNumbers().fit(table).transform(table)
    expected = [
        [1.0, 0.0, 1, 0, 0, 1],
        [np.nan, 1.0, 0, 1, 0, 0],
        [3.0, np.nan, 0, 0, 1, 1],
        [5.0, 0.0, 1, 0, 0, 1],
    ]
    np.testing.assert_array_equal(found, expected)
    finite = as_numbers(table)
    assert np.isfinite(finite).all()
    np.testing.assert_array_equal(finite[:, 0], [1.0, 3.0, 3.0, 5.0])  # the median
    np.testing.assert_array_equal(finite[:, 1], [0.0, 1.0, 0.0, 0.0])  # where it is missing


def test_categories_that_were_not_seen_are_gaps() -> None:
    encoder = CategoryNumbers().fit(pd.DataFrame({"c": ["a", "b", "a"]}))
    found = encoder.transform(pd.DataFrame({"c": ["b", "z", None]}))
    np.testing.assert_array_equal(found, [[1.0], [np.nan], [np.nan]])


def test_many_categories_become_one_column_by_frequency() -> None:
    names = [f"n{i}" for i in range(30) for _ in range(30 - i)]
    found = CategoryNumbers().fit_transform(pd.DataFrame({"c": names}))
    np.testing.assert_array_equal(found[:, 0], [i for i in range(30) for _ in range(30 - i)])


def test_pandas_categories_and_nullable_numbers_are_read() -> None:
    table = pd.DataFrame(
        {
            "c": pd.Categorical(["x", None, "y"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    found = CategoryNumbers().fit_transform(table)
    np.testing.assert_array_equal(found, [[0.0, 1.0], [np.nan, np.nan], [1.0, 3.0]])


def test_other_columns_than_fitted_are_refused() -> None:
    encoder = CategoryNumbers().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="3 columns, but 2 were fitted"):
        encoder.transform(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="A column of numbers holds 'a'"):
        encoder.transform(np.array([[1.0, "a"]], dtype=object))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (np.zeros((2, 2)), True),
        (np.array([[0.0, np.nan]]), False),
        (np.array([[0.0, np.inf]]), False),
        (sp.csr_array(np.eye(3)), True),
        (pd.DataFrame({"a": [1, 2], "b": [True, False]}), True),
        (pd.DataFrame({"a": ["x", "y"]}), False),
        (np.array(["x", "y"]), False),
    ],
)
def test_finite_tables_are_told_from_others(table: Any, expected: bool) -> None:
    assert is_finite_table(table) is expected


def test_infinite_and_empty_tables_are_errors() -> None:
    with pytest.raises(ValueError, match="Column 1 of X holds infinite values"):
        as_numbers(np.array([[np.nan, np.inf]]))
    with pytest.raises(ValueError, match="no value at all"):
        as_numbers(np.full((3, 2), np.nan))


def test_gradient_boosting_learns_from_text_and_gaps() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame({"colour": np.where(y, "red", "blue"), "noise": rng.normal(size=200)})
    table = table.mask(rng.random(table.shape) < 0.1)
    assert gradient_boosting(0).fit(table, y).score(table, y) > 0.9
