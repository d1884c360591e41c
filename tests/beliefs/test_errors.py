"""Statements of which some are wrong."""

import numpy as np
import pytest

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.errors import ERROR_RATES, _rate_at
from likewise.beliefs.table import Pairing
from tests.beliefs.brute_force import Said, random_with_errors, sum_over_classes
from tests.beliefs.cases import (
    CYCLES,
    RING,
    TREE,
    draw_aligned,
    draw_answers,
    draw_log_p,
    likelihood,
)

CLASH = [0, 1, -1, 0, -1, 1, 1]
"""Known classes that contradict statements of the tree: with errors they may."""


@pytest.mark.parametrize("known", [None, CLASH])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_with_errors_are_exact_on_trees(n_classes: int, known: list[int] | None) -> None:
    for seed, error_rate in enumerate((1e-4, 0.1, 0.4)):
        log_p = draw_log_p(TREE, n_classes, seed)
        exact = sum_over_classes(log_p, TREE, "asked", error_rate, known)
        found = likelihood(TREE, n_classes, error_rate=error_rate, known=known).evaluate(log_p)
        assert found.value == pytest.approx(exact.value, abs=1e-8)
        np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=1e-8)
        # The first statement is a group of two links: the likelier wrong one counts.
        wrong = np.append(exact.wrong[:2].max(), exact.wrong[2:])
        np.testing.assert_allclose(found.wrong, wrong, atol=1e-8)
        assert found.converged


@pytest.mark.parametrize(
    ("said", "n_classes", "tolerance"), [(RING, 2, 0.03), (RING, 3, 0.03), (CYCLES, 2, 0.3)]
)
def test_answers_with_errors_are_nearly_exact_along_cycles_the_longer_the_better(
    said: Said, n_classes: int, tolerance: float
) -> None:
    for seed in range(5):
        log_p = draw_log_p(said, n_classes, seed, 0.7)
        exact = sum_over_classes(log_p, said, "asked", 0.2)
        found = likelihood(said, n_classes, error_rate=0.2).evaluate(log_p)
        assert found.value == pytest.approx(exact.value, abs=tolerance)
        np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=tolerance)


def test_found_pairs_with_errors_near_the_exact_sum() -> None:
    sizes = {}
    for n_rows in (50, 200):
        rng = np.random.default_rng(0)
        labels, scores = draw_aligned(rng, n_rows, 2, [0.4, 0.6])
        rows = np.argsort(labels + 0.3 * rng.normal(size=n_rows))[: 2 * (n_rows // 4)].tolist()
        pairs = list(zip(rows[::2], rows[1::2], strict=True))
        model = likelihood(Said(n_rows, pairs), 2, "random", 0.15)
        log_p = [log_probabilities(scores + s) for s in (0, 0.3 * rng.normal(size=scores.shape))]
        found = [model.evaluate(p) for p in log_p]
        exact = [random_with_errors(p, pairs, 0.15) for p in log_p]
        without = log_p[0].copy()
        without[rows[0], 0] = -1e8
        posterior = np.exp(random_with_errors(without, pairs, 0.15) - exact[0])
        sizes[n_rows] = (
            abs(found[1].value - found[0].value - exact[1] + exact[0]),
            abs(posterior - found[0].posteriors[rows[0], 1]),
        )
    assert max(sizes[50]) < 0.02
    assert max(sizes[200]) < 0.005


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", ["asked", "random", "free"])
def test_the_learned_error_rate_is_the_likeliest(pairing: Pairing, n_classes: int) -> None:
    rng = np.random.default_rng(1)
    labels, scores = draw_aligned(rng, 80, n_classes)
    said = draw_answers(rng, labels, 160, 0.15)
    log_p = log_probabilities(scores)
    model = likelihood(said, n_classes, pairing, None)
    found = model.evaluate(log_p)
    grid = np.linspace(0.04, 0.3, 53)
    values = [model.with_error_rate(rate).evaluate(log_p).value for rate in grid]
    best = int(np.argmax(values))
    assert found.error_rate == pytest.approx(grid[best], abs=grid[1] - grid[0])
    assert found.value >= values[best] - 1e-3
    assert found.value == pytest.approx(
        model.with_error_rate(found.error_rate).evaluate(log_p).value, abs=1e-3
    )
    assert found.wrong.mean() == pytest.approx(found.error_rate, abs=1e-4)


def test_many_answers_give_the_error_rate_and_the_wrong_ones() -> None:
    rng = np.random.default_rng(2)
    labels, scores = draw_aligned(rng, 500, 2)
    said = draw_answers(rng, labels, 3000, 0.2)
    found = likelihood(said, 2, error_rate=None).evaluate(log_probabilities(scores))
    # Three standard errors of a share of 3000.
    assert found.error_rate == pytest.approx(0.2, abs=3 * np.sqrt(0.2 * 0.8 / 3000))
    wrong = [(labels[a] == labels[b]) != same for a, b, same in said.links]
    assert np.mean(np.array(wrong)[np.argsort(-found.wrong)[:50]]) >= 0.9


def test_a_held_error_rate_is_given_from_then_on() -> None:
    learned = likelihood(TREE, 2, error_rate=None)
    assert learned.held(None).error_rate == 0.1
    assert learned.held(learned.evaluate(draw_log_p(TREE, 2))).error_rate is not None
    given = likelihood(TREE, 2, error_rate=0.3)
    assert given.held(None) is given


def test_a_rate_far_outside_its_range_is_brought_back_without_an_overflow() -> None:
    """A search on a logarithmic scale may step far out; warnings are errors here."""
    assert _rate_at(1e4) == pytest.approx(ERROR_RATES[1])
    assert _rate_at(-1e4) == pytest.approx(ERROR_RATES[0])
