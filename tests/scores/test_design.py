"""Rows as a linear score sees them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from likewise.scores.design import Design, column_moments

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
def test_the_scale_of_a_constant_column_is_its_size(container: Callable[[np.ndarray], Any]) -> None:
    rows = np.column_stack([np.full(7, 0.1), np.zeros(7), np.full(7, -1e9), np.arange(7.0)])
    mean, scale = column_moments(container(rows))
    np.testing.assert_allclose(mean, [0.1, 0.0, -1e9, 3.0])
    np.testing.assert_allclose(scale, [1.0, 1.0, 1e9, 2.0])


@pytest.mark.parametrize("container", CONTAINERS)
def test_rounding_of_a_constant_column_is_no_signal(container: Callable[[np.ndarray], Any]) -> None:
    rows = container(np.full((6, 1), 1e120))
    design = Design(rows, *column_moments(rows))
    pulled = design.pull(np.array([[0.1], [0.3], [-0.7], [0.9], [-0.2], [-0.4]]))
    np.testing.assert_allclose(pulled, 0.0, atol=1e-14)


def test_a_tiny_unit_is_no_constant_column() -> None:
    rows = 1e-12 * np.arange(5.0)[:, None]
    np.testing.assert_allclose(column_moments(rows)[1], 1e-12 * np.sqrt(2))


def test_single_precision_columns_are_summed_in_double_precision() -> None:
    rows = np.full((100_000, 1), 0.1, dtype=np.float32)
    assert column_moments(rows)[0][0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)
