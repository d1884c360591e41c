"""Weights of rows: what is accepted, and what they count together."""

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.engines.rows import kish_scaled
from likewise.search.rows import thin
from likewise.statements.labels import read_labels
from likewise.statements.weights import read_weights, weigh, weighted

FRESH = [0, 1, 0, 1, 0, -2, 2, 2, -2]


def test_weights_are_scaled_to_the_effective_number(rng: np.random.Generator) -> None:
    weights = rng.uniform(0.5, 9.0, 40)
    found = kish_scaled(weights)
    assert found.sum() == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))
    np.testing.assert_allclose(found / found[0], weights / weights[0])
    np.testing.assert_allclose(kish_scaled(np.full(7, 12.5)), 1.0)
    np.testing.assert_allclose(kish_scaled(1e200 * weights), found)
    assert kish_scaled(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_every_kind_of_fresh_pair_has_its_own_scale() -> None:
    weights = np.array([3.0, 50.0, 1.0, 50.0, 0.0, 7.0, 150.0, 150.0, 7.0])
    found: Any = weighted(read_labels(FRESH), weights).weights
    np.testing.assert_allclose(found[[0, 2, 4]], [1.2, 0.4, 0.0])
    np.testing.assert_allclose(found[[1, 3]], 0.4)
    np.testing.assert_allclose(found[[6, 7]], 1.2)
    np.testing.assert_allclose(found[[5, 8]], 1.0)


def test_equal_weights_are_none() -> None:
    for same in (None, 2.5, [3, 3, 3]):
        assert read_weights(same, 3) is None


def test_weights_stay_with_their_rows() -> None:
    weights = np.array([1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 6.0, 6.0, 5.0])
    said = weighted(read_labels(FRESH), weights)
    kept = np.array([False, True, True, True, False, False, True, True, False])
    np.testing.assert_array_equal(said.among(kept).weights, np.asarray(said.weights)[kept])
    np.testing.assert_array_equal(said.without(~kept).weights, said.weights)
    np.testing.assert_array_equal(said.choose(said.is_similar).weights, said.weights)


def test_a_pair_found_in_a_table_weighs_the_product_of_its_rows(rng: np.random.Generator) -> None:
    table, pairs = np.zeros((90, 1)), rng.permutation(90).reshape(-1, 2)
    weights = rng.uniform(1.0, 5.0, 90)
    said = weighted(read_labels(lw.pack(table, similar=pairs)[1]), weights)
    rows, fresh = thin(said, 20, keeps_rows=False)
    assert fresh.is_fresh
    found: Any = fresh.weights
    left, right = fresh.links.left, fresh.links.right
    product = weights[rows[left]] * weights[rows[right]]
    np.testing.assert_allclose(found[left] / found[left[0]], product / product[0])
    np.testing.assert_array_equal(found[left], found[right])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"\(2,\), expected \(9,\)"),
        (np.ones((9, 1)), "1D array or scalar"),
        ([1.0] * 8 + [np.nan], "NaN or infinity"),
        ([1.0] * 8 + [-1.0], "negative weights"),
        ([0.0] * 9, "zero for all rows"),
        (["much"] * 9, "one number for each row"),
        ([1.0, 2.0, 1.0, 3.0] + [1.0] * 5, "Rows 1 and 3 are a pair with weights 2 and 3"),
        ([0.0, 1, 0, 1, 0, 1, 1, 1, 1], "needs at least one unlabeled row"),
        ([1.0, 0, 1, 0, 1, 0, 0, 0, 0], "needs at least one pair"),
    ],
)
def test_other_weights_are_refused_with_a_reason(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weigh(read_labels(FRESH), weights, "PairClassifier")
