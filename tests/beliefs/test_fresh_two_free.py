"""The short cut for free shares of two classes says what the general likelihood says."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from likewise.beliefs.base import Beliefs, Likelihood
from likewise.beliefs.fixed_point import settle, settle_number
from likewise.beliefs.fresh import FreshLikelihood
from likewise.beliefs.fresh_two_free import _Search
from tests.beliefs.test_fresh_two import N_ALONE, N_SIMILAR, pairs_and_rows


def draw(
    n_dissimilar: int = 0, size: float = 1.5, *, weighted: bool = False
) -> tuple[FreshLikelihood, np.ndarray]:
    likelihood = pairs_and_rows(n_dissimilar, weighted=weighted).paired("free")
    rng = np.random.default_rng(2)
    of_pairs = np.repeat(rng.random(N_SIMILAR + n_dissimilar) < 0.4, 2)
    labels = np.append(rng.random(N_ALONE) < 0.7, of_pairs)
    order = np.random.default_rng(0).permutation(labels.size)  # as the rows of the likelihood
    scores = size * (2.0 * labels - 1.0) + rng.normal(size=labels.size)
    return likelihood, scores[order][:, None]


def in_general(
    likelihood: FreshLikelihood,
    scores: np.ndarray,
    near: Beliefs | None,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[float, np.ndarray, Beliefs]:
    with monkeypatch.context() as patch:
        patch.setattr(FreshLikelihood, "_is_quick", False)
        value, slopes, beliefs = Likelihood.slope(likelihood, scores, near)
    assert beliefs is not None
    return value, slopes, beliefs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_dissimilar", [0, 20])
@pytest.mark.parametrize("size", [0.5, 1.5, 5.0])
def test_it_equals_the_general_likelihood(
    size: float, n_dissimilar: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    likelihood, scores = draw(n_dissimilar, size, weighted=weighted)
    near, general = None, None
    for step in range(3):  # the first without a start, the others near the one before
        there = scores + 0.1 * step
        expected, slopes, general = in_general(likelihood, there, general, monkeypatch)
        value, gradient, near = likelihood.slope(there, near)
        assert near is not None
        assert near.pair_shares is not None
        assert general.pair_shares is not None
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-7)
        np.testing.assert_allclose(gradient, slopes, atol=1e-6)
        np.testing.assert_allclose(near.gradient, general.gradient, atol=1e-6)
        np.testing.assert_allclose(near.posteriors, general.posteriors, atol=1e-6)
        np.testing.assert_allclose(near.weights, general.weights, atol=1e-8)
        np.testing.assert_allclose(near.shares, general.shares, atol=1e-7)
        np.testing.assert_allclose(near.pair_shares, general.pair_shares, atol=1e-7)
        evaluated = Likelihood.slope(likelihood, there, near)
        assert evaluated[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("n_dissimilar", [0, 20])
def test_its_gradient_is_that_of_its_value(n_dissimilar: int) -> None:
    likelihood, scores = draw(n_dissimilar, weighted=True)
    near = likelihood.slope(scores)[2]
    slopes = approx_fprime(scores[:, 0], lambda z: likelihood.slope(z[:, None], near)[0], 1e-6)
    np.testing.assert_allclose(likelihood.slope(scores, near)[1][:, 0], slopes, atol=1e-4)


def test_both_ways_to_settle_shares_lead_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood, scores = draw()
    near = likelihood.slope(scores)[2]
    assert near is not None
    value = likelihood.slope(scores + 0.05, near)[0]
    monkeypatch.setattr(_Search, "both", lambda *_: None)
    assert likelihood.slope(scores + 0.05, near)[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("is_quick", [True, False])
def test_a_class_that_is_rare_among_rows_but_not_among_pairs_is_found(
    is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From shares of random pairs on, one class would be all that the pairs are of."""
    likelihood = pairs_and_rows(0).paired("free")
    rng = np.random.default_rng(3)
    labels = np.append(rng.random(N_ALONE) < 0.92, np.repeat(rng.random(N_SIMILAR) < 0.5, 2))
    order = np.random.default_rng(0).permutation(labels.size)
    scores = (4.0 * labels - 1.0 + rng.normal(size=labels.size))[order][:, None]
    monkeypatch.setattr(FreshLikelihood, "_is_quick", is_quick)
    beliefs = likelihood.slope(scores)[2]
    assert beliefs is not None
    assert beliefs.pair_shares is not None
    assert beliefs.pair_shares[1] == pytest.approx(0.5, abs=0.15)


def test_a_class_that_no_pair_is_of_is_settled_at_the_end_of_the_range() -> None:
    likelihood, scores = draw()
    members = likelihood.statements.members
    scores[members] = 8.0 + np.abs(scores[members])
    near = likelihood.slope(scores)[2]
    assert near is not None
    at_end = replace(near, pair_shares=np.array([1e-9, 1.0 - 1e-9]))
    value, gradient, found = likelihood.slope(scores, at_end)
    assert found is not None
    assert found.pair_shares is not None
    assert found.pair_shares[1] == pytest.approx(1.0, abs=1e-6)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("slope", [-3.0, -0.5, 0.9, 3.0])
def test_numbers_are_settled_as_vectors_are(slope: float) -> None:
    def step(x: float) -> float:
        return float(1.0 + slope * x + 0.1 * np.sin(x))

    vector, _ = settle(lambda x: np.array([step(float(x[0]))]), np.zeros(1))
    assert settle_number(step, 0.0) == pytest.approx(float(vector[0]), abs=1e-7)
