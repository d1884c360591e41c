"""How much statements tell."""

from typing import Any

import numpy as np
import pytest

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.scores.maps import FeatureMap
from likewise.search.crossfit import Candidate, parts_of
from likewise.search.information import PairInformation, exchange_within, pair_information
from likewise.search.learn import Learned
from likewise.search.rows import Some
from likewise.search.tried import Selection
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, fresh, two_gaussians

KINDS = [Counts(400, 400), Counts(400, 0, 400), Counts(400, 300, 200)]


def information_of(scores: FloatArray, likelihood: Likelihood, n_folds: int = 4) -> PairInformation:
    """Measure scores as if they had been learned, rows dealt out in turn."""
    folds = np.arange(likelihood.n_rows) % n_folds
    links = likelihood.links
    if likelihood.statements.is_fresh:
        folds[links.right] = folds[links.left]
    evidence = np.arange(float(n_folds))
    learned = Learned(
        FeatureMap("linear", None, np.zeros(1), np.ones(1)),
        Candidate(0.1, np.zeros((2, 1)), evidence, float(likelihood.statements.count), scores),
        Selection(()),
        Some(scores, likelihood.statements, None, is_whole=True),
        likelihood,
        parts_of(likelihood, folds),
    )
    return pair_information(learned, scores)


def measure(model: Gaussians, counts: Counts, seed: int) -> PairInformation:
    """Measure with the true probabilities."""
    rows = model.draw(np.random.default_rng(seed), counts)
    return information_of(model.log_odds(rows)[:, None], fresh(counts))


def test_of_one_table_value_and_standard_error_are_those_of_the_folds(
    rng: np.random.Generator,
) -> None:
    rows, classes = two_gaussians(rng, 60, n_columns=1)
    likelihood = TableLikelihood(answered(rng, classes, 30), 2)
    found = information_of(Gaussians(3.0, 0.7).log_odds(rows), likelihood)
    assert found.value == pytest.approx(6.0 / 30)  # folds told 0, 1, 2 and 3 nats
    assert found.standard_error == pytest.approx(np.std(np.arange(4.0), ddof=1) * 2 / 30)


@pytest.mark.parametrize("counts", [Counts(150, 200), Counts(150, 0, 200), Counts(100, 150, 100)])
def test_of_fresh_pairs_the_standard_error_is_how_values_vary(counts: Counts) -> None:
    model = Gaussians(2.0, 0.7)
    many = Counts(*(100 * count for count in counts))
    truth = measure(model, many, 1).value
    found = [measure(model, counts, seed) for seed in range(200)]
    values = np.array([one.value for one in found])
    errors = np.array([one.standard_error for one in found])
    # The truth is of a sample a hundred times as large.
    error = values.std() * np.sqrt(1 / 200 + 1 / 100)
    assert values.mean() == pytest.approx(truth, abs=3 * error)
    assert values.std() == pytest.approx(errors.mean(), rel=0.15)
    assert np.mean(np.abs(values - truth) < 1.645 * errors) == pytest.approx(0.9, abs=0.07)


def test_signal_has_a_small_p_value() -> None:
    for counts in KINDS:
        assert measure(Gaussians(2.0, 0.7), counts, 0).p_value(199, random_state=0) == 0.005


def test_signal_in_one_table_has_a_small_p_value(rng: np.random.Generator) -> None:
    rows, classes = two_gaussians(rng, 200, n_columns=1)
    likelihood = TableLikelihood(answered(rng, classes, 150), 2)
    scores = Gaussians(3.0, 0.7).log_odds(rows)
    assert information_of(scores, likelihood).p_value(99, random_state=0) == 0.01


def spread_evenly(p_values: Any) -> bool:
    found = np.array(p_values)
    return bool(abs(found.mean() - 0.5) < 0.08 and 0.03 < np.mean(found <= 0.1) < 0.18)


def test_p_values_of_noise_are_spread_evenly() -> None:
    rng, counts = np.random.default_rng(0), Counts(40, 40, 20)
    assert spread_evenly(
        [
            information_of(rng.normal(size=(counts.rows, 1)), fresh(counts)).p_value(
                39, random_state=seed
            )
            for seed in range(150)
        ]
    )


def test_so_they_are_where_rows_are_in_several_statements(rng: np.random.Generator) -> None:
    p_values = []
    for seed in range(150):
        likelihood = TableLikelihood(answered(rng, rng.random(60) < 0.6, 90), 2)
        scores = 2.0 * rng.normal(size=(60, 1))
        p_values.append(information_of(scores, likelihood).p_value(39, random_state=seed))
    assert spread_evenly(p_values)


def test_fold_shifts_do_not_look_like_signal() -> None:
    rng, counts = np.random.default_rng(0), Counts(100, 100)
    likelihood = fresh(counts)
    folds = np.arange(counts.rows) % 4
    folds[likelihood.links.right] = folds[likelihood.links.left]
    scores = rng.normal(size=(counts.rows, 1)) + 3.0 * (folds[:, None] % 2)
    assert information_of(scores, likelihood).p_value(199, random_state=0) > 0.02


def test_positions_are_exchanged_within_their_group() -> None:
    groups = np.array([2, 0, 2, 1, 0, 2])
    order = exchange_within(groups, np.random.RandomState(0))
    np.testing.assert_array_equal(np.sort(order), np.arange(6))
    np.testing.assert_array_equal(groups[order], groups)


def test_the_same_seed_gives_the_same_p_value() -> None:
    found = measure(Gaussians(0.3, 0.7), Counts(50, 50), 0)
    assert found.p_value(49, random_state=1) == found.p_value(49, random_state=1)


def test_it_reads_as_a_number_and_as_a_sentence() -> None:
    found = measure(Gaussians(), KINDS[0], 0)
    assert float(found) == found.value
    assert str(found).startswith(f"{found.value:.3f} nats per pair (standard error 0.")
