"""Cross-fitting."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts
from likewise.scores.design import Design, Sample, column_moments
from likewise.search import crossfit
from likewise.search.crossfit import Candidate, cross_fit, cross_fit_from
from likewise.search.model import PairModel, evaluate, minimise
from likewise.statements.folds import PairKFold
from tests.search.gaussians import Gaussians

COUNTS = Counts(120, 100, 40)


def deal(counts: Counts, n_folds: int = 4) -> NDArray[np.intp]:
    return PairKFold(n_folds, shuffle=True, random_state=0).deal(counts.row_sets, counts.rows)


def as_sample(rows: FloatArray, counts: Counts) -> Sample:
    return Sample(Design(rows, *column_moments(rows)), counts)


def draw(seed: int, counts: Counts = COUNTS, n_noise: int = 2) -> Sample:
    rng = np.random.default_rng(seed)
    signal = Gaussians(separation=3.0).draw(rng, counts)
    return as_sample(np.column_stack([signal, rng.standard_normal((counts.rows, n_noise))]), counts)


def fit(
    sample: Sample, alphas: list[float], n_classes: int = 2, *, own_ways: bool = False
) -> list[Candidate]:
    return cross_fit(
        sample,
        deal(sample.counts),
        alphas,
        n_classes,
        is_free=False,
        random_state=np.random.RandomState(0),
        own_ways=own_ways,
    )


def models_of_folds(
    sample: Sample, start: PairModel, monkeypatch: pytest.MonkeyPatch
) -> list[PairModel]:
    """Return the models that the folds' rows were scored with."""
    seen: list[PairModel] = []

    def spy(*arguments: Any) -> PairModel:
        seen.append(minimise(*arguments))
        return seen[-1]

    monkeypatch.setattr(crossfit, "minimise", spy)
    parts = crossfit.parts_of(sample, deal(sample.counts))
    crossfit.judge(sample, parts, 0.1, start, crossfit._refit(0.1, start))
    return seen


