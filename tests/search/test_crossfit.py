"""Cross-fitting."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood, log_probabilities
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.scores.design import Design
from likewise.search import crossfit
from likewise.search.climb import Climbed, climb
from likewise.search.crossfit import (
    Candidate,
    aligned,
    cross_fit,
    cross_fit_at,
    fit_whole,
    parts_of,
)
from likewise.search.sample import Sample
from likewise.statements.folds import PairKFold
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, as_sample, fresh, met, statements_of, two_gaussians

COUNTS = Counts(120, 100, 40)
START = np.array([[1.0], [0.0], [0.0], [0.0]])


def deal(likelihood: Likelihood, n_folds: int = 4) -> NDArray[np.intp]:
    return PairKFold(n_folds, shuffle=True, random_state=0).deal(likelihood.statements)


def draw(seed: int, counts: Counts = COUNTS, n_noise: int = 2, n_classes: int = 2) -> Sample:
    """Draw fresh pairs and rows of two Gaussians, with columns of noise."""
    rng = np.random.default_rng(seed)
    signal = Gaussians(separation=3.0).draw(rng, counts)
    rows = np.column_stack([signal, rng.standard_normal((counts.rows, n_noise))])
    return as_sample(rows, fresh(counts, n_classes))


def draw_table(rng: np.random.Generator, pairing: Any = "asked", n_rows: int = 120) -> Sample:
    """Draw one table of two Gaussians and statements about its rows."""
    rows, classes = two_gaussians(rng, n_rows)
    state = answered if pairing == "asked" else met
    return as_sample(rows, TableLikelihood(state(rng, classes, n_rows), 2, pairing))


def noise(seed: int, counts: Counts, n_columns: int) -> Sample:
    rows = np.random.default_rng(seed).standard_normal((counts.rows, n_columns))
    return as_sample(rows, fresh(counts))


def fit(sample: Sample, alphas: list[float], *, own_ways: bool = True) -> list[Candidate]:
    parts = parts_of(sample.likelihood, deal(sample.likelihood))
    return cross_fit(sample, parts, alphas, np.random.RandomState(0), own_ways=own_ways)


def models_of_folds(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> list[FloatArray]:
    """Return the weights that the folds' rows were scored with."""
    seen: list[FloatArray] = []

    def spy(*arguments: Any) -> Climbed:
        found = climb(*arguments)
        seen.append(found.weights)
        return found

    monkeypatch.setattr(crossfit, "climb", spy)
    cross_fit_at(sample, parts_of(sample.likelihood, deal(sample.likelihood)), 0.1, START)
    return seen


@pytest.mark.parametrize("kind", ["fresh", "asked", "random"])
def test_the_model_of_a_fold_does_not_see_the_rows_that_it_scores(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator, kind: str
) -> None:
    sample = draw(0) if kind == "fresh" else draw_table(rng, kind)
    plain = models_of_folds(sample, monkeypatch)
    inside = deal(sample.likelihood) == 0
    rows = sample.design.rows.copy()
    rows[inside] = 100 * rng.standard_normal((inside.sum(), 3))
    wild = Sample(Design(rows, sample.design.mean, sample.design.scale), sample.likelihood)
    others = models_of_folds(wild, monkeypatch)
    np.testing.assert_array_equal(plain[0], others[0])
    assert all(np.abs(a - b).max() > 0.01 for a, b in zip(plain[1:], others[1:], strict=True))


def test_evidence_of_fresh_pairs_is_the_likelihood_of_those_of_the_fold() -> None:
    sample, alpha = draw(1), 0.1
    (candidate,) = fit(sample, [alpha])
    folds = deal(sample.likelihood)
    n_pairs = 0
    for fold in range(4):
        train, test = sample.among(folds != fold), sample.among(folds == fold)
        scores = test.design.decide(climb(train, alpha, START).weights)
        value = test.likelihood.evaluate(log_probabilities(scores)).value
        assert candidate.evidence[fold] == pytest.approx(value, abs=0.1)
        n_pairs += test.likelihood.statements.count
    assert candidate.n_judged == n_pairs == COUNTS.pairs
    assert candidate.information == pytest.approx(candidate.evidence.sum() / n_pairs)


