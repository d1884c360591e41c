"""Every engine gives what the one in memory gives: sums, objectives, and fitted estimators."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import MemoryEngine, PairSource, base, open_engine
from likewise.engines import torch as torch_engine
from likewise.engines.kernels import decide
from likewise.prior import scores
from likewise.scores.maps import feature_maps
from likewise.search import learn
from likewise.statements.labels import locate
from likewise.su import folds as su_folds
from likewise.su import objective
from likewise.su.folds import DealtFolds, fold_risks
from likewise.su.losses import logistic
from likewise.su.objective import SUObjective, summarise
from likewise.su.risk import zero_one_risk_of_shares
from tests.engines.conftest import parquet_columns

Engine = Callable[[SUSample], tuple[Any, Any]]
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


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("loss", LOSSES)
def test_fits_agree(engine: Engine, draw_waveform: Draw, loss: str, tolerance: float) -> None:
    sample = draw_waveform(300, 600)
    clf = lw.SUClassifier(loss, prior=0.7, alpha=0.01, tol=max(1e-9, 0.1 * tolerance))
    found = clf.fit(*engine(sample))
    expected = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(*sample.pack())
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
    found = fold_risks(opened(*engine(sample)), folds, weights, 0.7)
    for fold, own in enumerate(weights):
        # Of 211 rows each fourth of a fold, of 103 pairs each second.
        unlabeled = sample.unlabeled[fold :: 3 * 4]
        pairs = [side[fold :: 3 * 2] for side in sample.similar]
        shares = [(decide(rows, own) > 0).mean(axis=0) for rows in (np.vstack(pairs), unlabeled)]
        expected = zero_one_risk_of_shares(shares[0], shares[1], 0.7)
        np.testing.assert_allclose(found[fold], expected, atol=1e-10)


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


def test_the_prior_is_estimated_from_rows_of_the_source(
    draw_waveform: Draw, tmp_path: Path
) -> None:
    sample = draw_waveform(400, 600, seed=1)
    found = lw.SUClassifier().fit(*parquet_columns(sample, tmp_path))
    expected = lw.SUClassifier().fit(*sample.pack())
    assert found.prior_ == pytest.approx(expected.prior_, abs=1e-6)
    assert found.n_passes_ == expected.n_passes_ + 1


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Selection and calibration on so few rows that scores are learned by passes."""
    monkeypatch.setattr(learn, "_SELECTION_SIZE", 100)
    monkeypatch.setattr(learn, "_SAMPLE_SIZE", 200)


@pytest.mark.parametrize(
    "settings",
    [
        {"features": "linear", "pairing": "random"},
        {"features": "linear", "pairing": "free"},
        {"features": PCA(4), "pairing": "random"},
    ],
    ids=["linear", "free", "transformer"],
)
@pytest.mark.usefixtures("few_are_many")
def test_pair_classifiers_learn_the_same_from_all_rows(
    engine: Engine, draw_waveform: Draw, settings: dict[str, Any], tolerance: float
) -> None:
    sample = draw_waveform(500, 700)
    clf = lw.PairClassifier(alphas=[0.1, 0.03], random_state=0, cv=3, **settings)
    expected, found = clone(clf).fit(*sample.pack()), clf.fit(*engine(sample))
    assert found.has_signal_
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=tolerance, atol=tolerance)
    assert found.prior_ == pytest.approx(expected.prior_, abs=tolerance)
    assert found.n_passes_ is None or found.n_passes_ <= 15


def test_pair_classifiers_read_few_rows_whole(
    engine: Engine, draw_waveform: Draw, tolerance: float
) -> None:
    sample = draw_waveform(100, 120)
    clf = lw.PairClassifier(features="linear", alphas=[0.1], pairing="random", random_state=0)
    expected, found = clone(clf).fit(*sample.pack()), clf.fit(*engine(sample))
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=10 * tolerance)
    assert found.n_features_in_ == 21


def test_a_pair_classifier_takes_no_labels_beside_a_source(
    draw_waveform: Draw, tmp_path: Path
) -> None:
    source, _ = parquet_columns(draw_waveform(20, 20), tmp_path)
    with pytest.raises(ValueError, match="pass no y"):
        lw.PairClassifier().fit(source, np.zeros(5))


@pytest.mark.usefixtures("few_are_many")
def test_a_pair_classifier_names_what_is_not_finite(draw_waveform: Draw, tmp_path: Path) -> None:
    sample = draw_waveform(500, 700)
    sample.unlabeled[398, 2] = np.inf  # not among the rows that are looked at first
    source, _ = parquet_columns(sample, tmp_path)
    clf = lw.PairClassifier(features="linear", alphas=[0.1], pairing="random", random_state=0)
    with pytest.raises(ValueError, match="infinity, first at unlabeled row 398, column 'x2'"):
        clf.fit(source)


@pytest.mark.parametrize("estimator", [lw.prior.PairMomentPrior, lw.prior.PairLikelihoodPrior])
def test_priors_agree(
    engine: Engine,
    draw_waveform: Draw,
    estimator: Any,
    tolerance: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scores, "_LEARNING_SIZE", 100)
    monkeypatch.setattr(scores, "_SAMPLE_SIZE", 200)

    def linear(features: Any, *settings: Any, **others: Any) -> Any:
        return feature_maps("linear", *settings, **others)

    monkeypatch.setattr(scores, "feature_maps", linear)
    sample = draw_waveform(500, 700)
    expected = estimator(random_state=0).fit(*sample.pack()).estimate_
    found = estimator(random_state=0).fit(*engine(sample)).estimate_
    assert found.value == pytest.approx(expected.value, abs=tolerance)
    assert found.diagnostics["n_pairs"] == expected.diagnostics["n_pairs"]