def test_the_model_of_a_fold_does_not_see_the_rows_that_it_scores(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    sample = draw(0)
    start = PairModel(np.array([[1.0], [0.0], [0.0], [0.0]]))
    plain = models_of_folds(sample, start, monkeypatch)
    inside = deal(sample.counts) == 0
    rows = sample.design.rows.copy()
    rows[inside] = 100 * rng.standard_normal((inside.sum(), 3))
    wild = Sample(Design(rows, sample.design.mean, sample.design.scale), sample.counts)
    others = models_of_folds(wild, start, monkeypatch)
    np.testing.assert_array_equal(plain[0].weights, others[0].weights)
    assert all(
        np.abs(a.weights - b.weights).max() > 0.01
        for a, b in zip(plain[1:], others[1:], strict=True)
    )


def test_held_out_likelihoods_are_those_of_models_fitted_to_the_other_folds() -> None:
    sample, alpha = draw(1), 0.1
    (candidate,) = fit(sample, [alpha])
    folds = deal(sample.counts)
    for fold in range(4):
        train, test = sample.among(folds != fold), sample.among(folds == fold)
        model = minimise(train, alpha, PairModel(np.array([[1.0], [0.0], [0.0], [0.0]])))
        value = -evaluate(test.design.decide(model.weights), test)[0].value
        assert candidate.held_out[fold] == pytest.approx(value, abs=2e-3)
    assert candidate.information == pytest.approx(candidate.held_out.mean())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_all_folds_have_the_centre_and_scale_of_the_model_of_all_rows(
    n_classes: int,
) -> None:
    sample = draw(2, Counts(800, 800))
    (candidate,) = fit(sample, [0.1], n_classes)
    folds = deal(sample.counts)
    alone = np.arange(sample.counts.rows) < sample.counts.unlabeled
    whole = sample.design.decide(candidate.model.weights)
    for fold in range(4):
        inside = alone & (folds == fold)
        difference = candidate.scores[inside].mean(axis=0) - whole[inside].mean(axis=0)
        assert np.abs(difference).max() < 0.1 * whole[alone].std()
        length = np.std(candidate.scores[inside]) / np.std(whole[inside])
        assert length == pytest.approx(1, abs=0.1)


def correlation(scores: FloatArray, counts: Counts) -> float:
    left, right = scores[counts.left, 0], scores[counts.right, 0]
    return float(np.corrcoef(np.append(left, right), np.append(right, left))[0, 1])


def permuted(scores: FloatArray, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Give every left member of a pair another partner of its fold."""
    mixed, of_pair = scores.copy(), deal(counts)[counts.left]
    right = scores[counts.right].copy()
    for fold in np.unique(of_pair):
        members = np.flatnonzero(of_pair == fold)
        right[members] = right[rng.permutation(members)]
    mixed[counts.right] = right
    return mixed


def test_on_noise_partners_from_one_fold_have_uncorrelated_scores(rng: np.random.Generator) -> None:
    counts = Counts(60, 60)
    shifts, seen = [], []
    for seed in range(15):
        rows = np.random.default_rng(seed).standard_normal((counts.rows, 5))
        sample = as_sample(rows, counts)
        (candidate,) = fit(sample, [0.03])
        mixed = [permuted(candidate.scores, counts, rng) for _ in range(20)]
        shifts.append(np.mean([correlation(scores, counts) for scores in mixed]))
        seen.append(correlation(sample.design.decide(candidate.model.weights), counts))
    assert abs(np.mean(shifts)) < 3 * np.std(shifts) / np.sqrt(len(shifts))
    assert abs(np.mean(shifts)) < 0.03
    # The model of all rows found alikeness of pairs in the same noise.
    assert np.mean(seen) > 0.1


def test_on_noise_held_out_pairs_have_uncorrelated_scores() -> None:
    counts = Counts(150, 150)
    found = []
    for seed in range(12):
        rows = np.random.default_rng(seed).standard_normal((counts.rows, 3))
        (candidate,) = fit(as_sample(rows, counts), [0.1])
        found.append(correlation(candidate.scores, counts))
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_a_fit_to_many_rows_starts_from_one_to_some_of_them() -> None:
    sample, folds = draw(4), deal(COUNTS)
    (plain,) = fit(sample, [0.1])
    again = cross_fit_from(sample, folds, 0.1, PairModel(-plain.model.weights))
    np.testing.assert_allclose(again.scores, plain.scores, atol=0.05)
    np.testing.assert_allclose(again.held_out, plain.held_out, atol=2e-3)


def test_penalties_are_tried_from_the_largest_until_held_out_pairs_are_explained_worse() -> None:
    sample = draw(3, Counts(60, 60), n_noise=20)
    candidates = fit(sample, [1e-5, 1e-2, 1.0, 1e-4, 1e-3, 0.1, 1e-6])
    tried = [candidate.alpha or 0.0 for candidate in candidates]
    assert tried == sorted(tried, reverse=True)
    assert tried[0] == 1.0
    best = int(np.argmax([candidate.information for candidate in candidates]))
    assert candidates[best].information > 0
    assert len(tried) == best + 3 < 7


def test_every_penalty_is_tried_while_none_explains_held_out_pairs() -> None:
    counts = Counts(40, 40)
    rows = np.random.default_rng(0).standard_normal((counts.rows, 10))
    candidates = fit(as_sample(rows, counts), [1.0, 0.3, 0.1, 0.03])
    assert len(candidates) == 4
    assert max(candidate.information for candidate in candidates) < 0


def test_scores_of_constant_rows_are_constant() -> None:
    counts = Counts(20, 20)
    (candidate,) = fit(as_sample(np.ones((counts.rows, 2)), counts), [0.1])
    assert np.ptp(candidate.scores) == pytest.approx(0, abs=1e-9)
    assert candidate.information == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("n_pairs", "n_columns"), [(120, 60), (40, 20)])
def test_with_few_pairs_noise_does_not_explain_held_out_pairs(n_pairs: int, n_columns: int) -> None:
    """It seems to where folds start from the model of all rows."""
    counts = Counts(n_pairs, n_pairs)
    leaked: list[float] = []
    own: list[float] = []
    for seed in range(8):
        rows = np.random.default_rng(seed).standard_normal((counts.rows, n_columns))
        sample = as_sample(rows, counts)
        for found, own_ways in ((leaked, False), (own, True)):
            path = fit(sample, [1.0, 0.3, 0.1, 0.03, 0.01], own_ways=own_ways)
            found.append(max(candidate.information for candidate in path))
    assert max(leaked) > 0.05
    assert max(own) < 0.03


@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_that_find_their_own_way_name_the_classes_as_all_rows_do(n_classes: int) -> None:
    rng = np.random.default_rng(3)
    means = 4.0 * np.eye(3)[:n_classes]
    counts = Counts(150, 200)
    pairs, alone = rng.integers(n_classes, size=200), rng.integers(n_classes, size=150)
    labels = np.concatenate([alone, pairs, pairs])
    sample = as_sample(means[labels] + rng.standard_normal((counts.rows, 3)), counts)
    found = fit(sample, [0.1, 0.01], n_classes, own_ways=True)[-1]
    whole = sample.design.decide(found.model.weights)
    if n_classes == 2:
        assert np.mean((whole > 0) == (found.scores > 0)) > 0.95
    else:
        assert np.mean(whole.argmax(axis=1) == found.scores.argmax(axis=1)) > 0.95
