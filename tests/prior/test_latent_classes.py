"""Two hidden classes behind counts of bins."""

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.prior import latent_classes
from likewise.prior.latent_classes import Counts, profile_log_likelihood

POSITIVE = np.array([0.05, 0.1, 0.15, 0.3, 0.4])
NEGATIVE = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
EDGES = np.array([0.1, 0.3, 0.5, 0.7])


def expected_counts(prior: float, n: float) -> Counts:
    """What the model says about n pairs and n rows, without noise."""
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    pairs = share * np.outer(POSITIVE, POSITIVE) + (1 - share) * np.outer(NEGATIVE, NEGATIVE)
    return Counts(n * pairs, n * (prior * POSITIVE + (1 - prior) * NEGATIVE), EDGES)


@pytest.mark.parametrize("prior", [0.5, 0.6, 0.7, 0.8, 0.9])
def test_the_true_prior_is_the_best_where_counts_are_exact(prior: float) -> None:
    priors = np.linspace(0.5, 0.98, 49)
    values = profile_log_likelihood(expected_counts(prior, 1e7), priors)
    assert priors[np.argmax(values)] == pytest.approx(prior, abs=0.011)


def test_no_probabilities_do_better_than_those_found(rng: np.random.Generator) -> None:
    counts = expected_counts(0.7, 300)
    prior = np.array([0.75])
    best = profile_log_likelihood(counts, prior)[0]
    model = latent_classes._Model(counts, prior)
    for _ in range(200):
        logits = np.log(
            np.concatenate([rng.dirichlet(20 * POSITIVE), rng.dirichlet(20 * NEGATIVE)])
        )
        assert model.log_likelihood(logits[None])[0] <= best + 1e-6


def test_gradient_matches_finite_differences(rng: np.random.Generator) -> None:
    model = latent_classes._Model(expected_counts(0.7, 50), np.array([0.6, 0.8]))
    logits = rng.normal(size=(2, 10))
    gradient, information = model._gradient_and_information(logits)
    assert np.linalg.eigvalsh(information).min() > -1e-9

    def slope(entry: int) -> NDArray[np.float64]:
        step = np.zeros(10)
        step[entry] = 1e-6
        rise = model.log_likelihood(logits + step) - model.log_likelihood(logits - step)
        return np.asarray(rise / 2e-6)

    np.testing.assert_allclose(gradient, np.stack([slope(k) for k in range(10)], axis=1), rtol=1e-4)


def test_counts_of_ranks_are_symmetric_and_complete() -> None:
    counts = Counts.of_ranks(
        np.array([0.05, 0.95]), np.array([0.95, 0.95]), np.array([0.2, 0.2, 0.6]), EDGES
    )
    np.testing.assert_array_equal(counts.pairs, counts.pairs.T)
    assert counts.pairs[0, 4] == counts.pairs[4, 0] == 0.5
    assert counts.pairs[4, 4] == 1.0
    np.testing.assert_array_equal(counts.rows, [0, 2, 0, 1, 0])


def test_second_differences_are_zero_on_lines_and_two_on_squares() -> None:
    from scipy.special import ndtri

    matrix = latent_classes._second_differences(EDGES)
    scores = ndtri(np.array([0.05, 0.2, 0.4, 0.6, 0.85]))
    np.testing.assert_allclose(matrix @ (3 * scores + 1), 0, atol=1e-9)
    np.testing.assert_allclose(matrix @ scores**2, 2)


def test_the_signal_counts_standard_errors_of_the_covariance(rng: np.random.Generator) -> None:
    def counts_of(shared: float) -> Counts:
        common = rng.random(4000) < shared
        left, right, fresh = rng.random((3, 4000))
        return Counts.of_ranks(left, np.where(common, left, right), fresh, EDGES)

    assert abs(counts_of(0.0).signal()) < 3.5
    assert counts_of(0.3).signal() > 8
    alike = Counts.of_ranks(np.full(9, 0.5), np.full(9, 0.5), np.full(9, 0.5), EDGES)
    assert alike.signal() == 0
