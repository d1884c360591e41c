"""Linear scores of few columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.search import sparse as module
from likewise.search.climb import climb_path
from likewise.search.crossfit import Candidate, Path, cross_fit, fit_whole, parts_of
from likewise.search.sample import Sample
from likewise.search.sparse import can_be_sparse, posterior_mean, posterior_path
from likewise.statements.folds import PairKFold
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, as_sample, fresh, two_gaussians

COUNTS = Counts(200, 200)


def draw(seed: int, n_noise: int = 20, counts: Counts = COUNTS, separation: float = 2.5) -> Sample:
    """Draw pairs and rows of two Gaussians that one column tells apart; the others are noise."""
    rng = np.random.default_rng(seed)
    signal = Gaussians(separation).draw(rng, counts)
    noise = rng.standard_normal((counts.rows, n_noise))
    return as_sample(np.column_stack([signal, noise]), fresh(counts))


def best(sample: Sample, path: Path, alphas: list[float]) -> Candidate:
    folds = PairKFold(4, shuffle=True, random_state=0).deal(sample.likelihood.statements)
    parts = parts_of(sample.likelihood, folds)
    found = cross_fit(sample, parts, alphas, np.random.RandomState(0), path=path)
    return max(found, key=lambda one: one.information)


def noise_share(weights: FloatArray) -> float:
    return float(np.linalg.norm(weights[1:-1]) / np.linalg.norm(weights[:-1]))


def chain_of(sample: Sample, alpha: float, start: FloatArray) -> Any:
    return module._Chain(sample, alpha, start, np.random.default_rng(0))


def mean_from(sample: Sample, start: FloatArray) -> FloatArray:
    return posterior_mean(sample, 0.03, start, np.random.RandomState(0)).weights


def test_where_one_column_counts_held_out_pairs_are_explained_better() -> None:
    gains = []
    for seed in range(4):
        sample = draw(seed)
        ridge = best(sample, climb_path, [0.3, 0.1, 0.03, 0.01])
        sparse = best(sample, posterior_path, [0.03])
        gains.append(sparse.information - ridge.information)
        weights = mean_from(sample, sparse.weights)
        assert noise_share(weights) < 0.7 * noise_share(fit_whole(sample, ridge).weights)
    assert np.mean(gains) > 0.01


def prior_of(weight: float, expected: float) -> float:
    """Density of a weight whose deviation is a product of two half-Cauchy variables."""

    def given(log_deviation: float) -> float:
        s = np.exp(log_deviation)
        density = 4.0 / np.pi**2 * log_deviation / (s * s - 1.0) if log_deviation else 2 / np.pi**2
        deviation = s * expected
        normal = np.exp(-0.5 * (weight / deviation) ** 2) / deviation / np.sqrt(2.0 * np.pi)
        return float(density * normal * s)

    return float(quad(given, -20.0, 20.0, limit=400)[0])


def check_means(drawn: FloatArray, expected: Sequence[float]) -> None:
    """Compare means of columns, up to four standard errors as batches of draws tell them."""
    batches = drawn.reshape(40, -1, drawn.shape[1]).mean(axis=1)
    errors = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    assert np.all(errors < 0.1)
    assert np.all(np.abs(batches.mean(axis=0) - expected) < 4.0 * errors)


@pytest.mark.parametrize("separation", [0.0, 1.5])
def test_draws_are_of_the_posterior(separation: float) -> None:
    """Against sums over a grid of the only column's weight and the intercept.

    The density of a weight rises without end towards zero, so the grid is fine there.
    """
    sample = draw(1, n_noise=0, counts=Counts(40, 40), separation=separation)
    alpha = 0.03
    edges = np.geomspace(1e-6, 100.0, 81)
    w, b = np.sqrt(edges[1:] * edges[:-1]), np.linspace(-40.0, 40.0, 161)
    expected = 1.0 / np.sqrt(sample.likelihood.size * alpha)
    priors = np.array([prior_of(one, expected) for one in w]) * np.diff(edges)
    logs = np.array(
        [
            [
                sample.likelihood.slope(sample.design.decide(np.array([[one], [other]])))[0]
                - 0.5 * module._FREE * other**2
                for other in b
            ]
            for one in w
        ]
    )
    weight = np.exp(logs - logs.max()) * priors[:, None]
    weight /= weight.sum()
    of_w, of_b = weight.sum(axis=1), weight.sum(axis=0)

    chain = chain_of(sample, alpha, np.array([[0.5], [0.1]]))
    chain.run(200)
    chain.look_again()
    drawn = np.abs(np.array(chain.run(4000)))
    found = np.column_stack([drawn[:, 0] > 0.1, drawn[:, 0] > 1.0, drawn[:, 1] > 2.0])
    check_means(found, [of_w[w > 0.1].sum(), of_w[w > 1.0].sum(), of_b[np.abs(b) > 2.0].sum()])


def test_deviations_are_drawn_as_half_cauchy_priors_say() -> None:
    """Against sums over a grid of the typical deviation and of each column's own."""
    sample = draw(0, n_noise=2)
    weights, alpha = np.array([0.5, -1.0, 2.0]), 0.5
    chain = chain_of(sample, alpha, np.append(weights, 0.3)[:, None])
    drawn = np.empty((20_000, 2))
    for own in drawn:
        precisions = chain._draw_precisions()
        own[:] = np.log(chain._typical) / 5.0, 1.0 / precisions[0] > weights[0] ** 2
    expected = 1.0 / np.sqrt(sample.likelihood.size * alpha)
    grid = np.geomspace(1e-5, 1e5, 801)
    cauchy = grid / (1.0 + grid**2)  # per unit of the logarithm
    deviation = np.outer(expected * grid, grid)
    normal = [np.exp(-0.5 * (w / deviation) ** 2) / deviation for w in weights]
    of_typical = cauchy * np.prod([one @ cauchy for one in normal], axis=0)
    of_typical /= of_typical.sum()
    large = (normal[0] * (deviation > weights[0])) @ cauchy / (normal[0] @ cauchy)
    logs = 2.0 * np.log(expected * grid)
    check_means(drawn[1000:].reshape(-1, 2)[:18_960], [of_typical @ logs / 5.0, of_typical @ large])


