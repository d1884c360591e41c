"""Belief propagation, against enumeration."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from likewise._types import FloatArray
from likewise.beliefs import propagation
from likewise.beliefs.propagation import Edges, Propagated, propagate, sweep_two_classes

TREE_ENDS = ([0, 1, 1, 3, 3], [1, 2, 3, 4, 5])
RING_ENDS = ([0, 1, 2, 3], [1, 2, 3, 0])
LONG_RING_ENDS = (list(range(12)), [*range(1, 12), 0])
"""Too long to be summed over exactly."""


def edges_of(ends: tuple[list[int], list[int]], count: int = 6) -> Edges:
    return Edges(np.array(ends[0], dtype=np.intp), np.array(ends[1], dtype=np.intp), count)


def draw_weights(k: int, edges: Edges, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fields, and weights of ends that are alike and that differ."""
    rng, size = np.random.default_rng(seed), edges.left.size
    return rng.normal(size=(edges.count, k)), rng.random((size, k)) + 0.1, rng.random(size) + 0.1


def enumerated(
    fields: FloatArray, edges: Edges, on: FloatArray, off: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """The value, the beliefs and what is alike, assignment by assignment."""
    count, k = fields.shape
    z = np.array(list(itertools.product(range(k), repeat=count)))
    same = z[:, edges.left] == z[:, edges.right]
    weights = np.where(same, on[np.arange(off.size), z[:, edges.left]], off)
    logs = fields[np.arange(count), z].sum(axis=1) + np.log(weights).sum(axis=1)
    value = logsumexp(logs)
    states = z[:, :, None] == np.arange(k)
    shares = np.exp(logs - value)
    alike = np.einsum("z,zek->ek", shares, same[:, :, None] & states[:, edges.left])
    return float(value), np.einsum("z,zik->ik", shares, states), alike


def propagated_exactly(
    edges: Edges,
    fields: FloatArray,
    on: FloatArray,
    off: FloatArray,
    messages: FloatArray | None = None,
) -> Propagated:
    """Propagate, and check the result against the sum over all assignments."""
    value, beliefs, alike = enumerated(fields, edges, on, off)
    found = propagate(fields, edges, on, off, messages)
    assert found.converged
    assert found.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(found.beliefs, beliefs, atol=1e-8)
    np.testing.assert_allclose(found.alike, alike, atol=1e-8)
    return found


@pytest.mark.parametrize("k", [2, 3])
def test_trees_are_exact(k: int) -> None:
    edges = edges_of(TREE_ENDS)
    for seed in range(3):
        weights = draw_weights(k, edges, seed)
        propagated_exactly(edges, *weights)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("ends", [([0, 4], [3, 1]), ([], [])])
def test_edges_that_share_no_end_are_exact_without_a_sweep(
    k: int, ends: tuple[list[int], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_settle_two", "_settle_many"):
        monkeypatch.delattr(propagation, name)
    edges = edges_of(ends)
    weights = draw_weights(k, edges)
    value, beliefs, alike = enumerated(weights[0], edges, *weights[1:])
    found = propagate(weights[0], edges, *weights[1:])
    assert found.converged
    assert found.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(found.beliefs, beliefs, atol=1e-9)
    np.testing.assert_allclose(found.alike, alike, atol=1e-9)
    assert found.messages.shape == (2, k, len(ends[0]))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("ends", "count"), [(RING_ENDS, 4), (LONG_RING_ENDS, 12)])
def test_the_gradient_of_the_value_in_the_fields_is_the_belief_on_cycles_too(
    k: int, ends: tuple[list[int], list[int]], count: int
) -> None:
    edges = edges_of(ends, count)
    fields, on, off = draw_weights(k, edges)
    found = propagate(fields, edges, on, off)
    for index in np.ndindex(fields.shape):
        nudge = np.zeros_like(fields)
        nudge[index] = 1e-3
        values = [propagate(fields + sign * nudge, edges, on, off).value for sign in (1, -1)]
        assert (values[0] - values[1]) / 2e-3 == pytest.approx(found.beliefs[index], abs=1e-4)


def test_two_classes_on_their_fast_path_are_as_on_the_path_of_many() -> None:
    for ends, count in ((TREE_ENDS, 6), (LONG_RING_ENDS, 12)):
        edges = edges_of(ends, count)
        fields, on, off = draw_weights(2, edges)
        fast = propagate(fields, edges, on, off)
        messages, converged = propagation._settle_many(
            np.ascontiguousarray(fields.T),
            edges,
            np.ascontiguousarray(on.T),
            off,
            np.zeros((2, 2, off.size)),
        )
        slow = propagation._finish(fields.T, edges, on.T, off, messages, converged)
        assert fast.value == pytest.approx(slow.value, abs=1e-6)
        np.testing.assert_allclose(fast.beliefs, slow.beliefs, atol=1e-5)
        np.testing.assert_allclose(fast.alike, slow.alike, atol=1e-5)


def test_a_class_that_cannot_be_does_not_matter() -> None:
    edges = edges_of(TREE_ENDS)
    fields, on, off = draw_weights(2, edges)
    third = np.column_stack([fields, np.full(6, -1e8)])
    two = propagate(fields, edges, on, off)
    three = propagate(third, edges, np.column_stack([on, np.ones(off.size)]), off)
    # A row that cannot be of the third class is not excluded by its neighbours.
    assert three.value == pytest.approx(two.value, abs=1e-6)
    np.testing.assert_allclose(three.beliefs[:, :2], two.beliefs, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_where_messages_begin_does_not_matter_on_trees(k: int) -> None:
    edges = edges_of(TREE_ENDS)
    fields, on, off = draw_weights(k, edges)
    cold = propagate(fields, edges, on, off)
    start = 3 * np.random.default_rng(1).normal(size=(2, k, off.size))
    warm = propagate(fields, edges, on, off, start)
    np.testing.assert_allclose(warm.beliefs, cold.beliefs, atol=1e-6)
    again = propagate(fields, edges, on, off, cold.messages)
    np.testing.assert_allclose(again.beliefs, cold.beliefs, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_one_sweep_from_settled_messages_changes_nothing(k: int) -> None:
    edges = edges_of(LONG_RING_ENDS, 12)
    fields, on, off = draw_weights(k, edges)
    found = propagate(fields, edges, on, off)
    if k == 2:
        odds = found.messages[:, 1] - found.messages[:, 0]
        fresh = sweep_two_classes(fields[:, 1] - fields[:, 0], edges, on.T.copy(), off, odds)
        np.testing.assert_allclose(fresh, odds, atol=1e-5)
    again = propagate(fields, edges, on, off, found.messages)
    assert again.value == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_messages_that_go_to_and_fro_are_damped_until_they_settle(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All ends of a complete bipartite graph differ by much: undamped, they swing in step.
    left, right = (side.ravel() for side in np.meshgrid(np.arange(6), np.arange(6, 12)))
    edges = Edges(left, right, 12)
    fields = 0.01 * np.random.default_rng(0).normal(size=(12, k))
    fields[:, 0] += 0.3
    on, off = np.full((36, k), 0.05), np.full(36, 0.95)
    assert propagate(fields, edges, on, off).converged
    monkeypatch.setattr(propagation, "_STUBBORN", 10**6)
    monkeypatch.setattr(propagation, "_MOST_SWEEPS", 12)
    assert not propagate(fields, edges, on, off).converged


def test_no_edges_leave_everything_as_it_is() -> None:
    fields = np.random.default_rng(0).normal(size=(3, 2))
    found = propagate(fields, edges_of(([], []), 3), np.zeros((0, 2)), np.zeros(0))
    assert found.value == pytest.approx(logsumexp(fields, axis=1).sum())
    assert found.converged


@pytest.mark.parametrize("k", [2, 3])
def test_fields_of_hundreds_of_nats_are_borne(k: int) -> None:
    edges = edges_of(TREE_ENDS)
    fields, on, off = draw_weights(k, edges)
    found = propagate(500 * fields, edges, 1e-6 * on, off)
    assert np.isfinite(found.value)
    np.testing.assert_allclose(found.beliefs.sum(axis=1), 1, atol=1e-9)
