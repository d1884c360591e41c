"""Tests of assumptions: quiet where they hold, loud where they are broken."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts
from likewise.report.checks import Check, check_independence, check_moment_ratios

PRIOR = 0.7


def draw(
    rng: np.random.Generator, n: int, *, pair_share: float | None = None
) -> tuple[FloatArray, FloatArray, Counts]:
    """Return rows of two Gaussians, their true log-odds of the majority class, and the counts."""
    share = PRIOR**2 / (PRIOR**2 + (1 - PRIOR) ** 2) if pair_share is None else pair_share
    pairs = rng.uniform(size=n) < share
    classes = np.concatenate([rng.uniform(size=n) < PRIOR, pairs, pairs])
    rows = rng.normal(size=(3 * n, 5))
    rows[:, 0] += np.where(classes, 1.25, -1.25)
    return rows, 2.5 * rows[:, 0] + np.log(PRIOR / (1 - PRIOR)), Counts(n, n)


def members(counts: Counts) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of similar pairs, left and right."""
    numbers = np.arange(counts.rows)
    return numbers[counts.left], numbers[counts.right]


def ratios_of(scores: FloatArray, counts: Counts) -> Check:
    return check_moment_ratios(scores, counts.alone, *members(counts), np.random.RandomState(0))


def independence_of(rows: FloatArray, scores: FloatArray, counts: Counts) -> Check:
    folds = np.tile(np.arange(counts.similar) % 5, 3)
    random = np.random.RandomState(0)
    return check_independence(rows, expit(scores), *members(counts), folds, random)


def test_one_prior_fits_all_cuts_where_pairs_are_formed_at_random() -> None:
    found = []
    for seed in range(20):
        _, scores, counts = draw(np.random.default_rng(seed), 400)
        found.append(ratios_of(scores, counts).p_value)
    assert np.mean(np.array(found) < 0.05) <= 0.15
    assert np.mean(np.array(found) < 0.5) > 0.15  # p-values are not all large either


def test_cuts_disagree_when_rows_come_from_elsewhere() -> None:
    """Unlabeled rows with another spread are no mixture of the pairs' classes."""
    rng = np.random.default_rng(0)
    _, scores, counts = draw(rng, 2000)
    scores[counts.alone] = rng.normal(scale=8.0, size=counts.unlabeled)
    check = ratios_of(scores, counts)
    assert check.passed is False
    assert "different class priors" in check.text


def test_few_pairs_are_not_tested() -> None:
    rows, scores, counts = draw(np.random.default_rng(0), 6)
    assert ratios_of(scores, counts).passed is None
    assert independence_of(rows, scores, counts).passed is None


def test_members_that_share_only_their_class_pass() -> None:
    p_values = []
    for seed in range(20):
        rows, scores, counts = draw(np.random.default_rng(seed), 200)
        p_values.append(independence_of(rows, scores, counts).p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.15


def test_relatives_are_noticed() -> None:
    rows, scores, counts = draw(np.random.default_rng(0), 200)
    rows[counts.right, 3] = 0.7 * rows[counts.left, 3] + 0.7 * rows[counts.right, 3]
    check = independence_of(rows, scores, counts)
    assert check.passed is False
    assert "beyond their class" in check.text
