"""Calibration, on scores simulated from known class probabilities."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts, expand
from likewise.beliefs.table import Pairing, TableLikelihood
from likewise.search.calibration import (
    Calibration,
    calibrate,
    calibrate_classes,
    narrowest,
    of_majority,
)
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, fresh, met, two_gaussians

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
    found = calibrate(draw(Gaussians(3.0, prior), counts), fresh(counts))
    assert found.scale == pytest.approx(SCALE, rel=0.2)
    assert found.offset == pytest.approx(OFFSET, abs=0.5)
    assert found.share == pytest.approx(prior, abs=0.04)


def test_freely_formed_pairs_have_their_own_share() -> None:
    counts = Counts(600, 600)
    scores = draw(Gaussians(3.0, 0.8), counts, pair_share=0.4)
    found = calibrate(scores, fresh(counts, pairing="free"))
    assert found.share == pytest.approx(0.8, abs=0.06)
    assert found.scale == pytest.approx(SCALE, rel=0.3)


def test_scores_with_the_classes_the_wrong_way_round_are_turned() -> None:
    counts = Counts(1000, 1000)
    scores = draw(Gaussians(3.0, 0.75), counts)
    right, wrong = (calibrate(sign * scores, fresh(counts)) for sign in (1.0, -1.0))
    assert wrong.share == pytest.approx(right.share, abs=0.01)
    assert wrong.scale == pytest.approx(-right.scale, rel=0.05)
    assert wrong.offset == pytest.approx(right.offset, abs=0.1)


@pytest.mark.slow
def test_freely_formed_pairs_are_turned_with_their_scores() -> None:
    counts = Counts(600, 600)
    scores = draw(Gaussians(3.0, 0.75), counts, pair_share=0.3)
    found = calibrate(-scores, fresh(counts, pairing="free"))
    assert found.share == pytest.approx(0.75, abs=0.06)
    assert found.scale == pytest.approx(-SCALE, rel=0.3)


def test_the_log_likelihood_is_no_lower_than_that_of_the_true_calibration() -> None:
    counts = Counts(300, 300)
    scores = draw(Gaussians(2.0, 0.7), counts)
    truth = expand(log_probabilities(SCALE * scores + OFFSET), counts).value
    assert calibrate(scores, fresh(counts)).log_likelihood > -counts.pairs * truth - 1e-2


def test_the_unit_of_scores_does_not_matter() -> None:
    counts = Counts(200, 200)
    scores = draw(Gaussians(), counts)
    plain, large = (calibrate(one, fresh(counts)) for one in (scores, 1e4 * scores + 5e3))
    assert large.share == pytest.approx(plain.share, abs=1e-4)
    assert 1e4 * large.scale == pytest.approx(plain.scale, rel=1e-3)


@pytest.mark.parametrize("pairing", ["random", pytest.param("free", marks=pytest.mark.slow)])
def test_at_one_half_either_class_may_be_the_majority_class(pairing: str) -> None:
    counts = Counts(300, 300)
    for seed in range(2):
        found = calibrate(draw(Gaussians(3.0, 0.5), counts, seed), fresh(counts, pairing=pairing))
        low, high = found.interval(0.98)
        assert low < 0.5 < found.share < high
        assert of_majority(low, high) == (0.5, high)
        assert found.share < 0.62


def test_the_majority_class_is_the_one_that_is_more_likely_so() -> None:
    assert of_majority(0.6, 0.7) == (0.6, 0.7)
    assert of_majority(0.45, 0.7) == (0.5, 0.7)
    assert of_majority(0.3, 0.55) == pytest.approx((0.5, 0.7))
    assert of_majority(0.2, 0.4) == pytest.approx((0.6, 0.8))


def test_scores_without_signal_leave_the_share_open() -> None:
    counts = Counts(100, 100)
    found = calibrate(np.random.default_rng(0).standard_normal(counts.rows), fresh(counts))
    low, high = found.interval(0.95)
    assert high - low > 0.3


def test_constant_scores_are_calibrated_to_a_constant_probability() -> None:
    counts = Counts(30, 30)
    found = calibrate(np.full(counts.rows, 2.0), fresh(counts))
    assert np.isfinite([found.scale, found.offset]).all()
    assert 0.5 < found.share < 1
    assert found.log_likelihood == pytest.approx(0, abs=1e-6)


def test_scores_that_hardly_differ_are_calibrated_to_a_constant_probability() -> None:
    counts = Counts(30, 30)
    dust = 1e-6 * np.random.default_rng(0).standard_normal(counts.rows)
    found, again = (calibrate(12.9 + sign * dust, fresh(counts)) for sign in (1.0, -1.0))
    assert found.scale == 0.0
    assert (found.offset, found.share) == (again.offset, again.share)


def coverage(prior: float, counts: Counts, pairing: str) -> tuple[int, int]:
    """Return how many of 100 intervals hold the prior, by the class's name and of either class."""
    named = either = 0
    for seed in range(100):
        scores = draw(Gaussians(2.5, prior), counts, seed)
        low, high = calibrate(scores, fresh(counts, pairing=pairing)).interval(0.9)
        of_larger = of_majority(low, high)
        named += low <= prior <= high
        either += of_larger[0] <= prior <= of_larger[1]
    return named, either


