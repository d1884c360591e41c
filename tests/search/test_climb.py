"""Linear class scores that explain statements best."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts, expand
from likewise.beliefs.fresh import FreshLikelihood
from likewise.beliefs.table import TableLikelihood
from likewise.search.climb import FINAL, Climbed, climb, climb_path, exchanged, ordered
from likewise.search.sample import Sample
from tests.search.samples import answered, as_sample, fresh, met, two_gaussians

COUNTS = Counts(60, 50, 20)
MEANS = np.array([[2.0, 0.0, 0.0], [-1.0, 1.7, 0.0], [-1.0, -1.7, 0.0]])
TWO, THREE = np.array([0.3, 0.7]), np.array([0.5, 0.3, 0.2])


def draw(
    rng: np.random.Generator, prior: FloatArray, counts: Counts = COUNTS, pairing: str = "random"
) -> Sample:
    """Draw fresh pairs and rows of two or three Gaussian classes in three dimensions."""
    classes = np.arange(prior.size)
    pairs = rng.choice(classes, counts.similar, p=prior**2 / (prior @ prior))
    both = np.outer(prior, prior) * (1 - np.eye(prior.size))
    codes = rng.choice(both.size, counts.dissimilar, p=(both / both.sum()).ravel())
    alone = rng.choice(classes, counts.unlabeled, p=prior)
    labels = np.concatenate([alone, pairs, pairs, codes // prior.size, codes % prior.size])
    rows = 1.3 * MEANS[labels] + rng.standard_normal((counts.rows, 3))
    return as_sample(rows, fresh(counts, prior.size, pairing))


def draw_table(rng: np.random.Generator, prior: FloatArray, n_rows: int = 80) -> Sample:
    """Draw one table and answers about its rows."""
    labels = rng.choice(prior.size, n_rows, p=prior)
    rows = 1.3 * MEANS[labels] + rng.standard_normal((n_rows, 3))
    return as_sample(rows, TableLikelihood(answered(rng, labels, n_rows), prior.size))


def n_columns(prior: FloatArray) -> int:
    return 1 if prior.size == 2 else prior.size


def near_truth(prior: FloatArray) -> FloatArray:
    """Return weights that tell the classes apart."""
    m = n_columns(prior)
    directions = (MEANS[1] - MEANS[0])[:, None] if m == 1 else MEANS.T
    return np.vstack([directions, np.zeros(m)])


def penalised(
    sample: Sample, alpha: float, weights: FloatArray, pair_shares: FloatArray | None = None
) -> float:
    """The objective, from standardised rows and the likelihood of a softmax."""
    scores = sample.design.dense() @ weights[:-1] + weights[-1]
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    log_p, likelihood = log_softmax(scores, axis=1), sample.likelihood
    if isinstance(likelihood, FreshLikelihood):
        value = expand(log_p, likelihood.counts, pair_shares).value
    else:
        value = -likelihood.evaluate(log_p).value / likelihood.size
    return value + alpha / 2 * float(np.sum(weights[:-1] ** 2))


def path(sample: Sample, alphas: list[float]) -> list[Climbed]:
    return list(climb_path(sample, alphas, np.random.RandomState(0)))


@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("prior", [TWO, THREE])
@pytest.mark.parametrize("alpha", [0.3, 0.01])
def test_a_generic_optimiser_from_the_same_start_finds_the_same_optimum(
    rng: np.random.Generator, prior: FloatArray, pairing: str, alpha: float
) -> None:
    sample, m = draw(rng, prior, pairing=pairing), n_columns(prior)
    start = near_truth(prior)
    found = climb(sample, alpha, start, effort=FINAL)
    logs = [] if pairing == "random" else [2 * np.log(prior)]

    def objective(vector: FloatArray) -> float:
        shares = softmax(vector[4 * m :]) if logs else None
        return penalised(sample, alpha, vector[: 4 * m].reshape(4, m), shares)

    reference = minimize(
        objective,
        np.concatenate([start.ravel(), *logs]),
        method="BFGS",
        options={"gtol": 1e-6},
    )
    assert found.objective == pytest.approx(reference.fun, abs=1e-5)
    reached = penalised(sample, alpha, found.weights, found.beliefs.pair_shares)
    assert reached == pytest.approx(found.objective, abs=1e-6)


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_so_it_does_for_answers_about_one_table(
    rng: np.random.Generator, prior: FloatArray
) -> None:
    sample, m, alpha = draw_table(rng, prior, 40), n_columns(prior), 0.1
    start = near_truth(prior)
    found = climb(sample, alpha, start, effort=FINAL)
    reference = minimize(
        lambda vector: penalised(sample, alpha, vector.reshape(4, m)), start.ravel(), method="BFGS"
    )
    assert found.objective == pytest.approx(reference.fun, abs=1e-5)


@pytest.mark.parametrize("draw_one", [draw, draw_table])
@pytest.mark.parametrize("prior", [TWO, THREE])
def test_no_nearby_weights_do_better(
    rng: np.random.Generator, prior: FloatArray, draw_one: Any
) -> None:
    sample, alpha = draw_one(rng, prior), 0.1
    (found,) = path(sample, [alpha])
    lowest = penalised(sample, alpha, found.weights)
    for step in rng.standard_normal((30, *found.weights.shape)):
        assert penalised(sample, alpha, found.weights + 0.05 * step) > lowest


@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("prior", [TWO, THREE])
def test_the_path_learns_the_classes_at_every_penalty_but_the_largest(
    prior: FloatArray, pairing: str
) -> None:
    sample = draw(np.random.default_rng(0), prior, Counts(400, 400), pairing)
    found = path(sample, [1.0, 0.1, 0.01])
    assert len(found) == 3
    lengths = [float(np.sum(one.weights[:-1] ** 2)) for one in found]
    assert lengths[1] < lengths[2]
    np.testing.assert_allclose(
        np.sort(found[-1].beliefs.shares),
        np.sort(prior),
        atol=0.12 if pairing == "free" else 0.06,
    )


def test_free_shares_explain_pairs_no_worse_than_random_pairing_at_any_penalty() -> None:
    """They have an optimum without classes, which a path that began there would stay in."""
    even, alphas = np.array([0.5, 0.5]), [1.0, 0.3, 0.1, 0.03]
    reached = {
        pairing: np.array(
            [
                found.objective
                for found in path(
                    draw(np.random.default_rng(1), even, Counts(300, 300), pairing), alphas
                )
            ]
        )
        for pairing in ("random", "free")
    }
    assert (reached["free"] < reached["random"] + 1e-4).all()


@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("prior", [TWO, THREE])
def test_classes_are_named_by_size(
    rng: np.random.Generator, prior: FloatArray, pairing: str
) -> None:
    sample, m = draw(rng, prior, pairing=pairing), n_columns(prior)
    weights = rng.normal(size=(4, m))
    for turned in (weights, -weights) if m == 1 else (weights, weights[:, [2, 0, 1]]):
        beliefs = sample.evaluate(sample.design.decide(turned))[0]
        found = ordered(Climbed(turned, 0.0, beliefs))
        assert (np.diff(found.beliefs.shares) * (1 if m == 1 else -1) >= 0).all()
        again = sample.evaluate(sample.design.decide(found.weights))[0]
        assert again.value == pytest.approx(beliefs.value, abs=1e-4)
        np.testing.assert_allclose(found.beliefs.shares, again.shares, atol=1e-4)
        np.testing.assert_allclose(found.beliefs.posteriors, again.posteriors, atol=1e-3)
        np.testing.assert_allclose(found.beliefs.gradient, again.gradient, atol=1e-2)
        if again.pair_shares is not None:
            assert found.beliefs.pair_shares is not None
            np.testing.assert_allclose(found.beliefs.pair_shares, again.pair_shares, atol=1e-3)


def test_classes_that_have_names_keep_them_whatever_their_size(rng: np.random.Generator) -> None:
    rows, classes = two_gaussians(rng, 150)
    known = np.where(np.arange(150) < 10, 1 - classes, -1)  # the second class is the smaller one
    likelihood = TableLikelihood(answered(rng, classes, 200), 2, known=known)
    found = path(as_sample(rows, likelihood), [0.1, 0.01])[-1]
    assert found.beliefs.shares[1] == pytest.approx(1 - classes.mean(), abs=0.05)
    assert found.weights[0, 0] < 0
    np.testing.assert_array_equal(found.beliefs.posteriors[:10].argmax(axis=1), known[:10])


def test_exchanged_columns_are_those_of_the_classes() -> None:
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(exchanged(values, np.array([2, 0, 1])), values[:, [2, 0, 1]])
    one = values[:, :1]
    np.testing.assert_array_equal(exchanged(one, np.array([1, 0])), -one)
    np.testing.assert_array_equal(exchanged(one, np.array([0, 1])), one)


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_sparse_rows_are_learned_from_as_dense_ones(prior: FloatArray) -> None:
    sample = draw(np.random.default_rng(0), prior)
    rows = sample.design.rows * (np.abs(sample.design.rows) > 0.5)
    weights = [
        path(as_sample(table, sample.likelihood), [0.1])[0].weights
        for table in (rows, sp.csr_matrix(rows))
    ]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-3)


@pytest.mark.parametrize("pairing", ["asked", "random"])
def test_statements_about_one_table_teach_its_classes(
    rng: np.random.Generator, pairing: Any
) -> None:
    rows, classes = two_gaussians(rng, 300)
    statements = answered(rng, classes, 300) if pairing == "asked" else met(rng, classes, 200)
    found = path(as_sample(rows, TableLikelihood(statements, 2, pairing)), [0.1, 0.01])[-1]
    assert np.mean(found.beliefs.posteriors.argmax(axis=1) == classes) > 0.95
    assert found.beliefs.shares[1] == pytest.approx(classes.mean(), abs=0.05)


def test_an_error_rate_is_learned_on_the_way(rng: np.random.Generator) -> None:
    rows, classes = two_gaussians(rng, 150)
    likelihood = TableLikelihood(answered(rng, classes, 900, 0.15), 2, "asked", None)
    found = path(as_sample(rows, likelihood), [0.1, 0.03])[-1]
    assert found.beliefs.error_rate == pytest.approx(0.15, abs=0.04)
    assert np.mean(found.beliefs.posteriors.argmax(axis=1) == classes) > 0.97


def test_a_climb_from_where_it_ended_stays_there(rng: np.random.Generator) -> None:
    sample = draw_table(rng, TWO)
    first = climb(sample, 0.1, near_truth(TWO), effort=FINAL)
    again = climb(sample, 0.1, first.weights, first.beliefs)
    assert again.objective == pytest.approx(first.objective, abs=1e-6)
    scores = sample.design.decide(first.weights)
    value = sample.likelihood.evaluate(log_probabilities(scores)).value
    assert first.beliefs.value == pytest.approx(value)
