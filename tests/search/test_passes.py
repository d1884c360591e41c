"""The pair likelihood by passes: against finite differences, and against the profiled one."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit

import likewise as lw
from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Expansion, expand
from likewise.beliefs.fresh import FreshLikelihood
from likewise.engines import MemoryEngine
from likewise.search import passes
from likewise.search.climb import climb
from likewise.search.passes import Fit, State, collect, minimise_by_passes
from likewise.search.sample import Sample
from likewise.statements.labels import read_labels, row_sets_of
from tests.search.samples import as_sample

PAIRINGS = [None, np.array([0.35, 0.65])]


def draw(pairing: str = "random", n_similar: int = 400, n_unlabeled: int = 300) -> Sample:
    X, y = lw.datasets.make_waveform(20_000, prior=0.7, random_state=0)
    sample = lw.datasets.sample_su(X, y, n_similar, n_unlabeled, prior=0.7, random_state=0)
    X, y = sample.pack()
    return as_sample(X, FreshLikelihood(read_labels(y), 2, pairing))


def engine_of(sample: Sample) -> MemoryEngine:
    return MemoryEngine(sample.design.rows, row_sets_of(sample.likelihood.statements))


def random_weights(size: float = 0.3) -> FloatArray:
    return size * np.random.default_rng(3).normal(size=(22, 1))


def expansion_of(
    sample: Sample, weights: FloatArray, pair_shares: FloatArray | None = None
) -> Expansion:
    """Return the likelihood, with the share of rows profiled out."""
    likelihood = sample.likelihood
    assert isinstance(likelihood, FreshLikelihood)
    scores = sample.design.decide(weights)
    return expand(log_probabilities(scores), likelihood.counts, pair_shares)


def start_of(sample: Sample, weights: FloatArray, pair_shares: FloatArray | None = None) -> State:
    share = float(expansion_of(sample, weights, pair_shares).shares[1])
    engine = engine_of(sample)
    return State.of(weights, pair_shares, share, engine.count("similar"), engine.count("unlabeled"))


def pair_shares_of(state: State) -> FloatArray | None:
    """Return the pair shares of a state, if they are free."""
    if state.common.size == 2:
        return None
    share = float(expit(state.common[2]))
    return np.array([1.0 - share, share])


def minimise(sample: Sample, alpha: float, start: State) -> Fit:
    return minimise_by_passes(engine_of(sample), sample.design.standardise, alpha, start)


def central(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    nudges = 1e-5 * np.eye(at.size)
    return np.array([(function(at + e) - function(at - e)) / 2e-5 for e in nudges])


@pytest.mark.parametrize("pair_shares", PAIRINGS)
def test_first_and_second_derivatives_are_those_of_the_value(
    pair_shares: FloatArray | None,
) -> None:
    sample = draw()
    # Away from the solution, where nothing vanishes.
    state = State.of(random_weights(), pair_shares, 0.6, 300, 500)

    def derivatives(at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        here = State(at[:22], at[22:])
        totals = collect(engine_of(sample), sample.design.standardise, here)
        value, slope, curvature, cross = passes._common_terms(totals, here)
        gradient = (totals.of_rows[:, 0] - totals.of_pairs[:, 0]) / totals.n_pairs
        hessian = totals.hessian / totals.n_pairs
        full = np.block([[hessian, cross], [cross.T, curvature]])
        return value, np.concatenate([gradient, slope]), full

    at = np.concatenate([state.weights, state.common])
    _, gradient, hessian = derivatives(at)
    numeric = central(lambda point: np.array(derivatives(point)[0]), at)
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)
    numeric = central(lambda point: derivatives(point)[1], at)
    np.testing.assert_allclose(hessian, numeric, atol=1e-6)


@pytest.mark.parametrize("size", [0.3, 100.0])
@pytest.mark.parametrize("pair_shares", PAIRINGS)
def test_the_value_is_that_of_the_profiled_likelihood(
    pair_shares: FloatArray | None, size: float
) -> None:
    sample, weights = draw(), random_weights(size)
    expected = expansion_of(sample, weights, pair_shares)
    state = start_of(sample, weights, pair_shares)
    engine = engine_of(sample)
    for _ in range(30):  # settle what is common, weights and pair shares held
        totals = collect(engine, sample.design.standardise, state)
        value, slope, curvature, _ = passes._common_terms(totals, state)
        step = -np.linalg.solve(curvature[:2, :2], slope[:2])
        state = state.moved(np.concatenate([np.zeros(22), step, np.zeros(slope.size - 2)]))
    assert value == pytest.approx(expected.value, rel=1e-8)
    assert state.common[0] == pytest.approx(expected.shares[1], abs=1e-8)


@pytest.mark.parametrize("pairing", ["random", "free"])
def test_the_minimiser_is_that_of_the_profiled_likelihood(pairing: str) -> None:
    sample, alpha = draw(pairing), 0.02
    near = climb(sample, alpha, random_weights())
    engine = engine_of(sample)
    start = start_of(sample, near.weights, near.beliefs.pair_shares)
    fit = minimise_by_passes(engine, sample.design.standardise, alpha, start)
    assert fit.converged
    assert engine.n_passes <= 5
    weights, pair_shares = fit.state.weights[:, None], pair_shares_of(fit.state)
    found = expansion_of(sample, weights, pair_shares)
    gradient = sample.design.pull(found.gradient[:, 1:])[:, 0]
    gradient[:-1] += alpha * weights[:-1, 0]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-7)
    if pair_shares is not None:
        np.testing.assert_allclose(found.pair_gradient, 0.0, atol=1e-7)


def test_a_start_far_away_is_brought_downhill() -> None:
    sample, alpha = draw(), 0.1
    far = random_weights(1.0)
    fit = minimise(sample, alpha, start_of(sample, far))
    assert fit.converged

    def penalised(weights: FloatArray) -> float:
        penalty = 0.5 * alpha * float(np.sum(weights[:-1] ** 2))
        return expansion_of(sample, weights).value + penalty

    assert penalised(fit.state.weights[:, None]) < penalised(far)


def test_a_fit_that_is_not_done_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "_MOST_PASSES", 1)
    sample = draw()
    fit = minimise(sample, 0.01, start_of(sample, random_weights()))
    assert not fit.converged
    assert fit.promise > 0


def test_what_is_not_finite_is_named() -> None:
    sample = draw("random", 20, 20)
    rows = sample.design.rows.copy()
    rows[20 + 20 + 3, 5] = np.nan
    engine = MemoryEngine(rows, row_sets_of(sample.likelihood.statements))
    state = State.of(random_weights(), None, 0.7, 20, 20)
    with pytest.raises(ValueError, match="contain NaN, first at pair 3, column 5"):
        collect(engine, sample.design.standardise, state)
