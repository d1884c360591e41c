"""The short cut for two classes of pairs found at random says what the general coupling says."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from likewise.beliefs.base import Likelihood, log_probabilities
from likewise.beliefs.coupling_two import CouplingTwo
from likewise.beliefs.table import TableLikelihood
from tests.beliefs.cases import likelihood
from tests.beliefs.test_coupling import SHAPES, Found, draw_found


def draw(shape: str, n_rows: int, n_apart: int, seed: int = 0) -> tuple[Found, TableLikelihood]:
    found = draw_found(n_rows, SHAPES[shape](n_rows), seed, n_apart)
    return found, likelihood(found.said, pairing="random")


@pytest.mark.parametrize("size", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("n_rows", [60, 300])
@pytest.mark.parametrize("n_apart", [0, 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_equals_the_general_coupling(shape: str, n_apart: int, n_rows: int, size: float) -> None:
    found, model = draw(shape, n_rows, n_apart)
    rng, coupling, near = np.random.default_rng(1), model._coupling, None
    for _ in range(3):  # the first without a start, the others near the one before
        scores = size * found.scores + 0.2 * rng.normal(size=n_rows)
        fields = model._components.add(log_probabilities(scores))
        general, near = coupling.settle(fields, near), coupling.solve(fields, near)
        assert near.value == pytest.approx(general.value, abs=1e-5)
        np.testing.assert_allclose(near.beliefs, general.beliefs, atol=1e-6)
        np.testing.assert_allclose(near.shares, general.shares, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_climb_gets_what_an_evaluation_would_give_it(shape: str) -> None:
    found, model = draw(shape, 100, 10)
    value, gradient, beliefs = model.slope(found.scores[:, None])
    expected, slopes, general = Likelihood.slope(model, found.scores[:, None])
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(gradient, slopes, atol=1e-9)
    assert beliefs is not None
    assert general is not None
    np.testing.assert_allclose(beliefs.gradient, general.gradient, atol=1e-9)
    np.testing.assert_allclose(beliefs.posteriors, general.posteriors, atol=1e-9)
    np.testing.assert_allclose(beliefs.shares, general.shares, atol=1e-9)


@pytest.mark.parametrize("n_apart", [0, 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_its_gradient_is_that_of_its_value(shape: str, n_apart: int) -> None:
    found, model = draw(shape, 60, n_apart)
    _, gradient, near = model.slope(found.scores[:, None])
    slopes = approx_fprime(found.scores, lambda z: model.slope(z[:, None], near)[0], 1e-6)
    np.testing.assert_allclose(gradient[:, 0], slopes, atol=1e-5)


def test_log_odds_that_no_probability_can_hold_stay_finite() -> None:
    found, model = draw("small groups", 60, 10)
    value, gradient, _ = model.slope(1e4 * found.scores[:, None])
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_what_does_not_settle_takes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    found, model = draw("one giant component", 60, 10)
    value = model.slope(found.scores[:, None])[0]
    monkeypatch.setattr(CouplingTwo, "solve", lambda *_: None)
    assert model.slope(found.scores[:, None])[0] == pytest.approx(value, abs=1e-5)
