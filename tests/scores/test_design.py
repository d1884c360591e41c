"""Rows as a linear score sees them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import likewise as lw
from likewise.beliefs.fresh import Counts
from likewise.scores.design import Design, Sample, column_moments, in_order
from likewise.statements.labels import locate

CONTAINERS = [np.asarray, sp.csr_matrix, sp.csr_array]


def table(rng: np.random.Generator) -> np.ndarray:
    rows = rng.normal(3.0, [1.0, 5.0, 0.1], size=(40, 3))
    return np.asarray(rows * (rng.random((40, 3)) < 0.6))


@pytest.mark.parametrize("container", CONTAINERS)
def test_decide_and_pull_are_products_with_the_standardised_rows_and_a_one(
    rng: np.random.Generator, container: Callable[[np.ndarray], Any]
) -> None:
    rows = table(rng)
    design = Design(container(rows), *column_moments(container(rows)))
    standardised = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    padded = np.column_stack([standardised, np.ones(len(rows))])
    weights, values = rng.normal(size=(4, 2)), rng.normal(size=(40, 2))
    np.testing.assert_allclose(design.decide(weights), padded @ weights, atol=1e-10)
    np.testing.assert_allclose(design.pull(values), padded.T @ values, atol=1e-10)
    np.testing.assert_allclose(design.dense(), standardised, atol=1e-10)


@pytest.mark.parametrize("container", CONTAINERS)
def test_pull_is_the_adjoint_of_decide(
    rng: np.random.Generator, container: Callable[[np.ndarray], Any]
) -> None:
    design = Design(container(table(rng)), rng.normal(size=3), rng.uniform(0.5, 2, size=3))
    weights, values = rng.normal(size=(4, 3)), rng.normal(size=(40, 3))
    forth = np.sum(design.decide(weights) * values)
    assert forth == pytest.approx(np.sum(weights * design.pull(values)), rel=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_constant_column_has_a_scale_of_one(container: Callable[[np.ndarray], Any]) -> None:
    rows = np.column_stack([np.full(7, 0.1), np.zeros(7), np.full(7, -1e9), np.arange(7.0)])
    mean, scale = column_moments(container(rows))
    np.testing.assert_allclose(mean, [0.1, 0.0, -1e9, 3.0])
    np.testing.assert_allclose(scale, [1.0, 1.0, 1.0, 2.0])


def test_a_tiny_unit_is_no_constant_column() -> None:
    rows = 1e-12 * np.arange(5.0)[:, None]
    np.testing.assert_allclose(column_moments(rows)[1], 1e-12 * np.sqrt(2))


def test_single_precision_columns_are_summed_in_double_precision() -> None:
    rows = np.full((100_000, 1), 0.1, dtype=np.float32)
    assert column_moments(rows)[0][0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)


def test_a_part_of_a_sample_keeps_centre_scale_and_kinds_of_rows(rng: np.random.Generator) -> None:
    counts = Counts(4, 3, 2)
    rows = rng.normal(size=(counts.rows, 2))
    sample = Sample(Design(rows, np.ones(2), np.full(2, 2.0)), counts)
    chosen = np.zeros(counts.rows, dtype=bool)
    chosen[[1, 2, 4, 7, 11, 13]] = True  # two rows, the first similar and second dissimilar pair
    part = sample.among(chosen)
    assert part.counts == Counts(2, 1, 1)
    np.testing.assert_array_equal(part.design.rows, rows[chosen])
    np.testing.assert_array_equal(part.design.scale, [2.0, 2.0])


def test_packed_rows_are_used_as_they_are_and_others_brought_in_order(
    rng: np.random.Generator,
) -> None:
    X, y = lw.pack(rng.normal(size=(6, 2)), similar=[(0, 1), (2, 3)], dissimilar=[(4, 5)])
    packed, counts = in_order(X, locate(y))
    assert packed is X
    assert counts == Counts(6, 2, 1)
    order = rng.permutation(len(y))
    sorted_again, counts = in_order(X[order], locate(y[order]))
    assert counts == Counts(6, 2, 1)
    sums = [rows[counts.left] + rows[counts.right] for rows in (X, sorted_again)]
    np.testing.assert_allclose(sums[0], sums[1])
