"""How much the pairs tell."""

import numpy as np
import pytest

from likewise.beliefs.fresh import Counts
from likewise.search.information import PairInformation, pair_information
from tests.search.gaussians import Gaussians

KINDS = [Counts(400, 400), Counts(400, 0, 400), Counts(400, 300, 200)]


def measure(
    model: Gaussians, counts: Counts, seed: int, pair_share: float | None = None
) -> PairInformation:
    """Measure with the true chances."""
    rows = model.draw(np.random.default_rng(seed), counts, pair_share)
    pair_shares = None if pair_share is None else np.array([1 - pair_share, pair_share])
    folds = np.arange(counts.rows) % 2
    folds[counts.right] = folds[counts.left]
    folds[counts.dissimilar_right] = folds[counts.dissimilar_left]
    return pair_information(model.log_odds(rows)[:, None], counts, folds, pair_shares)


@pytest.mark.parametrize("prior", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("counts", KINDS)
def test_the_value_is_the_information_by_integration(prior: float, counts: Counts) -> None:
    model = Gaussians(2.0, prior)
    found = [measure(model, counts, seed).value for seed in range(100)]
    expected = (
        counts.similar * model.similar_information()
        + counts.dissimilar * model.dissimilar_information()
    ) / counts.pairs
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(expected, abs=3 * error + 1 / counts.pairs)


@pytest.mark.parametrize("prior", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("counts", KINDS)
def test_the_standard_error_is_the_spread_over_draws_or_a_little_more(
    prior: float, counts: Counts
) -> None:
    found = [measure(Gaussians(2.0, prior), counts, seed) for seed in range(150)]
    ratio = np.mean([one.standard_error for one in found]) / np.std([one.value for one in found])
    # Cautious: the shares' noise and the pairs' are added up as if they were independent.
    assert 0.8 < ratio < 1.8


def test_freely_formed_pairs_are_measured_by_their_own_shares() -> None:
    model, counts = Gaussians(6.0, 0.8), Counts(3000, 3000)
    # Classes that hardly overlap: the density of a pair of class k is rho_k / q_k^2.
    expected = 0.4 * np.log(0.4 / 0.8**2) + 0.6 * np.log(0.6 / 0.2**2)
    found = measure(model, counts, 0, 0.4)
    assert found.value == pytest.approx(expected, abs=3 * found.standard_error + 0.02)


def test_signal_has_a_small_p_value() -> None:
    for counts in KINDS:
        assert measure(Gaussians(2.0, 0.7), counts, 0).p_value(199, random_state=0) == 0.005


def test_p_values_of_noise_are_spread_evenly() -> None:
    rng, counts = np.random.default_rng(0), Counts(40, 40, 20)
    folds = np.arange(counts.rows) % 4
    p_values = np.array(
        [
            pair_information(rng.normal(size=(counts.rows, 1)), counts, folds).p_value(39, rng_seed)
            for rng_seed in range(150)
        ]
    )
    assert p_values.mean() == pytest.approx(0.5, abs=0.08)
    assert 0.03 < np.mean(p_values <= 0.1) < 0.18


def test_fold_shifts_do_not_look_like_signal() -> None:
    rng, counts = np.random.default_rng(0), Counts(100, 100)
    folds = np.arange(counts.rows) % 4
    scores = rng.normal(size=(counts.rows, 1)) + 3.0 * (folds[:, None] % 2)
    assert pair_information(scores, counts, folds).p_value(199, random_state=0) > 0.02


def test_the_same_seed_gives_the_same_p_value() -> None:
    found = measure(Gaussians(0.3, 0.7), Counts(50, 50), 0)
    assert found.p_value(49, random_state=1) == found.p_value(49, random_state=1)


def test_it_reads_as_a_number_and_as_a_sentence() -> None:
    found = measure(Gaussians(), KINDS[0], 0)
    assert float(found) == found.value
    assert str(found).startswith(f"{found.value:.3f} nats per pair (standard error 0.")


def test_a_single_pair_has_a_finite_standard_error() -> None:
    assert np.isfinite(measure(Gaussians(), Counts(20, 1), 0).standard_error)
