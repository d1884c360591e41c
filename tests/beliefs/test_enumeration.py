"""Groups of few unknowns with cycles are summed over exactly."""

import numpy as np
import pytest

from likewise.beliefs import enumeration, propagation
from likewise.beliefs.enumeration import MOST_ASSIGNMENTS, Cycles
from likewise.beliefs.propagation import Edges, propagate
from tests.beliefs.brute_force import Said, sum_over_classes
from tests.beliefs.cases import CYCLES, RING, draw_log_p, likelihood
from tests.beliefs.test_propagation import draw_weights, edges_of, propagated_exactly

MIXED = ([0, 1, 2, 3, 5, 6, 5], [1, 2, 0, 4, 6, 5, 7])
"""A triangle; a couple; three, of which two edges tie two together; one alone."""


@pytest.mark.parametrize("k", [2, 3])
def test_short_cycles_beside_trees_are_exact(k: int) -> None:
    edges = edges_of(MIXED, 9)
    for seed in range(3):
        weights = draw_weights(k, edges, seed)
        found = propagated_exactly(edges, *weights)
        propagated_exactly(edges, *weights, found.messages)


def test_groups_are_cut_into_blocks_without_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    triangles = 3 * np.repeat(np.arange(5), 3)
    left, right = triangles + np.tile([0, 1, 2], 5), triangles + np.tile([1, 2, 0], 5)
    order = np.random.default_rng(0).permutation(15)
    weights = draw_weights(2, Edges(left[order], right[order], 15))
    whole = propagate(weights[0], Edges(left[order], right[order], 15), *weights[1:])
    monkeypatch.setattr(enumeration, "_AT_ONCE", 17)  # two triangles of eight assignments
    cut = propagate(weights[0], Edges(left[order], right[order], 15), *weights[1:])
    assert cut.value == pytest.approx(whole.value, abs=1e-12)
    np.testing.assert_allclose(cut.beliefs, whole.beliefs, atol=1e-12)
    np.testing.assert_allclose(cut.alike, whole.alike, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 40])
def test_only_groups_with_cycles_and_few_assignments_are_chosen(k: int) -> None:
    for size in range(3, 13):
        ring = np.arange(size)
        cycles = Cycles.among(ring, np.roll(ring, -1), size, k)
        assert bool(cycles.sizes.size) == (k**size <= MOST_ASSIGNMENTS)
        assert not Cycles.among(ring[1:], ring[:-1], size, k).sizes.size


@pytest.mark.parametrize(("said", "n_classes"), [(RING, 2), (CYCLES, 2), (CYCLES, 3)])
def test_answers_with_errors_along_short_cycles_are_exact(said: Said, n_classes: int) -> None:
    for seed, error_rate in enumerate((1e-4, 0.1, 0.4)):
        log_p = draw_log_p(said, n_classes, seed)
        exact = sum_over_classes(log_p, said, "asked", error_rate)
        found = likelihood(said, n_classes, error_rate=error_rate).evaluate(log_p)
        assert found.value == pytest.approx(exact.value, abs=1e-8)
        np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=1e-8)


def test_a_few_rows_in_many_found_pairs_send_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rows, six pairs, some wrong: messages took thousands of sweeps and did not settle."""
    for name in ("_settle_two", "_settle_many"):
        monkeypatch.delattr(propagation, name)
    said = Said(4, [(1, 2), (1, 3), (0, 2), (1, 2)], [(0, 3), (2, 3)])
    for seed in range(10):
        log_p = draw_log_p(said, 2, seed, 3.0)
        found = likelihood(said, 2, "random", 0.1).evaluate(log_p)
        assert found.converged
        assert np.isfinite(found.value)
