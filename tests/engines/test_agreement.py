"""Every engine gives what the one in memory gives: sums, objectives, and fitted estimators."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import MemoryEngine, PairSource, base, open_engine
from likewise.engines import torch as torch_engine
from likewise.engines.kernels import decide
from likewise.statements.labels import locate
from likewise.su import folds as su_folds
from likewise.su import objective
from likewise.su.folds import DealtFolds, fold_risks
from likewise.su.losses import logistic
from likewise.su.objective import SUObjective, summarise
from likewise.su.rewrites import SDU, SU
from likewise.su.risk import zero_one_risk_of_shares
from tests.su.draws import Drawn, draw_pairs

Engine = Callable[[Any], tuple[Any, Any]]
Draw = Callable[..., SUSample]
LOSSES = ["squared", "logistic", "double_hinge"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks in each row group or partition, where the engine is in this process."""
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 21 * 16)
    monkeypatch.setattr(torch_engine, "_HOST_BYTES", 21 * 16 * 8)


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few rows to start from that solvers have to read all rows."""
    monkeypatch.setattr(objective, "_SAMPLE_ENTRIES", 21 * 150)


def opened(X: Any, y: Any) -> base.Engine:
    return open_engine(X) if isinstance(X, PairSource) else MemoryEngine(X, locate(y))


def test_sums_and_counts_agree(engine: Engine, draw_waveform: Draw, tolerance: float) -> None:
    sample = draw_waveform(103, 211)
    rows = opened(*engine(sample))
    assert (rows.count("unlabeled"), rows.count("similar"), rows.n_features) == (211, 103, 21)
    expected, found = summarise(opened(*sample.pack())), summarise(rows)
    np.testing.assert_allclose(found.gram, expected.gram, rtol=tolerance)
    assert found.means.similar is not None
    assert expected.means.similar is not None
    np.testing.assert_allclose(found.means.similar, expected.means.similar, rtol=tolerance)
    assert rows.n_passes == 1


def test_objectives_agree(engine: Engine, draw_waveform: Draw, tolerance: float) -> None:
    sample = draw_waveform(50, 211)
    weights, linear = np.linspace(-0.1, 0.1, 22), np.ones(22)
    expected, found = (
        SUObjective(rows, summarise(rows), logistic).expand(rows, linear, weights)
        for rows in (opened(*sample.pack()), opened(*engine(sample)))
    )
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), tolerance, tolerance)


def test_blocks_carry_their_positions_and_pairs_stay_aligned(
    engine: Engine, draw_waveform: Draw
) -> None:
    sample = draw_waveform(103, 50)
    left, right = sample.similar
    rows = opened(*engine(sample))
    weights = np.linspace(-1, 1, 22)

    def kernel(block: Any) -> tuple[Any, ...]:
        products = decide(block.tables[0], weights) * decide(block.tables[1], weights)
        return products.sum(), [(block.start, block.tables[0].shape[0])]

    total, spans = rows.map_reduce("similar", kernel)
    expected = (decide(left, weights) * decide(right, weights)).sum()
    assert float(total) == pytest.approx(expected, rel=1e-4)
    ends = np.cumsum([size for _, size in spans]).tolist()
    assert [start for start, _ in spans] == [0, *ends[:-1]]
    assert ends[-1] == 103


@pytest.mark.parametrize("stride", [1, 7])
def test_evenly_spaced_rows_are_the_same_everywhere(
    engine: Engine, draw_waveform: Draw, stride: int
) -> None:
    sample = draw_waveform(60, 211)
    (found,) = opened(*engine(sample)).every("unlabeled", stride)
    np.testing.assert_allclose(found, sample.unlabeled[::stride], rtol=1e-6)


@pytest.fixture(scope="module")
def fitted_in_memory(draw_waveform: Draw) -> Callable[[str], lw.SUClassifier]:
    """Return how to fit by a loss in memory, once for all engines."""
    packed = draw_waveform(300, 600).pack()
    return cache(lambda loss: lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(*packed))


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("loss", LOSSES)
def test_fits_agree(
    engine: Engine,
    draw_waveform: Draw,
    fitted_in_memory: Callable[[str], lw.SUClassifier],
    loss: str,
    tolerance: float,
) -> None:
    clf = lw.SUClassifier(loss, prior=0.7, alpha=0.01, tol=max(1e-9, 0.1 * tolerance))
    found, expected = clf.fit(*engine(draw_waveform(300, 600))), fitted_in_memory(loss)
    assert found.objective_ == pytest.approx(expected.objective_, abs=tolerance)
    # A gap of 1e-9 leaves a kinked objective's weights free by about its root.
    free = 1e-4 if loss == "double_hinge" else tolerance
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=max(free, tolerance))
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=max(free, tolerance))


def test_cross_validation_by_sums_agrees_and_takes_two_passes(
    engine: Engine, draw_waveform: Draw, tolerance: float
) -> None:
    sample = draw_waveform(103, 211)
    expected = lw.SUClassifierCV(prior=0.7).fit(*sample.pack())
    found = lw.SUClassifierCV(prior=0.7).fit(*engine(sample))
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=tolerance, atol=tolerance)
    for name in ("split0_test_score", "mean_test_score"):
        np.testing.assert_allclose(
            found.cv_results_[name], expected.cv_results_[name], atol=max(tolerance, 1e-10)
        )
    assert found.n_passes_ == 2


def test_of_very_many_rows_some_of_each_fold_are_counted_on(
    engine: Engine, draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(su_folds, "_COUNTED_ROWS", 60)
    sample, folds = draw_waveform(103, 211), DealtFolds(3)
    weights = list(np.linspace(-1, 1, 3 * 22 * 2).reshape(3, 22, 2))
    found = fold_risks(opened(*engine(sample)), folds, weights, 0.7, [SU] * 3)
    for fold, own in enumerate(weights):
        # Of 211 rows each fourth of a fold, of 103 pairs each second.
        unlabeled = sample.unlabeled[fold :: 3 * 4]
        pairs = [side[fold :: 3 * 2] for side in sample.similar]
        kinds: dict[base.Part, Any] = {"similar": np.vstack(pairs), "unlabeled": unlabeled}
        shares = {part: (decide(rows, own) > 0).mean(axis=0) for part, rows in kinds.items()}
        expected = zero_one_risk_of_shares(shares, SU.weights(0.7))
        np.testing.assert_allclose(found[fold], expected, atol=1e-10)


@pytest.mark.slow
@pytest.mark.usefixtures("small_sample")
def test_cross_validation_by_refitting_agrees(
    engine: Engine, draw_waveform: Draw, tolerance: float
) -> None:
    sample = draw_waveform(120, 303)
    expected = lw.SUClassifierCV("logistic", prior=0.7, alphas=[1e-2], cv=2)
    expected.fit(*sample.pack())
    found = clone(expected).set_params(tol=max(1e-9, 0.1 * tolerance)).fit(*engine(sample))
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-10
    )
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=max(tolerance, 1e-6))


@pytest.fixture
def both() -> Drawn:
    """Pairs of both kinds."""
    return draw_pairs(np.random.default_rng(0), 103, 77, 211, n_features=21)


def test_dissimilar_pairs_are_summed_in_the_same_pass(
    engine: Engine, both: Drawn, tolerance: float
) -> None:
    rows, in_memory = opened(*engine(both)), opened(*both.pack())
    assert rows.pair_parts == ("similar", "dissimilar")
    assert rows.count("dissimilar") == 77
    found, expected = summarise(rows, SDU), summarise(in_memory, SDU)
    for prior in (0.3, 0.7):
        np.testing.assert_allclose(
            found.linear_term(prior, SDU), expected.linear_term(prior, SDU), rtol=20 * tolerance
        )
    assert found.spreads is not None
    assert found.spreads == pytest.approx(expected.spreads, rel=tolerance)
    assert rows.n_passes == 1


@pytest.mark.parametrize("rewrite", ["du", "sd", "sdu"])
def test_rewrites_agree_and_cost_no_more_passes(
    engine: Engine, both: Drawn, rewrite: str, tolerance: float
) -> None:
    clf = lw.SUClassifierCV(prior=0.7, rewrite=rewrite, alphas=[1.0, 1e-1])
    expected, found = clone(clf).fit(*both.pack()), clf.fit(*engine(both))
    assert found.su_share_ == pytest.approx(expected.su_share_, rel=tolerance)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"],
        expected.cv_results_["mean_test_score"],
        atol=max(tolerance, 1e-10),
    )
    assert found.n_passes_ == 2


def test_only_dissimilar_pairs_are_enough(engine: Engine, tolerance: float) -> None:
    drawn = draw_pairs(np.random.default_rng(1), 0, 77, 211, n_features=21)
    expected, found = (
        lw.SUClassifier(prior=0.7, alpha=0.1).fit(*p) for p in (drawn.pack(), engine(drawn))
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=tolerance, atol=tolerance)


@pytest.mark.slow
@pytest.mark.usefixtures("small_sample")
def test_refitting_without_folds_agrees_with_both_kinds(
    engine: Engine, both: Drawn, tolerance: float
) -> None:
    clf = lw.SUClassifierCV("logistic", prior=0.7, alphas=[1e-2], cv=2)
    clf.set_params(tol=max(1e-9, 0.1 * tolerance))
    expected, found = clone(clf).fit(*both.pack()), clf.fit(*engine(both))
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"],
        expected.cv_results_["mean_test_score"],
        atol=max(tolerance, 1e-10),
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=max(tolerance, 1e-6))
