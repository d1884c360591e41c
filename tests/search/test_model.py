"""Linear class scores learned by the pair likelihood."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, expand
from likewise.scores.design import Design, Sample, column_moments
from likewise.search import model as module
from likewise.search.model import PairModel, evaluate, fit_path, freed_path, minimise, ordered

COUNTS = Counts(60, 50, 20)
MEANS = np.array([[2.0, 0.0, 0.0], [-1.0, 1.7, 0.0], [-1.0, -1.7, 0.0]])


def draw(rng: np.random.Generator, prior: FloatArray, counts: Counts = COUNTS) -> Sample:
    """Draw a sample of two or three Gaussian classes in three dimensions."""
    classes = np.arange(prior.size)
    pairs = rng.choice(classes, counts.similar, p=prior**2 / (prior @ prior))
    both = np.outer(prior, prior) * (1 - np.eye(prior.size))
    codes = rng.choice(both.size, counts.dissimilar, p=(both / both.sum()).ravel())
    alone = rng.choice(classes, counts.unlabeled, p=prior)
    labels = np.concatenate([alone, pairs, pairs, codes // prior.size, codes % prior.size])
    rows = 1.3 * MEANS[labels] + rng.standard_normal((counts.rows, 3))
    return Sample(Design(rows, *column_moments(rows)), counts)


def penalised(sample: Sample, alpha: float, model: PairModel) -> float:
    """The objective, from standardised rows and the likelihood of a softmax."""
    scores = sample.design.dense() @ model.weights[:-1] + model.weights[-1]
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    likelihood = expand(log_softmax(scores, axis=1), sample.counts, model.pair_shares).value
    return likelihood + alpha / 2 * float(np.sum(model.weights[:-1] ** 2))


TWO, THREE = np.array([0.3, 0.7]), np.array([0.5, 0.3, 0.2])


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("prior", [TWO, THREE])
@pytest.mark.parametrize("alpha", [0.3, 0.01])
def test_a_generic_optimiser_from_the_same_start_finds_the_same_minimum(
    rng: np.random.Generator, prior: FloatArray, free: bool, alpha: float
) -> None:
    sample = draw(rng, prior)
    m = 1 if prior.size == 2 else prior.size
    shares = prior**2 / (prior @ prior) if free else None
    directions = (MEANS[1] - MEANS[0])[:, None] if m == 1 else MEANS.T
    start = PairModel(np.vstack([directions, np.zeros(m)]), shares)
    found = minimise(sample, alpha, start)

    def restored(vector: FloatArray) -> PairModel:
        weights = vector[: 4 * m].reshape(4, m)
        return PairModel(weights, softmax(vector[4 * m :]) if free else None)

    logs = [] if shares is None else [np.log(shares)]
    reference = minimize(
        lambda vector: penalised(sample, alpha, restored(vector)),
        np.concatenate([start.weights.ravel(), *logs]),
        method="BFGS",
        options={"gtol": 1e-6},
    )
    assert penalised(sample, alpha, found) == pytest.approx(reference.fun, abs=1e-5)
    assert penalised(sample, alpha, found) < penalised(sample, alpha, start) - 1e-3


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_no_nearby_weights_do_better(rng: np.random.Generator, prior: FloatArray) -> None:
    sample, alpha = draw(rng, prior), 0.1
    path = fit_path(
        sample, [alpha], prior.size, is_free=False, random_state=np.random.RandomState(0)
    )
    (found,) = path
    lowest = penalised(sample, alpha, found)
    for step in rng.standard_normal((30, *found.weights.shape)):
        assert penalised(sample, alpha, PairModel(found.weights + 0.05 * step)) > lowest


def path_of(sample: Sample, alphas: list[float], n_classes: int, free: bool) -> list[PairModel]:
    state = np.random.RandomState(0)
    if free:
        return list(freed_path(sample, alphas, n_classes, random_state=state))
    return list(fit_path(sample, alphas, n_classes, is_free=False, random_state=state))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("prior", [TWO, THREE])
def test_the_path_learns_the_classes_at_every_penalty_but_the_largest(
    prior: FloatArray, free: bool
) -> None:
    sample = draw(np.random.default_rng(0), prior, Counts(400, 400))
    models = path_of(sample, [1.0, 0.1, 0.01], prior.size, free)
    assert len(models) == 3
    lengths = [float(np.sum(model.weights[:-1] ** 2)) for model in models]
    assert lengths[1] < lengths[2]
    shares = evaluate(sample.design.decide(models[-1].weights), sample, models[-1].pair_shares)
    np.testing.assert_allclose(
        np.sort(shares[0].shares), np.sort(prior), atol=0.12 if free else 0.06
    )


def test_free_shares_explain_pairs_no_worse_than_random_pairing_at_any_penalty() -> None:
    sample = draw(np.random.default_rng(1), np.array([0.5, 0.5]), Counts(300, 300))
    alphas = [1.0, 0.3, 0.1, 0.03]
    values = {
        free: [
            penalised(sample, alpha, model)
            for alpha, model in zip(alphas, path_of(sample, alphas, 2, free), strict=True)
        ]
        for free in (False, True)
    }
    assert (np.array(values[True]) < np.array(values[False]) + 1e-4).all()


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_classes_are_named_by_size(rng: np.random.Generator, prior: FloatArray) -> None:
    sample = draw(rng, prior)
    m = 1 if prior.size == 2 else prior.size
    weights = rng.normal(size=(4, m))
    for turned in (weights, -weights) if m == 1 else (weights, weights[:, [2, 0, 1]]):
        model = ordered(PairModel(turned), sample)
        shares = evaluate(sample.design.decide(model.weights), sample)[0].shares
        assert (np.diff(shares) * (1 if m == 1 else -1) >= 0).all()
        assert penalised(sample, 0.1, model) == pytest.approx(
            penalised(sample, 0.1, PairModel(turned))
        )


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_pair_shares_move_with_the_names_of_their_classes(
    rng: np.random.Generator, prior: FloatArray
) -> None:
    sample = draw(rng, prior)
    weights = rng.normal(size=(4, 1 if prior.size == 2 else prior.size))
    models = [PairModel(sign * weights, prior**2 / (prior @ prior)) for sign in (1, -1)]
    for model in models:
        value = evaluate(sample.design.decide(model.weights), sample, model.pair_shares)[0].value
        again = ordered(model, sample)
        renamed = evaluate(sample.design.decide(again.weights), sample, again.pair_shares)[0]
        assert renamed.value == pytest.approx(value)


@pytest.mark.parametrize("prior", [TWO, THREE])
def test_sparse_rows_are_learned_from_as_dense_ones(prior: FloatArray) -> None:
    sample = draw(np.random.default_rng(0), prior)
    rows = sample.design.rows * (np.abs(sample.design.rows) > 0.5)
    models = [
        next(
            fit_path(
                Sample(Design(table, *column_moments(table)), sample.counts),
                [0.1],
                prior.size,
                is_free=False,
                random_state=np.random.RandomState(0),
            )
        )
        for table in (rows, sp.csr_matrix(rows))
    ]
    np.testing.assert_allclose(models[0].weights, models[1].weights, atol=1e-3)


def test_many_columns_start_from_the_directions_that_square_matrices_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Columns of equal variance: a ridge that is a multiple of one leaves directions alone.
    sample = draw(np.random.default_rng(0), TWO, Counts(2000, 2000))
    dense = module._directions(sample, 1)[0][:, 0]
    monkeypatch.setattr(module, "_MOST_DENSE_FEATURES", 1)
    product = module._directions(sample, 1)[0][:, 0]
    cosine = abs(dense @ product) / np.linalg.norm(dense) / np.linalg.norm(product)
    assert cosine > 0.95
