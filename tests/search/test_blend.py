"""Weighted sums of the scores of several feature maps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts
from likewise.scores.design import Design, Sample
from likewise.scores.features import RadialFeatures
from likewise.scores.maps import FeatureMap
from likewise.search.blend import Entry, blend
from likewise.search.crossfit import Candidate, judge
from likewise.search.model import PairModel, evaluate
from tests.search.gaussians import Gaussians

COUNTS = Counts(400, 400)
FOLDS = np.concatenate([np.arange(400) % 4] * 3)


def column(position: int) -> FeatureMap:
    """Return a map that is named after a column."""
    return FeatureMap(f"column {position}", None, np.zeros(3), np.ones(3))


def entries(*scores: FloatArray) -> list[Entry]:
    """Return scores as if a map had given them, each a column of the rows."""
    return [
        Entry(
            column(i),
            Candidate(0.1, PairModel(np.eye(4)[:, i : i + 1]), np.zeros(4), one[:, None]),
        )
        for i, one in enumerate(scores)
    ]


def summed(parts: list[Entry]) -> Entry:
    """Return the sum of what is known to have one."""
    found = blend(parts, COUNTS, FOLDS)
    assert found is not None
    return found


@pytest.fixture
def truth(rng: np.random.Generator) -> FloatArray:
    """Return the log-odds of rows of two Gaussians."""
    return np.asarray(2.5 * Gaussians(2.5, 0.7).draw(rng, COUNTS) + np.log(0.7 / 0.3))


def value(scores: FloatArray) -> float:
    sample = Sample(Design(scores[:, None], np.zeros(1), np.ones(1)), COUNTS)
    return evaluate(scores[:, None], sample)[0].value


def test_two_half_blind_scores_are_better_together(
    rng: np.random.Generator, truth: FloatArray
) -> None:
    noise = 4.0 * rng.standard_normal((2, truth.size))
    found = summed(entries(truth + noise[0], truth + noise[1]))
    assert found.candidate.information > -min(value(0.4 * (truth + one)) for one in noise)
    first, second = found.weights.values()
    assert first + second == pytest.approx(1.0)
    assert first == pytest.approx(0.5, abs=0.1)  # they are equally noisy


def test_noise_gets_little_weight(rng: np.random.Generator, truth: FloatArray) -> None:
    parts = entries(truth, 3.0 * rng.standard_normal(truth.size))
    found = summed(parts)
    assert found.weights[parts[0]] > 0.85


def test_scores_with_the_classes_exchanged_are_turned_round(truth: FloatArray) -> None:
    straight = summed(entries(truth, truth))
    turned = summed(entries(truth, -truth))
    np.testing.assert_allclose(turned.candidate.scores, straight.candidate.scores)
    np.testing.assert_allclose(
        turned.candidate.model.weights[4], -straight.candidate.model.weights[4]
    )


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


def with_pair_shares(*scores: FloatArray) -> list[Entry]:
    """Return scores of models with free pair shares, far from those of pairs formed at random."""
    model = PairModel(np.eye(4)[:, :1], np.array([0.5, 0.5]))
    return [
        replace(part, candidate=replace(part.candidate, model=model)) for part in entries(*scores)
    ]


def test_free_pair_shares_are_learned(truth: FloatArray) -> None:
    shares = summed(with_pair_shares(truth, truth)).candidate.model.pair_shares
    assert shares is not None
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] == pytest.approx(Gaussians(2.5, 0.7).pair_share, abs=0.04)


def test_the_pair_shares_of_a_fold_do_not_see_its_pairs(
    truth: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[PairModel]] = []

    def judge_and_tell(sample: Sample, parts: Any, alpha: Any, model: Any, refit: Any) -> Candidate:
        parts = list(parts)
        seen.append([refit(part) for part in parts])
        return judge(sample, parts, alpha, model, refit)

    monkeypatch.setattr("likewise.search.blend.judge", judge_and_tell)
    swayed = truth.copy()
    members = np.r_[COUNTS.left, COUNTS.right]
    of_fold = members[FOLDS[members] == 0]
    swayed[of_fold] = np.abs(truth[of_fold])  # as if most of its pairs were of one class
    for scores in (truth, swayed):
        summed(with_pair_shares(scores, scores))
    plain, other = (np.array([model.pair_shares for model in models]) for models in seen)
    np.testing.assert_allclose(plain[0], other[0], rtol=1e-6)
    assert np.abs(plain[1] - other[1]).max() > 0.01


def test_one_score_is_no_sum(rng: np.random.Generator, truth: FloatArray) -> None:
    noise = rng.standard_normal(truth.size)
    assert blend(entries(truth + noise, truth + 3.0 * noise), COUNTS, FOLDS) is None


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
