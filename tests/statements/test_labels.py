"""Weak labels in and out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.engines.rows import as_slice
from likewise.statements.labels import locate

U = np.arange(12.0).reshape(6, 2)
A = np.array([[100.0, 101.0], [102.0, 103.0]])
B = np.array([[200.0, 201.0], [202.0, 203.0]])


def test_two_tables_and_one_stacked_array_pack_alike() -> None:
    X_tables, y_tables = lw.pack(U, similar=(A, B))
    X_stacked, y_stacked = lw.pack(U, similar=np.stack([A, B], axis=1))
    np.testing.assert_array_equal(X_tables, np.vstack([U, A, B]))
    np.testing.assert_array_equal(X_stacked, X_tables)
    np.testing.assert_array_equal(y_tables, [0] * 6 + [1, 2, 1, 2])
    np.testing.assert_array_equal(y_stacked, y_tables)


def test_row_numbers_copy_rows_and_keep_them_unlabeled_too() -> None:
    X, y = lw.pack(U, similar=[(0, 5), (2, 3)])
    np.testing.assert_array_equal(X[:6], U)
    np.testing.assert_array_equal(X[6:], U[[0, 2, 5, 3]])
    np.testing.assert_array_equal(y, [0] * 6 + [1, 2, 1, 2])


def test_dissimilar_pairs_are_carried_with_negative_codes() -> None:
    X, y = lw.pack(U, similar=(A, B), dissimilar=np.array([[1, 4]]))
    np.testing.assert_array_equal(y[-2:], [-1, -1])
    sample = lw.unpack(X, y)
    np.testing.assert_array_equal(sample.dissimilar_left, U[[1]])
    np.testing.assert_array_equal(sample.dissimilar_right, U[[4]])


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


def test_pandas_frames_keep_their_columns_and_types() -> None:
    frame = pd.DataFrame(U, columns=["age", "income"])
    X, y = lw.pack(frame, similar=[(0, 1)])
    assert list(X.columns) == ["age", "income"]
    assert X.index.tolist() == list(range(8))
    assert isinstance(lw.unpack(X, y).left, pd.DataFrame)


def test_polars_frames_keep_their_columns_and_types() -> None:
    frame = pl.DataFrame(U, schema=["age", "income"])
    X, y = lw.pack(frame, similar=(frame[:2], frame[2:4]))
    assert X.columns == ["age", "income"]
    sample = lw.unpack(X, y)
    assert isinstance(sample.right, pl.DataFrame)
    np.testing.assert_array_equal(sample.right.to_numpy(), U[2:4])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_array])
def test_sparse_tables_stay_sparse(kind: type) -> None:
    X, y = lw.pack(kind(U), similar=[(0, 1), (4, 2)])
    assert sp.issparse(X)
    np.testing.assert_array_equal(lw.unpack(X, y).right.toarray(), U[[1, 2]])


def test_pairs_in_a_frame_of_row_numbers_are_row_numbers() -> None:
    pairs = pd.DataFrame({"left": [0, 1], "right": [2, 3]})
    X, _ = lw.pack(U, similar=pairs)
    np.testing.assert_array_equal(X[6:], U[[0, 1, 2, 3]])


@pytest.mark.parametrize(
    ("similar", "message"),
    [
        ([(0, 0)], "pair 0 joins row 0 with itself"),
        ([(0, 1), (2, 6)], r"pair 1 names rows \[2, 6\], but `unlabeled` has rows 0 to 5"),
        ([(0, -1)], "names rows"),
        ((A, B[:1]), "2 left rows but 1 right rows"),
        ((A[:, :1], B[:, :1]), "1 columns but `unlabeled` has 2"),
        (np.array([[0.5, 1.0]]), "must be two tables"),
        (np.zeros((2, 3, 2)), "must be two tables"),
        (np.empty((0, 2), dtype=int), "There are no pairs"),
        (None, "There are no pairs"),
        ([], "There are no pairs"),
        ((np.array([0, 1]), np.array([2, 3])), "np.column_stack"),
        ((pd.DataFrame(A), pd.DataFrame(B)), "pandas tables but `unlabeled` is a numpy table"),
    ],
)
def test_bad_pairs_are_named(similar: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lw.pack(U, similar=similar)


def test_frames_with_other_columns_are_refused_by_name() -> None:
    frame = pd.DataFrame(U, columns=["age", "income"])
    swapped = frame[["income", "age"]]
    with pytest.raises(ValueError, match="same columns in the same order"):
        lw.pack(frame, similar=(swapped[:1], swapped[1:2]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, 3, 0], "Pair 3 is torn.*PairKFold"),
        ([0, 0, -3, 0], "Pair -3 is torn"),
        ([5, 5, 5, 0], "Pair 5 stands on 3 rows"),
        ([1, -1, 1, 1], "looks like class labels.*likewise.pack"),
        ([1, 0, 1, 1], "looks like class labels"),
        ([0.5, 0, 1, 1], "whole numbers"),
        ([np.nan, 0, 1, 1], "whole numbers"),
        ([np.inf, 0, 1, 1], "whole numbers"),
        ([[0, 0], [1, 1]], "one integer per row"),
        (["a", "b", "a", "b"], "whole numbers"),
    ],
)
def test_bad_weak_labels_are_explained(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        locate(np.asarray(y))


def test_unpack_compares_lengths() -> None:
    with pytest.raises(ValueError, match="X has 6 rows but y has shape"):
        lw.unpack(U, [1, 1])


def test_whole_floats_are_accepted_as_labels() -> None:
    rows = locate(np.array([0.0, 2.0, 2.0]))
    assert rows.left == slice(1, 2, 1)


@given(
    n_similar=st.integers(0, 6),
    n_dissimilar=st.integers(0, 6),
    n_unlabeled=st.integers(0, 6),
    seed=st.integers(0, 10**6),
)
def test_every_row_lands_in_exactly_one_set_next_to_its_mate(
    n_similar: int, n_dissimilar: int, n_unlabeled: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = np.concatenate(
        [
            rng.choice(100, n_similar, replace=False) + 1,
            -rng.choice(100, n_dissimilar, replace=False) - 1,
        ]
    )
    y = rng.permutation(np.concatenate([codes, codes, np.zeros(n_unlabeled, dtype=int)]))
    numbers = np.arange(len(y))
    rows = locate(y)
    everything = np.concatenate([numbers[positions] for positions in rows])
    np.testing.assert_array_equal(np.sort(everything), numbers)
    np.testing.assert_array_equal(y[rows.left], y[rows.right])
    np.testing.assert_array_equal(y[rows.dissimilar_left], y[rows.dissimilar_right])
    assert np.all(y[rows.unlabeled] == 0)
    assert np.all(numbers[rows.left] < numbers[rows.right])


@given(st.lists(st.integers(0, 30), max_size=8))
def test_slices_stand_for_the_same_positions(positions: list[int]) -> None:
    array = np.array(positions, dtype=np.intp)
    np.testing.assert_array_equal(np.arange(31)[as_slice(array)], array)


def test_columns_of_row_numbers_and_tables_in_a_list_are_not_guessed_at() -> None:
    pd = pytest.importorskip("pandas")
    U = np.arange(8.0).reshape(4, 2)
    columns = (pd.Series([0, 1]), pd.Series([2, 3]))
    for pairs in (columns, (np.array([0, 1]), np.array([2, 3])), [U[:2], U[2:]]):
        with pytest.raises(ValueError, match="column_stack"):
            lw.pack(U, similar=pairs)


def test_whole_numbers_that_are_objects_are_labels() -> None:
    assert locate(np.array([0, 1, 1], dtype=object)).n_pairs == 1
    with pytest.raises(ValueError, match="dtype is object"):
        locate(np.array([0, "a", "a"], dtype=object))
