"""Calibration, on scores simulated from known class chances."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, expand, log_probabilities
from likewise.search import calibration
from likewise.search.calibration import Calibration, calibrate, calibrate_classes, narrowest
from tests.search.gaussians import Gaussians

SCALE, OFFSET = 2.5, -0.8


def distorted(model: Gaussians, rows: FloatArray) -> FloatArray:
    """Scores that `SCALE` and `OFFSET` turn back into log-odds."""
    return np.asarray((model.log_odds(rows) - OFFSET) / SCALE)


def draw(
    model: Gaussians, counts: Counts, seed: int = 0, *, pair_share: float | None = None
) -> FloatArray:
    return distorted(model, model.draw(np.random.default_rng(seed), counts, pair_share))


@pytest.mark.parametrize(
    ("prior", "counts"),
    [(0.6, Counts(1500, 1500)), (0.75, Counts(1500, 1000, 700)), (0.9, Counts(1500, 1500))],
)
def test_scale_offset_and_prior_are_found(prior: float, counts: Counts) -> None:
    found = calibrate(draw(Gaussians(3.0, prior), counts), counts)
    assert found.scale == pytest.approx(SCALE, rel=0.2)
    assert found.offset == pytest.approx(OFFSET, abs=0.5)
    assert found.share == pytest.approx(prior, abs=0.04)
    assert found.pair_share is None


def test_freely_formed_pairs_have_their_own_share() -> None:
    counts = Counts(1500, 1500)
    scores = draw(Gaussians(3.0, 0.8), counts, pair_share=0.4)
    found = calibrate(scores, counts, is_free=True)
    assert found.share == pytest.approx(0.8, abs=0.03)
    assert found.pair_share == pytest.approx(0.4, abs=0.04)
    assert found.scale == pytest.approx(SCALE, rel=0.2)


def test_scores_with_the_classes_the_wrong_way_round_are_turned() -> None:
    counts = Counts(1000, 1000)
    scores = draw(Gaussians(3.0, 0.75), counts)
    right, wrong = (calibrate(sign * scores, counts) for sign in (1.0, -1.0))
    assert wrong.share == pytest.approx(right.share, abs=0.01)
    assert wrong.scale == pytest.approx(-right.scale, rel=0.05)
    assert wrong.offset == pytest.approx(right.offset, abs=0.1)


def test_freely_formed_pairs_are_turned_with_their_scores() -> None:
    counts = Counts(1000, 1000)
    scores = draw(Gaussians(3.0, 0.75), counts, pair_share=0.3)
    found = calibrate(-scores, counts, is_free=True)
    assert found.share == pytest.approx(0.75, abs=0.04)
    assert found.pair_share == pytest.approx(0.3, abs=0.05)
    assert found.scale == pytest.approx(-SCALE, rel=0.2)


def test_the_log_likelihood_is_no_lower_than_that_of_the_true_calibration() -> None:
    counts = Counts(300, 300)
    scores = draw(Gaussians(2.0, 0.7), counts)
    truth = expand(log_probabilities(SCALE * scores + OFFSET), counts).value
    assert calibrate(scores, counts).log_likelihood > -counts.pairs * truth - 1e-2


def test_the_unit_of_scores_does_not_matter() -> None:
    counts = Counts(200, 200)
    scores = draw(Gaussians(), counts)
    plain, large = calibrate(scores, counts), calibrate(1e4 * scores + 5e3, counts)
    assert large.share == pytest.approx(plain.share, abs=1e-4)
    assert 1e4 * large.scale == pytest.approx(plain.scale, rel=1e-3)


@pytest.mark.parametrize("is_free", [False, True])
def test_at_one_half_the_interval_starts_at_one_half(is_free: bool) -> None:
    counts = Counts(500, 500)
    for seed in range(3):
        found = calibrate(draw(Gaussians(3.0, 0.5), counts, seed), counts, is_free=is_free)
        assert found.interval(0.9)[0] == 0.5
        assert found.share < 0.62


def test_scores_without_signal_leave_the_share_open() -> None:
    counts = Counts(100, 100)
    found = calibrate(np.random.default_rng(0).standard_normal(counts.rows), counts)
    low, high = found.interval(0.95)
    assert high - low > 0.3


def test_constant_scores_are_calibrated_to_a_constant_chance() -> None:
    counts = Counts(30, 30)
    found = calibrate(np.full(counts.rows, 2.0), counts)
    assert np.isfinite([found.scale, found.offset]).all()
    assert 0.5 < found.share < 1
    assert found.log_likelihood == pytest.approx(0, abs=1e-6)


def test_large_samples_are_calibrated_on_some_of_their_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = Counts(3000, 2500, 1500)
    scores = draw(Gaussians(3.0, 0.75), counts)
    whole = calibrate(scores, counts)
    monkeypatch.setattr(calibration, "_MOST", 1000)
    seen: list[int] = []

    def spy(log_p: FloatArray, *others: Any) -> Any:
        seen.append(len(log_p))
        return expand(log_p, *others)

    monkeypatch.setattr(calibration, "expand", spy)
    assert calibrate(scores, counts).share == pytest.approx(whole.share, abs=0.03)
    # Every third of the rows, and of both members of both kinds of pairs.
    assert set(seen) == {1000 + 2 * 834 + 2 * 750}


def coverage(prior: float, counts: Counts, *, is_free: bool) -> int:
    held = 0
    for seed in range(100):
        low, high = calibrate(
            draw(Gaussians(2.5, prior), counts, seed), counts, is_free=is_free
        ).interval(0.9)
        held += low <= prior <= high
    return held


TOO_NARROW = pytest.mark.xfail(reason="74 to 80 of 100 intervals hold a prior near one half")


@pytest.mark.slow
@pytest.mark.parametrize("counts", [Counts(300, 300), Counts(300, 200, 100)])
@pytest.mark.parametrize(
    ("prior", "is_free"),
    [
        (0.6, False),
        (0.75, False),
        (0.9, False),
        pytest.param(0.6, True, marks=TOO_NARROW),
        (0.75, True),
        (0.9, True),
    ],
)
def test_nine_of_ten_intervals_hold_the_prior(prior: float, counts: Counts, is_free: bool) -> None:
    assert 82 <= coverage(prior, counts, is_free=is_free) <= 97


# --- the posterior ----------------------------------------------------------------------------


def test_the_share_is_the_mean_and_the_interval_the_narrowest_of_the_posterior() -> None:
    shares = np.linspace(0.5, 1.0, 2001)[1:] - 0.00025
    weights = np.exp(-0.5 * ((shares - 0.7) / 0.02) ** 2)
    found = Calibration(1.0, 0.0, shares, weights / weights.sum(), None, 0.0)
    assert found.share == pytest.approx(0.7, abs=1e-6)
    assert found.interval(0.95) == pytest.approx((0.7 - 1.96 * 0.02, 0.7 + 1.96 * 0.02), abs=1e-3)


def test_a_posterior_that_falls_from_the_start_has_an_interval_from_the_start() -> None:
    values = np.linspace(0.5, 1.0, 101)
    values = (values[1:] + values[:-1]) / 2
    weights = np.exp(-20 * values)
    low, high = narrowest(values, weights / weights.sum(), 0.9)
    assert low == 0.5
    assert high == pytest.approx(0.5 + np.log(10) / 20, abs=1e-3)


def test_an_interval_of_nearly_everything_is_the_whole_range() -> None:
    low, high = narrowest(np.array([0.25, 0.75]), np.array([0.5, 0.5]), 1 - 1e-12)
    assert (low, high) == pytest.approx((0.0, 1.0))


# --- more than two classes --------------------------------------------------------------------

PRIOR = np.array([0.5, 0.3, 0.2])
MEANS = 1.3 * np.array([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
SHIFT = np.array([0.0, 0.4, -0.3])


def draw_classes(rng: np.random.Generator, counts: Counts) -> FloatArray:
    """Scores of three classes that `SCALE` and `SHIFT` turn back into log-chances."""
    pairs = rng.choice(3, counts.similar, p=PRIOR**2 / (PRIOR @ PRIOR))
    labels = np.concatenate([rng.choice(3, counts.unlabeled, p=PRIOR), pairs, pairs])
    rows = MEANS[labels] + rng.standard_normal((counts.rows, 2))
    scores = rows @ MEANS.T - 0.5 * (MEANS**2).sum(axis=1) + np.log(PRIOR)
    return np.asarray((scores - SHIFT) / SCALE)


def test_three_classes_are_calibrated() -> None:
    counts = Counts(3000, 3000)
    found = calibrate_classes(draw_classes(np.random.default_rng(0), counts), counts)
    assert found.scale == pytest.approx(SCALE, rel=0.1)
    np.testing.assert_allclose(found.offsets, SHIFT, atol=0.4)
    np.testing.assert_allclose(found.shares, PRIOR, atol=0.03)
    assert found.shares.sum() == pytest.approx(1)


def test_standard_errors_of_three_shares_are_their_spread_over_draws() -> None:
    rng, counts = np.random.default_rng(1), Counts(300, 300)
    found = [calibrate_classes(draw_classes(rng, counts), counts) for _ in range(40)]
    shares = np.array([one.shares for one in found])
    spread = shares.std(axis=0, ddof=1)
    np.testing.assert_allclose(
        np.median([one.deviations for one in found], axis=0), spread, rtol=0.35
    )
    np.testing.assert_allclose(shares.mean(axis=0), PRIOR, atol=0.02)


def test_two_of_many_classes_are_calibrated_as_two() -> None:
    counts = Counts(1500, 1500)
    scores = draw(Gaussians(3.0, 0.7), counts)
    two = calibrate(scores, counts)
    many = calibrate_classes(np.column_stack([np.zeros(counts.rows), scores]), counts)
    assert many.shares[1] == pytest.approx(two.share, abs=0.005)
    chances = [
        expit(two.scale * scores + two.offset),
        np.exp(
            log_probabilities(many.scale * np.column_stack([0 * scores, scores]) + many.offsets)
        )[:, 1],
    ]
    np.testing.assert_allclose(chances[0], chances[1], atol=0.03)
