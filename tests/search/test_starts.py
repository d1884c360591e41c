"""Where learning starts."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.search import starts
from likewise.search.sample import Sample
from likewise.search.starts import starting_weights
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, as_sample, fresh, met, two_gaussians


def draw(rng: np.random.Generator, counts: Counts, prior: float = 0.7) -> Sample:
    """Draw fresh pairs and rows that differ in the first of four columns."""
    signal = Gaussians(2.5, prior).draw(rng, counts)
    rows = np.column_stack([signal, rng.standard_normal((counts.rows, 3))])
    return as_sample(rows, fresh(counts))


def in_first_column(direction: FloatArray) -> float:
    """Return how much of a direction is in the first column: one for all of it."""
    return float(abs(direction[0]) / np.linalg.norm(direction))


def first_start(sample: Sample) -> FloatArray:
    return starting_weights(sample, np.random.RandomState(0))[0][:-1, 0]


@pytest.mark.parametrize("counts", [Counts(400, 400), Counts(400, 0, 400), Counts(300, 200, 200)])
@pytest.mark.parametrize("prior", [0.5, 0.8])
def test_the_first_start_is_along_the_difference_of_the_classes(
    rng: np.random.Generator, counts: Counts, prior: float
) -> None:
    assert in_first_column(first_start(draw(rng, counts, prior))) > 0.7


@pytest.mark.parametrize("state", [answered, met])
def test_so_it_is_where_rows_of_one_table_are_in_several_statements(
    rng: np.random.Generator, state: Any
) -> None:
    rows, classes = two_gaussians(rng, 300, prior=0.5)
    likelihood = TableLikelihood(state(rng, classes, 400), 2, "asked")
    assert in_first_column(first_start(as_sample(rows, likelihood))) > 0.9


def test_scores_of_the_starts_have_one_spread(rng: np.random.Generator) -> None:
    sample = draw(rng, Counts(200, 200))
    found = starting_weights(sample, np.random.RandomState(0))
    assert len(found) == 4
    for weights in found:
        spread = sample.population.decide(weights).std()
        assert spread == pytest.approx(starts._SPREAD)
    assert sorted({float(weights[-1, 0]) for weights in found}) == [0.0, 1.0]


def test_more_classes_start_from_several_rotations(rng: np.random.Generator) -> None:
    counts = Counts(100, 100)
    sample = as_sample(rng.standard_normal((counts.rows, 2)), fresh(counts, 4))
    found = starting_weights(sample, np.random.RandomState(0))
    assert len(found) == starts._N_ROTATIONS
    for weights in found:
        assert weights.shape == (3, 4)
        np.testing.assert_allclose(weights.sum(axis=1), 0.0, atol=1e-9)
    assert not np.allclose(found[0], found[1])


def test_sparse_rows_start_where_dense_ones_do(rng: np.random.Generator) -> None:
    sample = draw(rng, Counts(100, 80, 40))
    rows = sample.design.rows * (np.abs(sample.design.rows) > 0.5)
    dense, sparse = (
        starting_weights(as_sample(table, sample.likelihood), np.random.RandomState(0))
        for table in (rows, sp.csr_matrix(rows))
    )
    np.testing.assert_allclose(dense, sparse, atol=1e-8)


def test_constant_columns_give_starts_that_are_finite() -> None:
    counts = Counts(10, 10)
    sample = as_sample(np.ones((counts.rows, 2)), fresh(counts))
    assert np.isfinite(starting_weights(sample, np.random.RandomState(0))).all()


def test_directions_that_rows_do_not_vary_in_give_no_weights(rng: np.random.Generator) -> None:
    # Two rows vary in one direction: of the second that three classes ask for, rounding is left.
    rows = rng.standard_normal((2, 20))
    likelihood = TableLikelihood(met(rng, np.array([1, 1]), 1), 3, "asked")
    sample = as_sample(rows, likelihood)
    found, again = (
        starting_weights(one, np.random.RandomState(0))
        for one in (sample, as_sample(rows * (1.0 + 1e-15), likelihood))
    )
    assert np.abs(found).max() < 100.0
    np.testing.assert_allclose(found, again, atol=1e-9)


def test_where_statements_leave_directions_open_rows_choose_them(
    rng: np.random.Generator,
) -> None:
    # One pair speaks of one direction; three classes have two.
    rows = rng.standard_normal((4, 20))
    rows = np.column_stack([rows / rows.std(axis=0), np.full(4, 0.1)])
    likelihood = TableLikelihood(met(rng, np.array([1, 1, 0, 2]), 1), 3, "asked")
    found, again = (
        starting_weights(one, np.random.RandomState(0))
        for one in (as_sample(rows, likelihood), as_sample(rows * (1.0 + 1e-12), likelihood))
    )
    np.testing.assert_allclose(found, again, atol=1e-5)


def test_many_columns_start_from_the_directions_that_square_matrices_give(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    # Columns of equal variance: a ridge that is a multiple of one leaves directions alone.
    sample = draw(rng, Counts(2000, 2000))
    dense = starts._directions(sample, 1)[0][:, 0]
    monkeypatch.setattr(starts, "_MOST_DENSE_FEATURES", 1)
    product = starts._directions(sample, 1)[0][:, 0]
    cosine = abs(dense @ product) / np.linalg.norm(dense) / np.linalg.norm(product)
    assert cosine > 0.95
