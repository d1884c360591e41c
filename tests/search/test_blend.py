"""Weighted sums of the scores of several feature maps."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.scores.features import RadialFeatures
from likewise.scores.maps import FeatureMap
from likewise.search.blend import Entry, blend, join
from likewise.search.crossfit import Candidate, parts_of
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, fresh, two_gaussians

COUNTS = Counts(400, 400)
FOLDS = np.concatenate([np.arange(400) % 4] * 3)
LIKELIHOOD = fresh(COUNTS)


def column(position: int) -> FeatureMap:
    """Return a map that is named after a column."""
    return FeatureMap(f"column {position}", None, np.zeros(3), np.ones(3))


def entries(*scores: FloatArray) -> list[Entry]:
    """Return scores as if a map had given them, each a column of the rows."""
    return [
        Entry(
            column(i),
            Candidate(0.1, np.eye(4)[:, i : i + 1], np.zeros(4), 400.0, one[:, None]),
        )
        for i, one in enumerate(scores)
    ]


def summed(parts: list[Entry]) -> Entry:
    """Return the sum of what is known to have one."""
    found = blend(parts, LIKELIHOOD, parts_of(LIKELIHOOD, FOLDS))
    assert found is not None
    return found


@pytest.fixture
def truth(rng: np.random.Generator) -> FloatArray:
    """Return the log-odds of rows of two Gaussians."""
    return np.asarray(2.5 * Gaussians(2.5, 0.7).draw(rng, COUNTS) + np.log(0.7 / 0.3))


def information(scores: FloatArray) -> float:
    """Return what scores tell, in nats per pair."""
    return LIKELIHOOD.evaluate(log_probabilities(scores)).value / COUNTS.pairs


def test_two_half_blind_scores_are_better_together(
    rng: np.random.Generator, truth: FloatArray
) -> None:
    noise = 4.0 * rng.standard_normal((2, truth.size))
    found = summed(entries(truth + noise[0], truth + noise[1]))
    assert found.candidate.information > max(information(0.4 * (truth + one)) for one in noise)
    first, second = found.weights.values()
    assert first / (first + second) == pytest.approx(0.5, abs=0.1)  # they are equally noisy


def test_noise_gets_little_weight(rng: np.random.Generator, truth: FloatArray) -> None:
    parts = entries(truth, 3.0 * rng.standard_normal(truth.size))
    found = summed(parts)
    first, second = (abs(found.weights.get(part, 0.0)) for part in parts)
    assert first > 5 * second


def test_scores_with_the_classes_exchanged_are_turned_round(truth: FloatArray) -> None:
    straight = summed(entries(truth, truth))
    turned = summed(entries(truth, -truth))
    np.testing.assert_allclose(turned.candidate.scores, straight.candidate.scores)
    one, other = (list(found.weights.values())[1] for found in (straight, turned))
    assert other == pytest.approx(-one)


def test_the_weights_of_a_fold_do_not_see_its_pairs(
    rng: np.random.Generator, truth: FloatArray
) -> None:
    first, second = truth + 2.0 * rng.standard_normal((2, truth.size))
    spoilt = second.copy()
    members = np.r_[COUNTS.left, COUNTS.right]
    of_fold = members[FOLDS[members] == 0]
    spoilt[of_fold] = rng.permutation(spoilt[of_fold])
    plain, swayed = (summed(entries(first, one)) for one in (second, spoilt))
    shifts = []
    for fold in (0, 1):
        alone = np.flatnonzero(FOLDS[: COUNTS.unlabeled] == fold)
        scores = (found.candidate.scores[alone, 0] for found in (plain, swayed))
        shifts.append(1.0 - np.corrcoef(*scores)[0, 1])
    assert shifts[0] < 1e-6
    assert shifts[1] > 1e-4


def test_free_pair_shares_are_learned(rng: np.random.Generator) -> None:
    model = Gaussians(2.5, 0.7)
    truth = model.log_odds(model.draw(rng, COUNTS, 0.3))
    freely = fresh(COUNTS, pairing="free")
    noise = rng.standard_normal((2, truth.size))
    found = blend(entries(truth + noise[0], truth + noise[1]), freely, parts_of(freely, FOLDS))
    assert found is not None
    assert found.candidate.information > information(truth) + 0.05


def test_a_sum_explains_answers_about_one_table(rng: np.random.Generator) -> None:
    rows, classes = two_gaussians(rng, 300, separation=2.5)
    truth = Gaussians(2.5, 0.7).log_odds(rows[:, 0])
    likelihood = TableLikelihood(answered(rng, classes, 300), 2)
    parts = parts_of(likelihood, np.arange(300) % 4)
    noise = 3.0 * rng.standard_normal((2, 300))
    found = blend(entries(truth + noise[0], truth + noise[1]), likelihood, parts)
    assert found is not None
    assert found.candidate.n_judged >= 300
    assert found.candidate.evidence.sum() > 10
    errors = [np.mean((one > 0) != (classes == 1)) for one in (truth + noise[0], truth + noise[1])]
    assert np.mean((found.candidate.scores[:, 0] > 0) != (classes == 1)) < min(errors) + 0.01


def test_the_model_of_a_sum_scores_rows_as_its_parts_do_together(
    rng: np.random.Generator, truth: FloatArray
) -> None:
    parts = entries(truth + rng.standard_normal(truth.size), truth)
    found = summed(parts)
    new = rng.standard_normal((5, 3))
    weights = join(found, {part: part.candidate for part in parts}).weights
    expected = found.offset + sum(
        weight * part.features.design(new).decide(part.candidate.weights)
        for part, weight in found.weights.items()
    )
    np.testing.assert_allclose(found.features.design(new).decide(weights), expected)


def test_one_score_is_no_sum(rng: np.random.Generator, truth: FloatArray) -> None:
    noise = rng.standard_normal(truth.size)
    tried = entries(truth + noise, truth + 3.0 * noise)
    assert blend(tried, LIKELIHOOD, parts_of(LIKELIHOOD, FOLDS)) is None


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_side_by_side_scores_are_sums(rng: np.random.Generator, container: Any) -> None:
    rows = rng.normal(2.0, 3.0, size=(40, 3))
    transformers = (None, RadialFeatures(n_components=5, random_state=0), PolynomialFeatures(2))
    maps = [
        FeatureMap.fit(str(number), transformer, container(rows))[0]
        for number, transformer in enumerate(transformers)
    ]
    joined = FeatureMap.side_by_side(maps)
    new = container(rng.normal(size=(7, 3)))
    weights = [rng.normal(size=(len(one.mean) + 1, 1)) for one in maps]
    expected = sum(one.design(new).decide(own) for one, own in zip(maps, weights, strict=True))
    stacked = np.vstack([*(own[:-1] for own in weights), sum(own[-1:] for own in weights)])
    np.testing.assert_allclose(joined.design(new).decide(stacked), expected, atol=1e-9)
    assert joined.name == "0 + 1 + 2"
