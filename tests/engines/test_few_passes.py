"""Iterative losses on many rows: few passes, and as exact as in memory."""

from collections.abc import Callable

import numpy as np
import pytest

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import MemoryEngine, PairSource
from likewise.statements.labels import locate
from likewise.su import objective
from likewise.su.objective import summarise
from likewise.su.solvers import (
    Solution,
    minimise_double_hinge,
    minimise_smoothed_hinge,
    penalty_diagonal,
    smoothed_hinge,
)

Draw = Callable[..., SUSample]


def fit_double_hinge(
    sample: SUSample, alpha: float, stride: int, *, regularize: bool = True, tol: float = 1e-9
) -> tuple[Solution, Solution]:
    """Minimise in few passes from every stride-th row, and exactly."""
    X, y = sample.pack()
    engine = MemoryEngine(X, locate(y))
    linear = summarise(engine).linear_term(0.7)
    penalty = penalty_diagonal(21, alpha, regularize)
    (rows,) = engine.every("unlabeled", stride)
    start = minimise_double_hinge(MemoryEngine.of_unlabeled(rows), linear, penalty).weights
    few = minimise_smoothed_hinge(engine, linear, penalty, sample=rows, start=start, tol=tol)
    return few, minimise_double_hinge(engine, linear, penalty)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1e-1, 1e-4, 1e-7])
@pytest.mark.parametrize("regularize", [True, False])
def test_the_double_hinge_is_minimised_in_few_passes(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch, alpha: float, regularize: bool
) -> None:
    monkeypatch.setattr(smoothed_hinge, "_NEAR_ENTRIES", 21 * 1000)
    sample = draw_waveform(1000, 8000)
    few, exact = fit_double_hinge(sample, alpha, 3, regularize=regularize)
    assert few.objective == pytest.approx(exact.objective, abs=2e-8)
    assert few.gap <= 1e-9
    assert few.converged
    assert few.n_iter <= 13


def test_a_steep_problem_with_a_poor_start_is_solved_all_the_same(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoothed_hinge, "_NEAR_ENTRIES", 21 * 400)
    few, exact = fit_double_hinge(draw_waveform(1000, 5000), 1e-4, 12)
    assert np.abs(exact.weights).max() > 100
    assert few.objective == pytest.approx(exact.objective, abs=1e-8)


def test_the_gap_is_never_less_than_the_distance_to_the_minimum(draw_waveform: Draw) -> None:
    sample = draw_waveform(300, 2000)
    for tol in (1e-1, 1e-2, 1e-4):
        few, exact = fit_double_hinge(sample, 1e-3, 10, tol=tol)
        assert few.gap <= tol
        assert few.objective - exact.objective <= few.gap * max(1, abs(few.objective)) + 1e-9


@pytest.fixture(scope="module")
def many() -> SUSample:
    X, y = lw.datasets.make_waveform(60_000, prior=0.7, random_state=0)
    return lw.datasets.sample_su(X, y, 6000, 20_000, prior=0.7, random_state=0)


@pytest.mark.parametrize("loss", ["logistic", "double_hinge"])
@pytest.mark.parametrize("alpha", [1e-1, 1e-4, 1e-7])
def test_a_gap_of_a_millionth_takes_at_most_fifteen_passes(
    many: SUSample, monkeypatch: pytest.MonkeyPatch, loss: str, alpha: float
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(objective, "_SAMPLE_ENTRIES", 21 * 5000)
    monkeypatch.setattr(smoothed_hinge, "_NEAR_ENTRIES", 21 * 2000)
    rows, left, right = map(torch.from_numpy, (many.unlabeled, *many.similar))
    clf = lw.SUClassifier(loss, prior=0.7, alpha=alpha, tol=1e-6)
    clf.fit(PairSource(rows, (left, right)))
    assert clf.duality_gap_ <= 1e-6
    assert clf.n_passes_ <= 15


def test_many_rows_in_memory_start_from_a_sample(
    many: SUSample, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = lw.SUClassifier("logistic", prior=0.7, alpha=1e-4).fit(*many.pack())
    monkeypatch.setattr(objective, "_SAMPLE_ENTRIES", 21 * 5000)
    warm = lw.SUClassifier("logistic", prior=0.7, alpha=1e-4).fit(*many.pack())
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-5)
    assert warm.n_passes_ < cold.n_passes_


def test_a_start_that_is_of_no_use_does_no_harm(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = draw_waveform(300, 3000).pack()
    cold = lw.SUClassifier("logistic", prior=0.7, alpha=1e-7).fit(X, y)
    monkeypatch.setattr(objective, "_SAMPLE_ENTRIES", 21 * 100)
    warm = lw.SUClassifier("logistic", prior=0.7, alpha=1e-7).fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
