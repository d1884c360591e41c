"""Tests of the generators against the distributions that they promise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from likewise.datasets import make_gaussians, make_waveform


def test_waveform_class_means_are_averages_of_the_two_base_waves() -> None:
    X, y = make_waveform(30_000, n_classes=3, random_state=0)
    position = np.arange(21)
    h1, h2, h3 = (np.maximum(6 - np.abs(position - peak), 0) for peak in (6, 14, 10))
    for label, expected in enumerate([(h1 + h2) / 2, (h1 + h3) / 2, (h2 + h3) / 2]):
        rows = X[y == label]
        error = rows.std(axis=0) / np.sqrt(len(rows))
        assert np.all(np.abs(rows.mean(axis=0) - expected) < 4.5 * error)


def test_waveform_noise_has_unit_variance_where_no_wave_is() -> None:
    # h1 and h3 both vanish on the last five features, so class 1 is pure noise there.
    X, y = make_waveform(30_000, n_classes=3, random_state=1)
    noise = X[y == 1][:, 16:]
    assert noise.size > 40_000
    assert abs(noise.var() - 1) < 4.5 * np.sqrt(2 / noise.size)


def test_waveform_mixes_with_a_uniform_weight() -> None:
    # At h1's peak class 0 is 6 u + noise, so its variance is 36 / 12 + 1 = 4.
    X, y = make_waveform(60_000, n_classes=3, random_state=2)
    peak = X[y == 0][:, 6]
    assert abs(peak.var() - 4) < 4.5 * 4 * np.sqrt(2 / peak.size)


def test_waveform_classes_mean_the_same_as_in_the_uci_file(real_data: Path) -> None:
    with np.load(real_data / "waveform.npz") as archive:
        X_file, y_file = archive["X"].astype(float), archive["y_multiclass"]
    X, y = make_waveform(30_000, n_classes=3, random_state=3)
    for label in range(3):
        ours, theirs = X[y == label], X_file[y_file == label]
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4.5 * error)


def test_binary_waveform_is_class_0_against_the_rest() -> None:
    X_binary, y_binary = make_waveform(500, random_state=4)
    X, y = make_waveform(500, n_classes=3, random_state=4)
    np.testing.assert_array_equal(X_binary, X)
    np.testing.assert_array_equal(y_binary, np.where(y == 0, 1, -1))
    assert X.dtype == np.float64
    assert y_binary.dtype == np.int64


@pytest.mark.parametrize(("prior", "share"), [(None, 1 / 3), (0.7, 0.7), (0.1, 0.1)])
def test_waveform_positive_share_follows_the_prior(prior: float | None, share: float) -> None:
    n_samples = 20_000
    _, y = make_waveform(n_samples, n_classes=3, prior=prior, random_state=5)
    for label, expected in [(0, share), (1, (1 - share) / 2), (2, (1 - share) / 2)]:
        error = np.sqrt(expected * (1 - expected) / n_samples)
        assert abs(np.mean(y == label) - expected) < 4 * error


@pytest.mark.parametrize(("separation", "prior"), [(2.0, 0.5), (2.0, 0.7), (1.0, 0.7), (3.0, 0.2)])
def test_gaussians_have_the_documented_bayes_error(separation: float, prior: float) -> None:
    n_samples = 100_000
    X, y = make_gaussians(n_samples, separation=separation, prior=prior, random_state=6)
    threshold = np.log((1 - prior) / prior) / separation
    expected = prior * norm.cdf(threshold - separation / 2)
    expected += (1 - prior) * norm.cdf(-threshold - separation / 2)
    if prior == 0.5:
        assert expected == pytest.approx(norm.cdf(-separation / 2))
    observed = np.mean(np.where(X[:, 0] > threshold, 1, -1) != y)
    assert abs(observed - expected) < 4 * np.sqrt(expected * (1 - expected) / n_samples)


def test_the_default_gaussians_have_the_bayes_error_named_in_the_docstring() -> None:
    t = np.log(0.3 / 0.7) / 2
    assert f"{0.7 * norm.cdf(t - 1) + 0.3 * norm.cdf(-t - 1):.1%}" == "13.9%"
    assert f"{norm.cdf(-1):.1%}" == "15.9%"
    assert make_gaussians.__doc__ is not None
    assert "13.9%" in make_gaussians.__doc__
    assert "15.9%" in make_gaussians.__doc__


def test_gaussians_differ_along_the_first_feature_only_and_have_unit_covariance() -> None:
    X, y = make_gaussians(50_000, n_features=3, separation=1.5, random_state=7)
    for label in (1, -1):
        rows = X[y == label]
        mean = np.array([label * 0.75, 0.0, 0.0])
        assert np.all(np.abs(rows.mean(axis=0) - mean) < 4.5 / np.sqrt(len(rows)))
        covariance = np.cov(rows, rowvar=False)
        assert np.all(np.abs(covariance - np.eye(3)) < 4.5 * np.sqrt(2 / len(rows)))


def test_gaussians_without_separation_are_one_cloud() -> None:
    X, y = make_gaussians(20_000, separation=0.0, random_state=8)
    difference = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    error = np.sqrt(1 / np.sum(y == 1) + 1 / np.sum(y == -1))
    assert np.all(np.abs(difference) < 4.5 * error)


@pytest.mark.parametrize("make", [make_waveform, make_gaussians])
class TestRandomState:
    def test_the_same_seed_gives_the_same_rows(self, make: Callable[..., Any]) -> None:
        first, second = make(20, random_state=3), make(20, random_state=np.int64(3))
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        assert not np.array_equal(first[0], make(20, random_state=4)[0])

    @pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
    def test_a_generator_object_is_advanced(
        self, make: Callable[..., Any], kind: Callable[[int], Any]
    ) -> None:
        source, again = kind(0), kind(0)
        first, second = make(20, random_state=source), make(20, random_state=source)
        assert not np.array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[0], make(20, random_state=again)[0])

    def test_global_state_is_neither_used_nor_changed(self, make: Callable[..., Any]) -> None:
        np.random.seed(0)  # noqa: NPY002
        first = make(20)
        drawn = np.random.random()  # noqa: NPY002
        np.random.seed(0)  # noqa: NPY002
        assert not np.array_equal(first[0], make(20)[0])
        assert drawn == np.random.random()  # noqa: NPY002

    def test_anything_else_is_refused_by_name(self, make: Callable[..., Any]) -> None:
        with pytest.raises(TypeError, match="random_state must be an integer, got 'seed'"):
            make(20, random_state="seed")
        with pytest.raises(ValueError, match="random_state must be at least 0, got -1"):
            make(20, random_state=-1)


@pytest.mark.parametrize(
    ("make", "arguments", "error", "message"),
    [
        (make_waveform, {"n_samples": 0}, ValueError, "n_samples must be at least 1, got 0"),
        (make_waveform, {"n_samples": 10.0}, TypeError, "n_samples must be an integer, got 10.0"),
        (make_waveform, {"n_samples": True}, TypeError, "n_samples must be an integer, got True"),
        (make_waveform, {"n_classes": 4}, ValueError, "n_classes must be 2 or 3, got 4"),
        (make_waveform, {"prior": 1.0}, ValueError, "prior must lie strictly between 0 and 1"),
        (make_gaussians, {"n_features": 0}, ValueError, "n_features must be at least 1, got 0"),
        (make_gaussians, {"prior": 0}, ValueError, "prior must lie strictly between 0 and 1"),
        (make_gaussians, {"prior": np.nan}, ValueError, "prior must lie strictly between"),
        (make_gaussians, {"prior": "half"}, TypeError, "prior must be a number"),
        (make_gaussians, {"separation": -1.0}, ValueError, "separation must be finite and not"),
        (make_gaussians, {"separation": np.inf}, ValueError, "separation must be finite and not"),
    ],
)
def test_an_argument_out_of_range_is_named(
    make: Callable[..., Any], arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(**arguments)
