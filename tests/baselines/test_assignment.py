"""Rows in two clusters at a low cost under links."""

from itertools import product

import numpy as np
import pytest

from likewise.baselines.assignment import LinkedRows
from likewise.statements.named import name_statements
from likewise.statements.statements import Statements


def statements(n_rows: int, similar: object = None, dissimilar: object = None) -> Statements:
    return name_statements(np.zeros((n_rows, 1)), similar, dissimilar)


def random_statements(rng: np.random.Generator, n_rows: int, n_links: int) -> Statements:
    pairs = np.array([rng.choice(n_rows, 2, replace=False) for _ in range(n_links)])
    is_similar = rng.random(n_links) < 0.5
    return statements(n_rows, pairs[is_similar], pairs[~is_similar])


def cost(
    linked: LinkedRows, in_second: np.ndarray, advantages: np.ndarray, penalties: np.ndarray
) -> float:
    """The cost as it is defined."""
    links, total = linked.links, -float(advantages[in_second].sum())
    for left, right, is_similar, penalty in zip(*links[:3], penalties, strict=True):
        if (in_second[left] == in_second[right]) != is_similar:
            total += penalty
    return total


def least_cost(linked: LinkedRows, advantages: np.ndarray, penalties: np.ndarray) -> float:
    return min(
        cost(linked, np.array(labels), advantages, penalties)
        for labels in product((False, True), repeat=advantages.size)
    )


@pytest.mark.parametrize("penalty", [0.0, 0.7, 30.0])
def test_separate_pairs_and_rows_have_the_least_cost(
    rng: np.random.Generator, penalty: float
) -> None:
    for _ in range(20):
        linked = LinkedRows.of(statements(9, [(0, 5), (7, 1)], [(2, 3), (8, 4)]))
        advantages = rng.standard_normal(9)
        penalties = penalty * rng.random(4)
        found = cost(linked, linked.assign(advantages, penalties), advantages, penalties)
        assert found == pytest.approx(least_cost(linked, advantages, penalties), abs=1e-12)


def test_one_pair_said_both_to_be_alike_and_to_differ_has_the_least_cost(
    rng: np.random.Generator,
) -> None:
    linked = LinkedRows.of(statements(2, [(0, 1)], [(0, 1), (1, 0)]))
    assert linked.contradicted.all()
    for _ in range(50):
        advantages, penalties = rng.standard_normal(2), rng.random(3)
        found = cost(linked, linked.assign(advantages, penalties), advantages, penalties)
        assert found == pytest.approx(least_cost(linked, advantages, penalties), abs=1e-12)


def test_a_pair_that_costs_the_same_apart_stays_together() -> None:
    linked = LinkedRows.of(statements(2, [(0, 1)]))
    np.testing.assert_array_equal(linked.assign(np.array([1.0, 0.0]), 0.0), [True, True])
    np.testing.assert_array_equal(linked.assign(np.array([-1.0, 0.0]), 0.0), [False, False])


def test_rows_in_several_statements_cost_nearly_the_least(rng: np.random.Generator) -> None:
    n_least = 0
    for _ in range(60):
        linked = LinkedRows.of(random_statements(rng, 8, 9))
        advantages, penalties = rng.standard_normal(8), rng.exponential(size=9)
        in_second = linked.assign(advantages, penalties)
        found = cost(linked, in_second, advantages, penalties)
        least = least_cost(linked, advantages, penalties)
        n_least += found <= least + 1e-9
        for row in range(8):  # no single move gains
            moved = in_second.copy()
            moved[row] = not moved[row]
            assert cost(linked, moved, advantages, penalties) >= found - 1e-9
    assert n_least >= 50


def test_the_assignment_before_is_never_better(rng: np.random.Generator) -> None:
    for _ in range(30):
        linked = LinkedRows.of(random_statements(rng, 40, 80))
        advantages, penalties = rng.standard_normal(40), rng.exponential(size=80)
        before = rng.random(40) < 0.5
        found = linked.assign(advantages, penalties, before)
        assert (
            cost(linked, found, advantages, penalties)
            <= cost(linked, before, advantages, penalties) + 1e-9
        )


def test_an_infinite_penalty_keeps_every_link(rng: np.random.Generator) -> None:
    classes = rng.random(30) < 0.5
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(25)])
    alike = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    linked = LinkedRows.of(statements(30, pairs[alike], pairs[~alike]))
    assert not linked.contradicted.any()
    assert not linked.broken(linked.assign(rng.standard_normal(30), np.inf)).any()
    # Each component is on the better of its two sides.
    advantages = rng.standard_normal(30)
    found = linked.assign(advantages, np.inf)
    for component in np.unique(linked.components):
        rows = linked.components == component
        assert advantages[rows & found].sum() >= advantages[rows & ~found].sum() - 1e-12


def test_a_cycle_that_says_no_is_found_and_other_rows_are_not_blamed() -> None:
    linked = LinkedRows.of(statements(6, [(0, 1), (1, 2), (3, 4)], [(2, 0)]))
    np.testing.assert_array_equal(linked.contradicted, [True] * 3 + [False] * 3)
    even = LinkedRows.of(statements(4, None, [(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert not even.contradicted.any()
    np.testing.assert_array_equal(even.sides, [False, True, False, True])


def test_equal_gains_around_a_cycle_come_to_an_end() -> None:
    linked = LinkedRows.of(statements(3, None, [(0, 1), (1, 2), (2, 0)]))
    found = linked.assign(np.zeros(3), 1.0)
    assert linked.broken(found).sum() == 1


def test_a_group_is_a_chain() -> None:
    linked = LinkedRows.of(statements(4, [(0, 3, 2)]))
    assert linked.links.left.size == 2
    np.testing.assert_array_equal(
        linked.assign(np.array([1.0, -1.0, -0.4, 0.1]), 5.0), [True, False, True, True]
    )
