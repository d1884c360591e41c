"""Weak labels: integers or a matrix, whole and in slices."""

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

import likewise as lw
from likewise.engines.rows import as_slice
from likewise.statements.labels import (
    TableLabels,
    locate,
    locate_pairs,
    locate_su,
    read_labels,
    statements_for,
)
from tests.statements.told import told

U = np.arange(12.0).reshape(6, 2)
VECTOR = TableLabels.of([1, 0, 2, 2, 0, 1])
MATRIX = lw.pack(U, similar=[(0, 1, 2), (2, 3)], dissimilar=[(0, 4)])[1]


# --- fresh pairs, or one table ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "is_fresh"),
    [
        ([0, 1, 1], True),
        ([0, 1, 1, -1, -1], True),
        ([1, 1, 2, 2], False),
        ([0, 1, 1, 1, 2, 2], False),
        ([1, 1, -1, -1], False),
    ],
)
def test_plain_integers_with_unlabeled_rows_and_no_groups_are_fresh_pairs(
    y: list[int], is_fresh: bool
) -> None:
    assert read_labels(np.array(y)).is_fresh is is_fresh
    assert read_labels(y).is_fresh is is_fresh
    assert not read_labels(TableLabels.of(y)).is_fresh


def test_both_forms_hold_the_same_statements() -> None:
    expected = [(True, [0, 5]), (True, [2, 3])]
    matrix = sp.csr_matrix(np.array([[1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]]).T)
    for y in (VECTOR, matrix, sp.csr_array(matrix), sp.coo_array(matrix), matrix.astype(float)):
        assert told(read_labels(y)) == expected


def test_codes_of_a_vector_are_numbered_similar_ones_first() -> None:
    found = read_labels(TableLabels.of([-2, 7, 3, -2, 7, 3, -1, -1]))
    assert told(found) == [(True, [2, 5]), (True, [1, 4]), (False, [6, 7]), (False, [0, 3])]
    np.testing.assert_array_equal(found.numbers, [0, 1, 2, 3])


def test_rows_of_one_table_are_all_unlabeled_ones() -> None:
    assert locate(VECTOR).unlabeled == slice(0, 6, 1)
    assert locate(MATRIX).n_pairs == 4
    assert locate(np.asarray(VECTOR)).unlabeled == slice(1, 5, 3)


@given(
    n_similar=st.integers(0, 6),
    n_dissimilar=st.integers(0, 6),
    n_unlabeled=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_every_row_beside_fresh_pairs_lands_in_exactly_one_set_next_to_its_mate(
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


# --- slices -----------------------------------------------------------------------------------


def test_slices_and_copies_of_a_tables_labels_remember_the_table(tmp_path: Path) -> None:
    joblib.dump(VECTOR, tmp_path / "y")
    copies = [
        VECTOR[::2],
        VECTOR[[0, 5]],
        VECTOR[VECTOR != 0],
        VECTOR.copy(),
        train_test_split(U, VECTOR, random_state=0)[3],
        _safe_indexing(VECTOR, [1, 2]),
        pickle.loads(pickle.dumps(VECTOR)),  # noqa: S301
        joblib.load(tmp_path / "y"),
    ]
    assert all(isinstance(copy, TableLabels) for copy in copies)
    assert not isinstance(np.asarray(VECTOR), TableLabels)
    assert repr(VECTOR) == "array([1, 0, 2, 2, 0, 1])"


def test_in_a_slice_of_one_table_a_split_statement_is_dropped() -> None:
    assert told(read_labels(VECTOR[:5])) == [(True, [2, 3])]
    assert told(read_labels(MATRIX[:4])) == [(True, [0, 1, 2]), (True, [2, 3])]
    assert told(read_labels(MATRIX[[4, 0, 3, 1]])) == [(True, [1, 3]), (False, [0, 1])]
    np.testing.assert_array_equal(read_labels(MATRIX[[4, 0, 3, 1]]).numbers, [0, 2])
    assert told(read_labels(MATRIX[[3, 5]])) == []


def test_a_split_fresh_pair_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"Pair 1 is split.*PairKFold"):
        locate(np.array([0, 1, 2, 2]))
    with pytest.raises(ValueError, match="Pair -3 is split"):
        locate([0, 0, -3, 0])


def test_a_matrix_sliced_by_splitters_is_read_again() -> None:
    train, test = train_test_split(MATRIX, random_state=0, test_size=2)
    assert (read_labels(train).n_rows, read_labels(test).n_rows) == (4, 2)


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, -1, -1, 1, -1], "looks like class labels.*likewise.pack"),
        ([1, 0, 1, 1], "looks like class labels"),
        ([0, 1, 0, 1, 1, 0], "looks like class labels"),
        ([0.5, 0, 1, 1], "whole numbers"),
        ([np.nan, 0, 1, 1], "whole numbers"),
        ([np.inf, 0, 1, 1], "whole numbers"),
        ([True, False, True], "whole numbers"),
        ([[0, 0], [1, 1]], "one integer per row"),
        (["a", "b", "a", "b"], "whole numbers"),
        (np.array([0, "a", "a"], dtype=object), "dtype is object"),
        ([5, 5, 5, -7, -7, -7, 0], "Dissimilar statement 7 is about more than two rows"),
        ([0, -7, -7, -7], "Pair -7 stands on 3 rows"),
    ],
)
def test_bad_vectors_are_explained(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        locate(np.asarray(y))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [1, 1], [0, -1]], r"Statement 1 has entries \+1 and -1"),
        ([[2, 0], [1, 1], [0, 1]], r"holds \+1 \(alike\) or -1"),
        ([[0.5, 0], [1, 1], [0, 1]], r"holds \+1 \(alike\) or -1"),
        ([[1, -1], [1, -1], [0, -1]], "Dissimilar statement 1 is about more than two rows"),
    ],
)
def test_bad_matrices_are_explained(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_labels(sp.csr_matrix(np.array(matrix)))


def test_whole_floats_and_objects_are_accepted_as_labels() -> None:
    assert locate(np.array([0.0, 2.0, 2.0])).left == slice(1, 2, 1)
    assert locate(np.array([[0], [2], [2]])).n_pairs == 1
    assert locate(np.array([0, 1, 1], dtype=object)).n_pairs == 1


def test_learners_say_what_they_miss() -> None:
    with pytest.raises(ValueError, match="Net requires y to be passed"):
        statements_for(None, 6, "Net")
    with pytest.raises(ValueError, match="X has 5 rows but y has shape"):
        statements_for(MATRIX, 5, "Net")
    with pytest.raises(ValueError, match="Net needs at least one pair"):
        locate_pairs(TableLabels.of([0, 0, 1]), 3, "Net")
    with pytest.raises(ValueError, match="1 dissimilar ones"):
        locate_su(MATRIX, 6, "Net")
    with pytest.raises(ValueError, match="needs at least one similar pair"):
        locate_su(TableLabels.of([0, 0, 0]), 3, "Net")
    assert statements_for(MATRIX, 6, "Net").count == 3
    assert locate_pairs(VECTOR, 6, "Net").n_pairs == locate_su(VECTOR, 6, "Net").n_pairs == 2