def test_most_draws_are_accepted() -> None:
    chain = chain_of(draw(0), 0.03, np.append(1.0, np.zeros(21))[:, None])
    drawn = np.array(chain.run(200))
    assert np.mean(np.any(np.diff(drawn, axis=0) != 0.0, axis=1)) > 0.6


def test_classes_are_called_as_at_the_start() -> None:
    sample, start = draw(0), np.append(1.0, np.zeros(21))[:, None]
    same, other = mean_from(sample, start), mean_from(sample, -start)
    assert same[0, 0] > 0.5
    assert other[0, 0] < -0.5


def test_draws_that_call_the_classes_otherwise_do_not_cancel_out() -> None:
    sample, weights = draw(0), np.append(1.0, np.zeros(21))
    found = module._mean(sample, [weights, -weights, -weights], weights[:, None])
    np.testing.assert_allclose(found[:, 0], weights)


def test_columns_without_variation_get_no_weight() -> None:
    sample = draw(0, n_noise=2)
    sample.design.rows[:, 2] = 1.0
    constant = as_sample(sample.design.rows, sample.likelihood)
    (found,) = posterior_path(constant, [0.03], np.random.RandomState(0))
    assert np.isfinite(found.weights).all()
    assert found.weights[2, 0] == 0.0
    assert all(one[2] == 0.0 for one in found.draws)
    nothing = as_sample(np.ones_like(sample.design.rows), sample.likelihood)
    (found,) = posterior_path(nothing, [0.03], np.random.RandomState(0))
    np.testing.assert_array_equal(found.weights[:-1], 0.0)


def test_held_out_pairs_are_as_probable_as_by_the_mean_draw() -> None:
    """The mean is of probabilities of all pairs of a fold together."""
    sample = draw(0, n_noise=1)
    folds = PairKFold(2, shuffle=True, random_state=0).deal(sample.likelihood.statements)
    parts = parts_of(sample.likelihood, folds)
    rng = np.random.RandomState(0)
    (candidate,) = cross_fit(sample, parts, [0.03], rng, path=posterior_path)
    rng = np.random.RandomState(0)
    for part, evidence in zip(parts, candidate.evidence, strict=True):
        train = Sample(sample.design.take(part.train), part.likelihood)
        (own,) = posterior_path(train, [0.03], rng)
        assert len(own.draws) == module._DRAWS // module._EVERY
        one_by_one = [
            sample.likelihood.evidence(
                part, log_probabilities(sample.design.decide(draw[:, None])), own.beliefs
            )
            for draw in own.draws
        ]
        assert evidence == pytest.approx(np.log(np.mean(np.exp(one_by_one))))


def test_only_few_fresh_similar_pairs_of_two_classes_formed_at_random(
    rng: np.random.Generator,
) -> None:
    sample = draw(0)
    likelihood = sample.likelihood
    weighted: Any = fresh(COUNTS)
    statements = likelihood.statements
    weighted.statements = replace(statements, weights=np.ones(statements.n_rows))
    _, classes = two_gaussians(rng, 60)
    assert can_be_sparse(likelihood, 21)
    assert not can_be_sparse(likelihood, 101)
    assert not can_be_sparse(fresh(Counts(10, 2001)), 21)
    assert not can_be_sparse(weighted, 21)
    assert not can_be_sparse(fresh(COUNTS, 3), 21)
    assert not can_be_sparse(likelihood.paired("free"), 21)
    assert not can_be_sparse(fresh(Counts(50, 50, 20)), 21)
    assert not can_be_sparse(TableLikelihood(answered(rng, classes, 60), 2, "asked"), 21)
