"""Were similar pairs formed at random?"""

import numpy as np
import pytest

from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.search import pairing
from likewise.search.pairing import PairingTest
from tests.search.gaussians import Gaussians
from tests.search.samples import fresh, met, random_pairs, statements_of, two_gaussians

COUNTS = Counts(400, 400)


def run(model: Gaussians, seed: int, counts: Counts, pair_share: float | None) -> PairingTest:
    rows = model.draw(np.random.default_rng(seed), counts, pair_share)
    return pairing.compare_pairings(model.log_odds(rows)[:, None], fresh(counts))


@pytest.mark.parametrize(("prior", "pair_share"), [(0.85, 0.5), (0.7, 0.2), (0.6, 0.99)])
def test_pairs_with_other_shares_are_found_out(prior: float, pair_share: float) -> None:
    counts = Counts(600, 600)
    for seed in range(3):
        found = run(Gaussians(3.0, prior), seed, counts, pair_share)
        assert found.p_value < 0.01
        assert found.pair_shares[0] == pytest.approx(pair_share, abs=0.12)
        assert sum(found.pair_shares) == pytest.approx(1)


def test_expected_shares_follow_from_the_shares_of_rows() -> None:
    found = run(Gaussians(4.0, 0.7), 0, Counts(2000, 2000), None)
    assert found.expected_shares == pytest.approx((0.845, 0.155), abs=0.03)
    assert found.pair_shares == pytest.approx(found.expected_shares, abs=0.06)
    assert found.p_value > 0.01


def test_the_statistic_is_never_negative_and_scores_may_be_on_any_scale() -> None:
    model = Gaussians(2.0, 0.7)
    scores = model.log_odds(model.draw(np.random.default_rng(0), COUNTS))[:, None]
    plain, shrunk = (
        pairing.compare_pairings(factor * scores, fresh(COUNTS)) for factor in (1.0, 0.3)
    )
    assert plain.statistic >= 0
    assert shrunk.statistic == pytest.approx(plain.statistic, abs=0.05)


def test_three_classes_are_tested_with_two_degrees_of_freedom() -> None:
    rng, counts = np.random.default_rng(0), Counts(800, 800)
    prior, means = np.array([0.5, 0.3, 0.2]), 1.5 * np.array([[2, 0], [-1, 1.7], [-1, -1.7]])

    def scores(shares: np.ndarray) -> np.ndarray:
        pairs = rng.choice(3, counts.similar, p=shares)
        labels = np.concatenate([rng.choice(3, counts.unlabeled, p=prior), pairs, pairs])
        rows = means[labels] + rng.standard_normal((counts.rows, 2))
        return np.asarray(rows @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(prior))

    random = pairing.compare_pairings(scores(prior**2 / (prior @ prior)), fresh(counts, 3))
    odd = pairing.compare_pairings(scores(np.array([0.2, 0.3, 0.5])), fresh(counts, 3))
    assert random.p_value > 0.01
    assert odd.p_value < 1e-4
    assert odd.pair_shares == pytest.approx((0.2, 0.3, 0.5), abs=0.1)


def test_pairs_met_in_one_table_agree_with_random_pairing_and_odd_ones_do_not(
    rng: np.random.Generator,
) -> None:
    rows, classes = two_gaussians(rng, 400, n_columns=1)
    scores = Gaussians(3.0, 0.7).log_odds(rows)
    at_random = met(rng, classes, 300)
    pairs = random_pairs(rng, 400, 4000)
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    of_second = classes[pairs[:, 0]] == 1
    odd = np.vstack([pairs[same & of_second][:100], pairs[same & ~of_second][:200]])
    agree, against = (
        pairing.compare_pairings(scores, TableLikelihood(one, 2, "random"))
        for one in (at_random, statements_of(400, odd))
    )
    assert agree.p_value > 0.01
    assert against.p_value < 1e-3
    assert against.pair_shares == pytest.approx((1 / 3, 2 / 3), abs=0.1)


def test_the_verdict_is_a_sentence() -> None:
    agree = PairingTest(0.1, 0.75, (0.8, 0.2), (0.84, 0.16))
    against = PairingTest(9.0, 0.003, (0.5, 0.5), (0.84, 0.16))
    assert str(agree).startswith("the pairs agree with random pairing (p = 0.75)")
    assert "contradict random pairing (p = 0.003)" in str(against)
    assert "among similar pairs 0.50, 0.50, at random 0.84, 0.16" in str(against)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.5, 0.7, 0.9])
def test_one_of_twenty_random_samples_is_rejected(prior: float) -> None:
    rejected = [
        run(Gaussians(2.5, prior), seed, COUNTS, None).p_value < 0.05 for seed in range(200)
    ]
    # Between 2 and 8 %, and the upper end give or take 1.5 %, the standard error of 200 draws.
    assert 0.02 <= np.mean(rejected) <= 0.095
