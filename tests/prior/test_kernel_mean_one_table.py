"""KM1 and KM2 of one table: members of similar statements against all rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

import likewise as lw
from likewise.datasets import StatementSample, sample_statements
from likewise.prior.embedding import TwoSamples
from likewise.prior.kernel_mean import KernelMeanPrior
from likewise.prior.mixture_proportion import kernel_mean_embedding, proportion_of


@pytest.fixture
def met() -> StatementSample:
    X, y = lw.datasets.make_gaussians(3000, prior=0.5, separation=3.0, random_state=0)
    return sample_statements(X, y, 150, 120, kind="met", prior=0.8, random_state=0)


def test_members_count_as_often_as_statements_name_them(met: StatementSample) -> None:
    found = KernelMeanPrior(standardize=False).fit(*met.pack()).result_
    counts = np.bincount(met.similar.ravel(), minlength=150)
    assert counts.max() > 1
    assert found.sample_distance > 0
    # The same samples, with every member as a row of its own.
    copies = kernel_mean_embedding(met.table, np.repeat(met.table, counts, axis=0))
    rows = proportion_of(
        TwoSamples(met.table, np.ones(150), counts.astype(float)),
        lambda_left=2.0,
        lambda_right=8.0,
        tol=0.04,
    )
    assert rows == found
    # Only the median distance, over other rows, and the sample size differ.
    assert copies.sample_distance == pytest.approx(found.sample_distance, rel=0.1)
    assert copies.km2 == pytest.approx(found.km2, abs=0.1)


def test_copies_of_rows_and_counts_are_the_same_samples(rng: np.random.Generator) -> None:
    rows, counts = rng.normal(size=(40, 2)), rng.integers(1, 4, size=40).astype(float)
    once = TwoSamples(rows, np.ones(40), counts)
    stacked = TwoSamples.stacked(rows, np.repeat(rows, counts.astype(int), axis=0))
    kernel = rbf_kernel(rows)
    copies = rbf_kernel(stacked.rows)
    for value in (1.0, 2.0, 5.0):
        left, right = once.target(value), stacked.target(value)
        assert left @ kernel @ left == pytest.approx(right @ copies @ right)
    left, right = once.contrast(), stacked.contrast()
    assert left @ kernel @ left == pytest.approx(right @ copies @ right)


def test_a_row_in_many_statements_is_one_row_to_the_sample_size() -> None:
    counts = np.array([4.0, 0.0, 0.0, 1.0, 1.0])
    samples = TwoSamples(np.zeros((5, 1)), np.ones(5), counts)
    assert samples.smaller_size() == pytest.approx(36 / 18)
    assert TwoSamples.stacked(np.zeros((5, 1)), np.ones((3, 1))).smaller_size() == 3.0


def test_both_forms_of_labels_and_groups_are_read(met: StatementSample) -> None:
    same = [np.flatnonzero(met.y_table == label)[:9] for label in (-1, 1)]
    groups = [rows[start : start + 3] for rows in same for start in (0, 3, 6)]
    X, vector = lw.pack(met.table, similar=groups)
    assert vector.ndim == 1
    places = (np.ones(18), (np.concatenate(groups), np.repeat(np.arange(6), 3)))
    matrix = sp.csr_matrix(places, shape=(150, 6))
    first, second = (KernelMeanPrior().fit(X, y).result_ for y in (vector, matrix))
    assert first == second


def test_dissimilar_statements_are_not_used() -> None:
    X, y = lw.datasets.make_gaussians(3000, prior=0.5, separation=3.0, random_state=0)
    asked = sample_statements(X, y, 150, 200, prior=0.8, random_state=0)
    everything = KernelMeanPrior().fit(*asked.pack()).result_
    similar = KernelMeanPrior().fit(*lw.pack(asked.table, similar=asked.similar)).result_
    assert everything == similar


@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_that_of_fresh_pairs_up_to_the_draw(seed: int) -> None:
    X, y = lw.datasets.make_gaussians(6000, prior=0.5, separation=4.0, random_state=seed)
    met = sample_statements(X, y, 300, 200, kind="met", prior=0.8, random_state=seed)
    drawn = lw.datasets.sample_su(X, y, 200, 300, prior=0.8, random_state=seed)
    table, fresh = (KernelMeanPrior().fit(*one.pack()).prior_ for one in (met, drawn))
    assert table == pytest.approx(fresh, abs=0.1)