@pytest.mark.parametrize("pairing", ["asked", "random"])
def test_evidence_of_one_table_is_what_all_statements_add_to_those_seen(
    rng: np.random.Generator, pairing: str
) -> None:
    sample, alpha = draw_table(rng, pairing), 0.1
    (candidate,) = fit(sample, [alpha])
    folds, likelihood = deal(sample.likelihood), sample.likelihood
    for fold in range(4):
        seen = folds != fold
        held = likelihood.hold_out(~seen)
        train = Sample(sample.design.take(held.train), held.likelihood)
        log_p = log_probabilities(sample.design.decide(climb(train, alpha, START).weights))
        assert isinstance(train.likelihood, TableLikelihood)
        # Without features: the best shares of the other folds, or those of the model itself.
        shares = train.likelihood.constant()[0], np.log(np.exp(log_p).mean(axis=0))
        constants = [np.tile(one, (likelihood.n_rows, 1)) for one in shares]
        gain, *without = (
            likelihood.evaluate(one).value - train.likelihood.evaluate(one[seen]).value
            for one in (log_p, *constants)
        )
        assert candidate.evidence[fold] == pytest.approx(gain - max(without), abs=0.1)
    # A statement between two folds is judged in both.
    assert candidate.n_judged >= likelihood.statements.count
    assert candidate.information > 0.01


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_all_folds_have_the_centre_and_scale_of_the_model_of_all_rows(
    n_classes: int,
) -> None:
    sample = draw(2, Counts(800, 800), n_classes=n_classes)
    (candidate,) = fit(sample, [0.1])
    candidate = fit_whole(sample, candidate)
    folds = deal(sample.likelihood)
    alone = np.arange(sample.likelihood.n_rows) < 800
    whole = sample.design.decide(candidate.weights)
    for fold in range(4):
        inside = alone & (folds == fold)
        difference = candidate.scores[inside].mean(axis=0) - whole[inside].mean(axis=0)
        assert np.abs(difference).max() < 0.1 * whole[alone].std()
        length = np.std(candidate.scores[inside]) / np.std(whole[inside])
        assert length == pytest.approx(1, abs=0.1)


def test_aligned_scores_have_another_centre_and_scale(rng: np.random.Generator) -> None:
    training = rng.standard_normal((50, 2))
    target = 3.0 * training + np.array([1.0, -2.0])
    scores = rng.standard_normal((7, 2))
    np.testing.assert_allclose(
        aligned(scores, training, target), 3.0 * scores + np.array([1.0, -2.0])
    )
    constant = np.ones((50, 2))
    moved = aligned(scores, constant, target) - scores
    np.testing.assert_allclose(moved, np.tile(target.mean(axis=0) - 1, (7, 1)))


def correlation(scores: FloatArray, counts: Counts) -> float:
    left, right = scores[counts.left, 0], scores[counts.right, 0]
    return float(np.corrcoef(np.append(left, right), np.append(right, left))[0, 1])


