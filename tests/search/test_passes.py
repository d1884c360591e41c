"""The pair likelihood by passes: against finite differences, and against the profiled one."""

from collections.abc import Callable

import numpy as np
import pytest

import likewise as lw
from likewise._types import FloatArray
from likewise.engines import MemoryEngine
from likewise.scores.design import Design, Sample, column_moments
from likewise.search import crossfit, passes
from likewise.search.crossfit import cross_fit_by_passes, cross_fit_from
from likewise.search.model import PairModel, evaluate, minimise
from likewise.search.passes import State, collect, leave_out, minimise_by_passes
from likewise.search.table import Table
from likewise.statements.folds import PairKFold
from likewise.statements.labels import locate

PAIRINGS = [None, np.array([0.35, 0.65])]


def draw(n_similar: int = 400, n_unlabeled: int = 300, seed: int = 0) -> Sample:
    X, y = lw.datasets.make_waveform(20_000, prior=0.7, random_state=seed)
    sample = lw.datasets.sample_su(X, y, n_similar, n_unlabeled, prior=0.7, random_state=seed)
    X, y = sample.pack()
    table = Table.of(X, locate(y))
    return Sample(Design(table.rows, *column_moments(table.rows)), table.counts)


def engine_of(sample: Sample) -> MemoryEngine:
    return MemoryEngine(sample.design.rows, sample.counts.row_sets)


def start_of(sample: Sample, model: PairModel) -> State:
    shares = evaluate(sample.design.decide(model.weights), sample, model.pair_shares)[0].shares
    return State.of(model, float(shares[1]), sample.counts.similar, sample.counts.unlabeled)


def random_model(pair_shares: FloatArray | None, seed: int = 3, size: float = 0.3) -> PairModel:
    return PairModel(size * np.random.default_rng(seed).normal(size=(22, 1)), pair_shares)


def central(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    nudges = 1e-5 * np.eye(at.size)
    return np.array([(function(at + e) - function(at - e)) / 2e-5 for e in nudges])


@pytest.mark.parametrize("pair_shares", PAIRINGS)
def test_first_and_second_derivatives_are_those_of_the_value(
    pair_shares: FloatArray | None,
) -> None:
    sample = draw()
    # Away from the solution, where nothing vanishes.
    state = State.of(random_model(pair_shares), 0.6, 300, 500)

    def expand(at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        here = State(at[:22], at[22:])
        totals = collect(engine_of(sample), sample.design.standardise, here)
        value, slope, curvature, cross = passes._common_terms(totals, here)
        gradient = (totals.of_rows[:, 0] - totals.of_pairs[:, 0]) / totals.n_pairs
        hessian = totals.hessian / totals.n_pairs
        full = np.block([[hessian, cross], [cross.T, curvature]])
        return value, np.concatenate([gradient, slope]), full

    at = np.concatenate([state.weights, state.common])
    _, gradient, hessian = expand(at)
    numeric = central(lambda point: np.array(expand(point)[0]), at)
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)
    numeric = central(lambda point: expand(point)[1], at)
    np.testing.assert_allclose(hessian, numeric, atol=1e-6)


@pytest.mark.parametrize("size", [0.3, 100.0])
@pytest.mark.parametrize("pair_shares", PAIRINGS)
def test_the_value_is_that_of_the_profiled_likelihood(
    pair_shares: FloatArray | None, size: float
) -> None:
    sample, model = draw(), random_model(pair_shares, size=size)
    expected = evaluate(sample.design.decide(model.weights), sample, model.pair_shares)[0]
    state = start_of(sample, model)
    engine = engine_of(sample)
    for _ in range(30):  # settle what is common, weights and pair shares held
        totals = collect(engine, sample.design.standardise, state)
        value, slope, curvature, _ = passes._common_terms(totals, state)
        step = -np.linalg.solve(curvature[:2, :2], slope[:2])
        state = state.moved(np.concatenate([np.zeros(22), step, np.zeros(slope.size - 2)]))
    assert value == pytest.approx(expected.value, rel=1e-8)
    assert state.common[0] == pytest.approx(expected.shares[1], abs=1e-8)


@pytest.mark.parametrize("is_free", [False, True])
def test_the_minimiser_is_that_of_the_profiled_likelihood(is_free: bool) -> None:
    sample, alpha = draw(), 0.02
    near = minimise(sample, alpha, random_model(PAIRINGS[1] if is_free else None))
    engine = engine_of(sample)
    fit = minimise_by_passes(engine, sample.design.standardise, alpha, start_of(sample, near))
    assert fit.converged
    assert engine.n_passes <= 4
    found = fit.state.model
    expansion, slopes = evaluate(sample.design.decide(found.weights), sample, found.pair_shares)
    gradient = sample.design.pull(slopes)[:, 0]
    gradient[:-1] += alpha * found.weights[:-1, 0]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-7)
    np.testing.assert_allclose(expansion.pair_gradient, 0.0, atol=1e-7)


