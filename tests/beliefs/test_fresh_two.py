"""The short cut for fresh pairs of two classes says what the general likelihood says."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from likewise.beliefs.base import Likelihood
from likewise.beliefs.fresh import FreshLikelihood
from likewise.statements.labels import read_labels

N_ALONE, N_SIMILAR = 40, 30


def pairs_and_rows(n_dissimilar: int, *, weighted: bool = False) -> FreshLikelihood:
    similar = np.repeat(np.arange(1, N_SIMILAR + 1), 2)
    dissimilar = -np.repeat(np.arange(1, n_dissimilar + 1), 2)
    y = np.concatenate([np.zeros(N_ALONE, dtype=int), similar, dissimilar])
    order = np.random.default_rng(0).permutation(y.size)
    statements = read_labels(y[order])
    if weighted:
        of_codes = {code: weight for weight, code in enumerate(np.unique(y[y != 0]), start=1)}
        alone = np.random.default_rng(1).integers(0, 3, y.size)
        weights = [of_codes.get(code, w) for code, w in zip(y[order], alone, strict=True)]
        statements = replace(statements, weights=np.array(weights, dtype=float))
    return FreshLikelihood(statements, 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_dissimilar", [0, 20])
@pytest.mark.parametrize("size", [0.0, 0.3, 3.0, 30.0])
def test_it_equals_the_general_likelihood(size: float, n_dissimilar: int, weighted: bool) -> None:
    likelihood = pairs_and_rows(n_dissimilar, weighted=weighted)
    scores = size * np.random.default_rng(2).normal(loc=0.3, size=(likelihood.n_rows, 1))
    value, gradient, _ = likelihood.slope(scores)
    expected, slopes, _ = Likelihood.slope(likelihood, scores)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


@pytest.mark.parametrize("n_dissimilar", [0, 20])
def test_its_gradient_is_that_of_its_value(n_dissimilar: int) -> None:
    likelihood = pairs_and_rows(n_dissimilar, weighted=True)
    scores = np.random.default_rng(3).normal(size=likelihood.n_rows)
    slopes = approx_fprime(scores, lambda z: likelihood.slope(z[:, None])[0], 1e-6)
    np.testing.assert_allclose(likelihood.slope(scores[:, None])[1][:, 0], slopes, atol=1e-4)


def test_log_odds_that_no_probability_can_hold_stay_finite() -> None:
    likelihood = pairs_and_rows(20)
    scores = np.where(np.arange(likelihood.n_rows) % 2, 1e4, -1e4)[:, None]
    value, gradient, _ = likelihood.slope(scores)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