@pytest.mark.slow
@pytest.mark.parametrize("counts", [Counts(300, 300), Counts(300, 200, 100)])
@pytest.mark.parametrize("prior", [0.5, 0.6, 0.75, 0.9])
@pytest.mark.parametrize("pairing", ["random", "free"])
def test_nine_of_ten_intervals_hold_the_prior(prior: float, counts: Counts, pairing: str) -> None:
    named, either = coverage(prior, counts, pairing)
    assert 82 <= named <= 97
    assert 82 <= either <= 97


# --- one table --------------------------------------------------------------------------------


def draw_table(rng: np.random.Generator, n_rows: int = 400) -> tuple[FloatArray, NDArray[np.intp]]:
    """Scores of the rows of one table, and their classes."""
    rows, classes = two_gaussians(rng, n_rows, n_columns=1)
    return distorted(Gaussians(3.0, 0.7), rows[:, 0]), classes


@pytest.mark.parametrize("error_rate", [0.0, 0.1, None])
def test_answers_about_one_table_calibrate(
    rng: np.random.Generator, error_rate: float | None
) -> None:
    scores, classes = draw_table(rng)
    statements = answered(rng, classes, 800, 0.0 if error_rate == 0.0 else 0.1)
    found = calibrate(scores, TableLikelihood(statements, 2, "asked", error_rate))
    assert found.scale == pytest.approx(SCALE, rel=0.3)
    assert found.offset == pytest.approx(OFFSET, abs=0.6)
    assert found.share == pytest.approx(classes.mean(), abs=0.02)
    low, high = found.interval(0.9)
    assert low < 0.7 < high


@pytest.mark.parametrize("pairing", ["random", pytest.param("free", marks=pytest.mark.slow)])
def test_pairs_met_in_one_table_calibrate(rng: np.random.Generator, pairing: Pairing) -> None:
    scores, classes = draw_table(rng)
    found = calibrate(scores, TableLikelihood(met(rng, classes, 300), 2, pairing))
    assert found.scale == pytest.approx(SCALE, rel=0.4)
    assert found.share == pytest.approx(classes.mean(), abs=0.05)


def test_classes_with_names_have_shares_on_either_side_of_one_half(
    rng: np.random.Generator,
) -> None:
    scores, classes = draw_table(rng, 300)
    known = np.where(np.arange(300) < 10, 1 - classes, -1)
    likelihood = TableLikelihood(answered(rng, classes, 400), 2, known=known)
    found = calibrate(-scores, likelihood)
    assert found.scale > 0
    assert found.share == pytest.approx(1 - classes.mean(), abs=0.03)
    assert found.shares[0] < 0.01


# --- the posterior ----------------------------------------------------------------------------


def test_the_share_is_the_mean_and_the_interval_the_narrowest_of_the_posterior() -> None:
    shares = np.linspace(0.5, 1.0, 2001)[1:] - 0.00025
    weights = np.exp(-0.5 * ((shares - 0.7) / 0.02) ** 2)
    found = Calibration(1.0, 0.0, shares, weights / weights.sum(), 0.0)
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
    """Scores of three classes that `SCALE` and `SHIFT` turn back into log-probabilities."""
    pairs = rng.choice(3, counts.similar, p=PRIOR**2 / (PRIOR @ PRIOR))
    labels = np.concatenate([rng.choice(3, counts.unlabeled, p=PRIOR), pairs, pairs])
    rows = MEANS[labels] + rng.standard_normal((counts.rows, 2))
    scores = rows @ MEANS.T - 0.5 * (MEANS**2).sum(axis=1) + np.log(PRIOR)
    return np.asarray((scores - SHIFT) / SCALE)


def test_three_classes_are_calibrated() -> None:
    counts = Counts(3000, 3000)
    found = calibrate_classes(draw_classes(np.random.default_rng(0), counts), fresh(counts, 3))
    assert found.scale == pytest.approx(SCALE, rel=0.1)
    np.testing.assert_allclose(found.offsets, SHIFT, atol=0.4)
    np.testing.assert_allclose(found.shares, PRIOR, atol=0.03)
    assert found.shares.sum() == pytest.approx(1)


def test_standard_errors_of_three_shares_are_their_spread_over_draws() -> None:
    rng, counts = np.random.default_rng(1), Counts(300, 300)
    found = [calibrate_classes(draw_classes(rng, counts), fresh(counts, 3)) for _ in range(30)]
    shares = np.array([one.shares for one in found])
    spread = shares.std(axis=0, ddof=1)
    np.testing.assert_allclose(
        np.median([one.deviations for one in found], axis=0), spread, rtol=0.4
    )
    np.testing.assert_allclose(shares.mean(axis=0), PRIOR, atol=0.02)


def test_two_of_many_classes_are_calibrated_as_two() -> None:
    counts = Counts(1500, 1500)
    scores = draw(Gaussians(3.0, 0.7), counts)
    two = calibrate(scores, fresh(counts))
    many = calibrate_classes(np.column_stack([np.zeros(counts.rows), scores]), fresh(counts))
    assert many.shares[1] == pytest.approx(two.share, abs=0.005)
    found = [
        expit(two.scale * scores + two.offset),
        np.exp(
            log_probabilities(many.scale * np.column_stack([0 * scores, scores]) + many.offsets)
        )[:, 1],
    ]
    np.testing.assert_allclose(found[0], found[1], atol=0.03)