def test_a_start_far_away_is_brought_downhill() -> None:
    sample, alpha = draw(), 0.1
    far = random_model(None, size=1.0)
    fit = minimise_by_passes(
        engine_of(sample), sample.design.standardise, alpha, start_of(sample, far)
    )
    assert fit.converged

    def penalised(model: PairModel) -> float:
        found = evaluate(sample.design.decide(model.weights), sample)[0]
        return found.value + 0.5 * alpha * float(np.sum(model.weights[:-1] ** 2))

    assert penalised(fit.state.model) < penalised(far)


def test_leaving_rows_out_costs_no_pass_and_is_nearly_a_refit() -> None:
    sample, alpha = draw(4000, 4000), 0.01
    folds = PairKFold(10, shuffle=True, random_state=0).deal(
        sample.counts.row_sets, sample.counts.rows
    )
    engine = engine_of(sample)
    near = minimise(sample, alpha, random_model(None))
    fit = minimise_by_passes(engine, sample.design.standardise, alpha, start_of(sample, near))
    before = engine.n_passes
    inside, others = sample.among(folds == 0), sample.among(folds != 0)
    part = collect(engine_of(inside), sample.design.standardise, fit.last)
    found = leave_out(fit, part).weights
    assert engine.n_passes == before
    refitted = minimise_by_passes(
        engine_of(others), sample.design.standardise, alpha, fit.state
    ).state.weights
    moved = np.linalg.norm(refitted - fit.state.weights)
    assert np.linalg.norm(found - refitted) < 0.1 * moved


def test_cross_fitting_by_passes_agrees_with_refitting() -> None:
    sample, alpha = draw(2000, 2000), 0.02
    folds = PairKFold(5, shuffle=True, random_state=0).deal(
        sample.counts.row_sets, sample.counts.rows
    )
    start = minimise(sample, alpha, random_model(None))
    expected = cross_fit_from(sample, folds, alpha, start)
    found = cross_fit_by_passes(None, sample.design.standardise, sample, folds, alpha, start)
    np.testing.assert_allclose(found.model.weights, expected.model.weights, atol=3e-3)
    np.testing.assert_allclose(found.held_out, expected.held_out, atol=2e-3)
    assert np.corrcoef(found.scores[:, 0], expected.scores[:, 0])[0, 1] > 0.9999


def test_a_fit_that_is_not_done_is_said_not_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "_MOST_PASSES", 1)
    monkeypatch.setattr(crossfit, "minimise", lambda sample, alpha, start: start)
    sample = draw()
    start = random_model(None)
    folds = PairKFold(3).deal(sample.counts.row_sets, sample.counts.rows)
    with pytest.warns(UserWarning, match="was not minimised"):
        cross_fit_by_passes(None, sample.design.standardise, sample, folds, 0.01, start)


def test_what_is_not_finite_is_named() -> None:
    sample = draw(20, 20)
    rows = sample.design.rows.copy()
    rows[20 + 20 + 3, 5] = np.nan
    engine = MemoryEngine(rows, sample.counts.row_sets)
    state = State.of(random_model(None), 0.7, 20, 20)
    with pytest.raises(ValueError, match="contain NaN, first at pair 3, column 5"):
        collect(engine, sample.design.standardise, state)
