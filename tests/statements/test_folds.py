"""Folds that keep pairs together."""

import numpy as np
import pytest

import likewise as lw
from likewise.statements.labels import locate


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
