"""Folds that keep pairs together."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.statements.labels import TableLabels, locate, read_labels


@pytest.fixture
def y(rng: np.random.Generator) -> np.ndarray:
    codes = np.concatenate([np.arange(1, 14), -np.arange(1, 8)])
    return rng.permutation(np.concatenate([codes, codes, np.zeros(17, dtype=int)]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_row_is_tested_once_and_no_pair_is_split(y: np.ndarray, shuffle: bool) -> None:
    tested = np.zeros(len(y), dtype=int)
    for train, test in lw.PairKFold(5, shuffle=shuffle, random_state=0).split(y[:, None], y):
        tested[test] += 1
        locate(y[train])
        locate(y[test])
        assert np.intersect1d(train, test).size == 0
    np.testing.assert_array_equal(tested, 1)


def test_each_kind_is_spread_evenly_over_the_folds(y: np.ndarray) -> None:
    folds = lw.PairKFold(4).assign(y)
    for kind in (y == 0, y > 0, y < 0):
        sizes = np.bincount(folds[kind], minlength=4)
        assert sizes.max() - sizes.min() <= 2  # a pair is two rows


def test_the_ith_of_each_kind_of_packed_fresh_rows_goes_to_fold_i_of_so_many() -> None:
    table = np.zeros((30, 1))
    y = lw.pack(table, (table[:13], table[:13]), (table[:7], table[:7]))[1]
    folds = lw.PairKFold(4).assign(y)
    for part in locate(y):
        np.testing.assert_array_equal(folds[part], np.arange(folds[part].size) % 4)


def test_rows_sorted_by_class_are_spread_over_all_folds() -> None:
    y = np.zeros(100, dtype=int)
    assert all(np.ptp(np.flatnonzero(lw.PairKFold(5).assign(y) == k)) == 95 for k in range(5))


def test_shuffling_repeats_with_the_seed_and_differs_without_it(y: np.ndarray) -> None:
    first, again, other = (
        lw.PairKFold(3, shuffle=True, random_state=seed).assign(y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("n_splits", [0, 1, 2.5, -3])
def test_too_few_folds_are_refused(n_splits: int) -> None:
    with pytest.raises(ValueError, match="n_splits must be a whole number"):
        lw.PairKFold(n_splits)


def test_more_folds_than_pairs_are_refused_with_the_count() -> None:
    y = np.array([1, 1, 2, 2] + [0] * 9)
    with pytest.raises(ValueError, match="at least 3 similar pairs, but there are only 2"):
        lw.PairKFold(3).assign(y)
    with pytest.raises(ValueError, match="needs the weak labels y"):
        next(lw.PairKFold(2).split(y[:, None]))


# --- one table --------------------------------------------------------------------------------


def met_pairs(n_rows: int, n_pairs: int, seed: int = 0) -> Any:
    """A matrix: pairs of rows that were picked at random, some of which are said to differ."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(n_rows, 2, replace=False) for _ in range(n_pairs)]
    cut = n_pairs // 2
    return lw.pack(np.zeros((n_rows, 1)), similar=pairs[:cut], dissimilar=pairs[cut:])[1]


@settings(max_examples=50)
@example(n_rows=22, n_pairs=20, n_splits=2, seed=2, shuffle=True)
@given(
    n_rows=st.integers(12, 80),
    n_pairs=st.integers(2, 60),
    n_splits=st.integers(2, 5),
    seed=st.integers(0, 1000),
    shuffle=st.booleans(),
)
def test_folds_of_one_table_are_of_one_size_and_keep_what_hangs_together(
    n_rows: int, n_pairs: int, n_splits: int, seed: int, shuffle: bool
) -> None:
    y = met_pairs(n_rows, n_pairs, seed)
    folds = lw.PairKFold(n_splits, shuffle=shuffle, random_state=0).assign(y)
    sizes = np.bincount(folds, minlength=n_splits)
    components = read_labels(y).components
    # What fills more than a quarter of a fold is dealt out row by row, all of it in turn.
    limit = max(2, 0.25 * n_rows / n_splits)
    largest, is_long = 1, np.zeros(n_rows, dtype=bool)
    for rows in (np.flatnonzero(components == k) for k in range(components.max() + 1)):
        if rows.size <= limit:
            assert np.unique(folds[rows]).size == 1
            largest = max(largest, rows.size)
        is_long[rows] = rows.size > limit
    assert np.ptp(np.bincount(folds[is_long], minlength=n_splits)) <= 1
    assert sizes.sum() == n_rows
    assert np.ptp(sizes) <= largest


def test_folds_repeat_themselves_and_both_forms_are_dealt_alike() -> None:
    codes = TableLabels.of([1, 1, 2, 0, 2, -1, 3, 3, -1, 0, 0, 0])
    folds = lw.PairKFold(3).assign(codes)
    np.testing.assert_array_equal(folds, lw.PairKFold(3).assign(codes))
    columns = [np.flatnonzero(codes == code) for code in (1, 2, 3, -1)]
    y = lw.pack(np.zeros((12, 1)), similar=[*columns[:3], columns[0]], dissimilar=columns[3:])[1]
    np.testing.assert_array_equal(folds, lw.PairKFold(3).assign(y))


def test_every_row_of_a_table_is_tested_once_and_both_parts_can_be_read() -> None:
    y = met_pairs(40, 60)
    tested = np.zeros(40, dtype=int)
    for train, test in lw.PairKFold(4).split(np.zeros((40, 1)), y):
        tested[test] += 1
        assert read_labels(y[train]).count + read_labels(y[test]).count <= 60
    np.testing.assert_array_equal(tested, 1)


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 5 rows, but there are only 4"):
        lw.PairKFold(5).assign(TableLabels.of([1, 1, 0, 0]))
