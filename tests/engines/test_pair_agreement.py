"""What is learned from the pairing, on any engine: what is learned in memory."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import base
from likewise.engines import torch as torch_engine
from likewise.prior import scores
from likewise.scores.maps import feature_maps
from likewise.search import learn
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here
from tests.engines.conftest import parquet_columns

Engine = Callable[[SUSample], tuple[Any, Any]]
Draw = Callable[..., SUSample]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks in each row group or partition, where the engine is in this process."""
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 21 * 16)
    monkeypatch.setattr(torch_engine, "_HOST_BYTES", 21 * 16 * 8)


@pytest.mark.slow
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
    _take_few_for_many(monkeypatch)


def _take_few_for_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(learn, "_SELECTION_SIZE", 100)
    patch.setattr(learn, "_SAMPLE_SIZE", 200)


SETTINGS: dict[str, dict[str, Any]] = {
    "linear": {"features": "linear", "pairing": "random"},
    "free": {"features": "linear", "pairing": "free"},
    "transformer": {"features": PCA(4), "pairing": "random"},
}


def learner(name: str) -> lw.PairClassifier:
    return lw.PairClassifier(alphas=[0.1, 0.03], random_state=0, cv=3, **SETTINGS[name])


@pytest.fixture(scope="module")
def learned_in_memory(draw_waveform: Draw) -> Callable[[str], lw.PairClassifier]:
    """Return how to learn in memory, once for all engines."""
    packed = draw_waveform(500, 700).pack()

    def learned(name: str) -> lw.PairClassifier:
        with pytest.MonkeyPatch.context() as patch:
            _take_few_for_many(patch)
            fitted: lw.PairClassifier = learner(name).fit(*packed)
            return fitted

    return cache(learned)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "linear")) for name in SETTINGS],
)
@pytest.mark.usefixtures("few_are_many")
def test_pair_classifiers_learn_the_same_from_all_rows(
    engine: Engine,
    draw_waveform: Draw,
    learned_in_memory: Callable[[str], lw.PairClassifier],
    name: str,
    tolerance: float,
) -> None:
    expected, found = learned_in_memory(name), learner(name).fit(*engine(draw_waveform(500, 700)))
    assert found.has_signal_
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=tolerance, atol=tolerance)
    assert found.prior_ == pytest.approx(expected.prior_, abs=tolerance)
    assert found.n_passes_ is None or found.n_passes_ <= 15


@pytest.mark.slow
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


@pytest.mark.slow
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
