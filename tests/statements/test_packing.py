"""A table and statements about its rows, in and out."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.statements.labels import TableLabels, read_labels
from tests.statements.told import told

U = np.arange(12.0).reshape(6, 2)
A = np.array([[100.0, 101.0], [102.0, 103.0]])
B = np.array([[200.0, 201.0], [202.0, 203.0]])
FRAME = pd.DataFrame(U, columns=["age", "income"], index=list("abcdef"))


def packed(*statements: Any, table: Any = U, **others: Any) -> np.ndarray:
    """Labels of similar statements, as an array."""
    y = lw.pack(table, similar=list(statements) or None, **others)[1]
    return np.asarray(y.toarray() if sp.issparse(y) else y)


# --- one table --------------------------------------------------------------------------------


def test_named_rows_are_not_copied() -> None:
    X, y = lw.pack(U, similar=[(0, 5), (2, 3)])
    assert X is U
    assert isinstance(y, TableLabels)
    np.testing.assert_array_equal(y, [1, 0, 2, 2, 0, 1])


def test_a_group_is_one_code_on_several_rows() -> None:
    np.testing.assert_array_equal(packed((4, 0, 2), (1, 3)), [1, 2, 1, 2, 1, 0])
    np.testing.assert_array_equal(
        packed((0, 1), dissimilar=[(2, 3), (4, 5)]), [1, 1, -1, -1, -2, -2]
    )


def test_rows_in_several_statements_make_a_matrix_with_a_column_each() -> None:
    X, y = lw.pack(U, similar=[(0, 1, 2), (2, 3)], dissimilar=[(0, 4)])
    assert X is U
    assert isinstance(y, sp.csr_matrix)
    assert y.dtype == np.int8
    expected = [[1, 0, -1], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 0]]
    np.testing.assert_array_equal(y.toarray(), expected)


def test_a_statement_made_twice_counts_twice_and_may_contradict_another() -> None:
    assert packed((0, 1), (0, 1)).shape == (6, 2)
    np.testing.assert_array_equal(packed((0, 1), dissimilar=[(0, 1)])[:2], [[1, -1], [1, -1]])


@pytest.mark.parametrize(
    "statements",
    [
        np.array([[0, 5], [2, 3]]),
        np.array([[0, 5], [2, 3]], dtype=np.uint8),
        np.array([[0, 5], [2, 3]], dtype=object),
        ((0, 5), (2, 3)),
        [[0, 5], [2, 3]],
        [{5, 0}, frozenset({2, 3})],
        [np.array([0, 5]), np.array([2, 3])],
        [pd.Series([0, 5]), pd.Index([2, 3])],
        [range(0, 6, 5), range(2, 4)],
        zip([0, 2], [5, 3], strict=True),
        pd.DataFrame({"left": [0, 2], "right": [5, 3]}),
        pd.DataFrame({"left": [0, 2], "right": [5, 3]}, dtype="Int64"),
        pl.DataFrame({"left": [0, 2], "right": [5, 3]}),
    ],
    ids=lambda statements: type(statements).__name__,
)
def test_pairs_may_be_written_in_many_ways(statements: Any) -> None:
    y = lw.pack(U, similar=statements)[1]
    np.testing.assert_array_equal(y, [1, 0, 2, 2, 0, 1])


def test_an_array_with_more_columns_holds_groups() -> None:
    y = lw.pack(U, similar=np.array([[0, 1, 2], [5, 4, 3]]))[1]
    np.testing.assert_array_equal(y, [1, 1, 1, 2, 2, 2])


# --- names of rows ----------------------------------------------------------------------------


def test_labels_of_a_pandas_index_name_rows() -> None:
    X, y = lw.pack(FRAME, similar=[("f", "a")], dissimilar=pd.DataFrame({"l": ["b"], "r": ["c"]}))
    assert X is FRAME
    np.testing.assert_array_equal(y, [1, -1, -1, 0, 0, 1])


def test_integers_of_an_index_in_another_order_are_labels_not_positions() -> None:
    np.testing.assert_array_equal(
        packed((5, 4), table=FRAME.set_axis([5, 3, 4, 2, 1, 0])), [1, 0, 1, 0, 0, 0]
    )
    np.testing.assert_array_equal(
        packed((0, 1), table=FRAME.set_axis(range(6))), [1, 1, 0, 0, 0, 0]
    )


def test_labels_may_be_of_several_types() -> None:
    mixed = FRAME.set_axis(["a", 1, "c", 3, "e", 5])
    np.testing.assert_array_equal(packed(("a", 1), (3, "e"), table=mixed), [1, 1, 0, 2, 2, 0])
    days = FRAME.set_axis(pd.date_range("2020-01-01", periods=6))
    np.testing.assert_array_equal(packed(tuple(days.index[[0, 4]]), table=days), [1, 0, 0, 0, 1, 0])


@pytest.mark.parametrize(
    ("table", "similar", "message"),
    [
        (FRAME, [("a", "b"), ("a", "z")], r"pair 1 names rows \['a', 'z'\].*index has no 'z'"),
        (FRAME, [(0, 1)], "index has no 0"),
        (FRAME.set_axis([3, 1, 1, 0, 4, 5]), [(3, 4)], "holds 1 more than once"),
        (FRAME, [("a", "a")], "joins row a with itself"),
        (U, [("a", "b")], "whole numbers, or by the labels of a pandas index"),
        (pl.DataFrame(U), [("a", "b")], "whole numbers"),
    ],
)
def test_names_that_no_row_has_are_refused(table: Any, similar: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lw.pack(table, similar=similar)


@pytest.mark.parametrize(
    ("similar", "message"),
    [
        ([(0, 0)], "pair 0 joins row 0 with itself"),
        ([(0, 1), (1, 2, 1)], "pair 1 joins row 1 with itself"),
        ([(0, 1), (2, 6)], r"pair 1 names rows \[2, 6\], but `unlabeled` has rows 0 to 5"),
        ([(0, -1)], "names rows"),
        ([(0, 1.0)], "whole numbers"),
        ([(0, None)], "whole numbers"),
        ([(0, 1), (2,)], "statement 1 is about 1 row; a statement needs at least two"),
        ([(0, 1), ()], "statement 1 is about 0 row"),
        ([0, 1], r"statement 0 is 0; a statement is a pair or a group of rows, such as \(3, 17\)"),
        (["ab"], "statement 0 is 'ab'"),
        ((A, B[:1]), "2 left rows but 1 right rows"),
        ((A[:, :1], B[:, :1]), "1 columns but `unlabeled` has 2"),
        (np.array([[0.5, 1.0]]), "must be two tables"),
        (np.array([[0], [1]]), "must be two tables"),
        (np.array([0, 1]), "must be two tables"),
        (np.zeros((2, 3, 2)), "must be two tables"),
        ([A, B], r"list of tables; pass two tables as a tuple \(A, B\)"),
        (np.empty((0, 2), dtype=int), "There are no pairs"),
        (iter(()), "There are no pairs"),
        (None, "There are no pairs"),
        ([], "There are no pairs"),
        ((np.array([0, 1]), np.array([2, 3])), "np.column_stack"),
        ((pd.Series([0, 1]), pd.Series([2, 3])), "np.column_stack"),
        ((pd.DataFrame(A), pd.DataFrame(B)), "pandas tables but `unlabeled` is a numpy table"),
    ],
)
def test_bad_statements_are_named(similar: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lw.pack(U, similar=similar)


def test_groups_cannot_be_dissimilar() -> None:
    with pytest.raises(ValueError, match="`dissimilar` statement 1 is about more than two rows"):
        lw.pack(U, dissimilar=[(0, 1), (2, 3, 4)])


def test_a_table_has_rows_and_columns() -> None:
    with pytest.raises(ValueError, match="must be a table"):
        lw.pack(U[:, 0], similar=[(0, 1)])


# --- kinds of tables --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_array])
def test_sparse_tables_stay_sparse(kind: type) -> None:
    X, y = lw.pack(kind(U), similar=[(0, 1), (4, 2)])
    assert sp.issparse(X)
    assert X.shape == U.shape
    sample = lw.unpack(X, y)
    np.testing.assert_array_equal(sample.left.toarray(), U[[0, 2]])
    np.testing.assert_array_equal(sample.right.toarray(), U[[1, 4]])


def test_polars_frames_are_not_copied_either() -> None:
    frame = pl.DataFrame(U, schema=["age", "income"])
    X, y = lw.pack(frame, similar=[(0, 1), (1, 2)])
    assert X is frame
    right = lw.unpack(X, y).right
    assert isinstance(right, pl.DataFrame)
    np.testing.assert_array_equal(right.to_numpy(), U[[1, 2]])


# --- fresh pairs ------------------------------------------------------------------------------


def test_two_tables_and_one_stacked_array_pack_alike() -> None:
    X_tables, y_tables = lw.pack(U, similar=(A, B))
    X_stacked, y_stacked = lw.pack(U, similar=np.stack([A, B], axis=1))
    np.testing.assert_array_equal(X_tables, np.vstack([U, A, B]))
    np.testing.assert_array_equal(X_stacked, X_tables)
    np.testing.assert_array_equal(y_tables, [0] * 6 + [1, 2, 1, 2])
    np.testing.assert_array_equal(y_stacked, y_tables)
    assert type(y_tables) is np.ndarray
    assert read_labels(y_tables).is_fresh


def test_beside_fresh_pairs_named_rows_are_copied() -> None:
    X, y = lw.pack(U, similar=(A, B), dissimilar=np.array([[1, 4]]))
    np.testing.assert_array_equal(X[-2:], U[[1, 4]])
    np.testing.assert_array_equal(y, [0] * 6 + [1, 2, 1, 2, -1, -1])
    sample = lw.unpack(X, y)
    np.testing.assert_array_equal(sample.dissimilar_left, U[[1]])
    np.testing.assert_array_equal(sample.dissimilar_right, U[[4]])
    with pytest.raises(ValueError, match="groups beside fresh pairs"):
        lw.pack(U, similar=[(0, 1, 2)], dissimilar=(A, B))


def test_fresh_rows_of_frames_keep_columns_and_types() -> None:
    X, y = lw.pack(FRAME, similar=(FRAME[:2], FRAME[2:4]), dissimilar=[("a", "f")])
    assert list(X.columns) == ["age", "income"]
    assert X.index.tolist() == list(range(12))
    assert isinstance(lw.unpack(X, y).left, pd.DataFrame)
    np.testing.assert_array_equal(lw.unpack(X, y).dissimilar_right, U[[5]])
    frame = pl.DataFrame(U, schema=["age", "income"])
    X, y = lw.pack(frame, similar=(frame[:2], frame[2:4]))
    assert X.columns == ["age", "income"]
    np.testing.assert_array_equal(lw.unpack(X, y).right.to_numpy(), U[2:4])


def test_frames_with_other_columns_are_refused_by_name() -> None:
    swapped = FRAME[["income", "age"]]
    with pytest.raises(ValueError, match="same columns in the same order"):
        lw.pack(FRAME, similar=(swapped[:1], swapped[1:2]))


# --- and back ---------------------------------------------------------------------------------


def test_unpack_is_the_inverse_of_pack_in_any_row_order() -> None:
    X, y = lw.pack(U, similar=(A, B), dissimilar=(A[:1], B[1:]))
    order = np.random.default_rng(0).permutation(len(y))
    sample = lw.unpack(X[order], y[order])
    members = np.stack([sample.left, sample.right], axis=1)
    for found, left, right in zip(members, A, B, strict=True):
        assert {tuple(found[0]), tuple(found[1])} == {tuple(left), tuple(right)}
    assert set(map(tuple, sample.unlabeled)) == set(map(tuple, U))
    assert sample.dissimilar_left.shape == (1, 2)


def test_unpacking_a_packed_array_copies_no_rows() -> None:
    X, y = lw.pack(U, similar=(A, B))
    sample = lw.unpack(X, y)
    assert all(np.shares_memory(X, t) for t in (sample.left, sample.right, sample.unlabeled))


def test_of_one_table_all_rows_stand_for_all_rows_and_groups_are_chains() -> None:
    sample = lw.unpack(*lw.pack(U, similar=[(0, 1, 2)], dissimilar=[(2, 4)]))
    np.testing.assert_array_equal(sample.unlabeled, U)
    np.testing.assert_array_equal(sample.left, U[[0, 1]])
    np.testing.assert_array_equal(sample.right, U[[1, 2]])
    np.testing.assert_array_equal(sample.dissimilar_left, U[[2]])
    assert sample.statements.count == 2


def test_unpack_compares_lengths() -> None:
    with pytest.raises(ValueError, match="X has 6 rows but y has shape"):
        lw.unpack(U, [1, 1])


@given(st.data())
def test_statements_come_back_as_they_went_in(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(4, 12))
    rows = st.lists(st.integers(0, n_rows - 1), min_size=2, max_size=4, unique=True)
    similar = data.draw(st.lists(rows, min_size=1, max_size=5))
    dissimilar = [rows[:2] for rows in data.draw(st.lists(rows, max_size=5))]
    found = read_labels(lw.pack(np.zeros((n_rows, 1)), similar, dissimilar)[1])
    expected = [(True, sorted(rows)) for rows in similar]
    expected += [(False, sorted(rows)) for rows in dissimilar]
    assert [(is_similar, sorted(rows)) for is_similar, rows in told(found)] == expected
    assert found.numbers.tolist() == list(range(len(expected)))
    assert not found.is_fresh