def permuted(scores: FloatArray, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Give every left member of a pair another partner of its fold."""
    mixed, of_pair = scores.copy(), deal(fresh(counts))[counts.left]
    right = scores[counts.right].copy()
    for fold in np.unique(of_pair):
        members = np.flatnonzero(of_pair == fold)
        right[members] = right[rng.permutation(members)]
    mixed[counts.right] = right
    return mixed


def test_on_noise_partners_from_one_fold_have_uncorrelated_scores(rng: np.random.Generator) -> None:
    counts = Counts(60, 60)
    shifts, seen = [], []
    for seed in range(8):
        sample = noise(seed, counts, 5)
        (candidate,) = fit(sample, [0.03])
        candidate = fit_whole(sample, candidate)
        mixed = [permuted(candidate.scores, counts, rng) for _ in range(20)]
        shifts.append(np.mean([correlation(scores, counts) for scores in mixed]))
        seen.append(correlation(sample.design.decide(candidate.weights), counts))
    assert abs(np.mean(shifts)) < 3 * np.std(shifts) / np.sqrt(len(shifts))
    assert abs(np.mean(shifts)) < 0.03
    # The model of all rows found alikeness of pairs in the same noise.
    assert np.mean(seen) > 0.1


def test_on_noise_held_out_pairs_have_uncorrelated_scores() -> None:
    counts = Counts(150, 150)
    found = []
    for seed in range(8):
        (candidate,) = fit(noise(seed, counts, 3), [0.1])
        found.append(correlation(candidate.scores, counts))
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_a_fit_to_many_rows_starts_from_one_to_some_of_them() -> None:
    sample = draw(4)
    (plain,) = fit(sample, [0.1])
    parts = parts_of(sample.likelihood, deal(sample.likelihood))
    again = cross_fit_at(sample, parts, 0.1, -plain.weights)
    # Classes of fresh pairs have no names: either order is one.
    sign = np.sign(np.sum(again.scores * plain.scores))
    np.testing.assert_allclose(sign * again.scores, plain.scores, atol=0.05)
    np.testing.assert_allclose(again.evidence, plain.evidence, atol=0.1)


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
    candidates = fit(noise(0, Counts(40, 40), 10), [1.0, 0.3, 0.1, 0.03])
    assert len(candidates) == 4
    assert max(candidate.information for candidate in candidates) < 0


def test_rounding_chooses_no_penalty() -> None:
    found = [
        Candidate(alpha, START, np.array([evidence]), 0.0, np.zeros((4, 1)))
        for alpha, evidence in ((1.0, -1.2e-16), (0.01, 9.7e-17))
    ]
    assert max(found, key=lambda one: one.information).alpha == 1.0


def test_scores_of_constant_rows_are_constant() -> None:
    counts = Counts(20, 20)
    (candidate,) = fit(as_sample(np.ones((counts.rows, 2)), fresh(counts)), [0.1])
    assert np.ptp(candidate.scores) == pytest.approx(0, abs=1e-9)
    assert candidate.information == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("n_pairs", "n_columns"), [pytest.param(120, 60, marks=pytest.mark.slow), (40, 20)]
)
def test_with_few_pairs_noise_does_not_explain_held_out_pairs(n_pairs: int, n_columns: int) -> None:
    """It seems to where folds start from the model of all rows."""
    counts = Counts(n_pairs, n_pairs)
    reached: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(8):
        sample = noise(seed, counts, n_columns)
        for own_ways, found in reached.items():
            path = fit(sample, [0.3, 0.03], own_ways=own_ways)
            found.append(max(candidate.information for candidate in path))
    assert max(reached[False]) > 0.05
    assert max(reached[True]) < 0.03


@pytest.mark.parametrize("own_ways", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_of_folds_name_the_classes_alike(n_classes: int, own_ways: bool) -> None:
    rng = np.random.default_rng(3)
    means = 4.0 * np.eye(3)[:n_classes]
    counts = Counts(150, 200)
    pairs, alone = rng.integers(n_classes, size=200), rng.integers(n_classes, size=150)
    labels = np.concatenate([alone, pairs, pairs])
    rows = means[labels] + rng.standard_normal((counts.rows, 3))
    sample = as_sample(rows, fresh(counts, n_classes))
    found = fit_whole(sample, fit(sample, [0.1, 0.01], own_ways=own_ways)[-1])
    whole = sample.design.decide(found.weights)
    if n_classes == 2:
        assert np.mean((whole > 0) == (found.scores > 0)) > 0.95
    else:
        assert np.mean(whole.argmax(axis=1) == found.scores.argmax(axis=1)) > 0.95


def test_folds_without_the_known_row_are_named_by_answers_about_it(
    rng: np.random.Generator,
) -> None:
    rows, classes = two_gaussians(rng, 160)
    statements = answered(rng, classes, 240)
    known = np.full(160, -1)
    first = int(np.flatnonzero(classes == 0)[0])
    known[first] = 1  # the smaller class is the second one
    sample = as_sample(rows, TableLikelihood(statements, 2, known=known))
    parts = parts_of(sample.likelihood, deal(sample.likelihood))
    assert all(part.likelihood.is_named for part in parts)  # by what the answers say of that row
    (candidate,) = cross_fit(sample, parts, [0.03], np.random.RandomState(0))
    assert np.mean((candidate.scores[:, 0] > 0) == (classes == 0)) > 0.85


def test_noise_of_a_table_learned_by_heart_is_no_evidence(rng: np.random.Generator) -> None:
    """The rows' classes follow from the statements, and say nothing of other rows."""
    for _ in range(3):
        rows, classes = rng.standard_normal((100, 5)), rng.random(100) < 0.6
        for pairing, state in (("asked", answered), ("random", met)):
            likelihood: Any = TableLikelihood(state(rng, classes, 300), 2, pairing)  # type: ignore[arg-type]
            found = fit(as_sample(rows, likelihood), [0.3, 0.03])
            assert max(candidate.evidence.sum() for candidate in found) < 3.0


@pytest.mark.parametrize("own_ways", [False, True])
def test_a_row_in_every_statement_is_no_obstacle(rng: np.random.Generator, own_ways: bool) -> None:
    pairs = np.array([(0, k) for k in range(1, 60)])
    rows = rng.standard_normal((80, 2))
    likelihood = TableLikelihood(statements_of(80, pairs), 2, "random")
    (candidate,) = fit(as_sample(rows, likelihood), [0.1], own_ways=own_ways)
    assert np.isfinite(candidate.scores).all()
    assert candidate.evidence.sum() < 3.0
