"""Rows that statements tie together, and statements that contradict each other."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.beliefs.components import ContradictionError, contract
from tests.beliefs.brute_force import Rows, Said
from tests.beliefs.cases import CYCLES, TREE, likelihood

WAY_OUT = "pass error_rate='auto' if some statements may be wrong"


def test_two_classes_have_components_with_two_sides() -> None:
    found = contract(CYCLES.statements, 2)
    assert found.count == 3
    np.testing.assert_array_equal(found.sizes, [6, 2, 1])
    assert found.left.size == found.right.size == 0
    assert found.is_flipped is not None
    sides = 2 * found.of_row + found.is_flipped
    assert np.unique(sides[:3]).size == np.unique(sides[3:6]).size == 1
    assert sides[0] != sides[3]
    assert sides[6] != sides[7]


def test_three_classes_are_tied_by_alike_rows_alone() -> None:
    found = contract(TREE.statements, 3)
    assert found.count == 4
    assert found.is_flipped is None
    ends = {frozenset(pair) for pair in zip(found.left, found.right, strict=True)}
    of = found.of_row
    assert ends == {frozenset({of[2], of[3]}), frozenset({of[4], of[5]}), frozenset({of[5], of[6]})}


@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(0, 25))
def test_answers_that_some_classes_give_are_contracted_without_a_contradiction(
    seed: int, n_classes: int, n_statements: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=12)
    pairs = [rng.choice(12, 2, replace=False).tolist() for _ in range(n_statements)]
    same = [(a, b) for a, b in pairs if labels[a] == labels[b]]
    said = Said(12, same, [(a, b) for a, b in pairs if labels[a] != labels[b]])
    found = contract(said.statements, n_classes)
    # The labels are constant on components, or on their two sides.
    turned = labels if found.is_flipped is None else np.where(found.is_flipped, 1 - labels, labels)
    for k in range(found.count):
        assert np.unique(turned[found.of_row == k]).size == 1
    # Sums over components, and back.
    values = rng.normal(size=(12, n_classes))
    spread = found.spread(found.add(values))
    for a, b in same:
        np.testing.assert_allclose(spread[a], spread[b])
    assert found.add(values).sum() == pytest.approx(values.sum())


def test_an_even_number_of_differences_goes_round() -> None:
    said = Said(9, [(4, 5)], [(5, 6), (6, 7), (7, 8), (8, 4), (4, 0)])
    assert contract(said.statements, 2).count == 4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_rows_that_are_alike_and_differ_are_named_as_two(n_classes: int) -> None:
    with pytest.raises(ContradictionError, match=WAY_OUT) as caught:
        contract(Said(5, [(1, 3)], [(3, 1)]).statements, n_classes)
    assert set(caught.value.rows) == {1, 3}
    names = " and ".join(map(str, caught.value.rows))
    assert f"rows {names} are said to be alike, and to differ" in str(caught.value)


@pytest.mark.parametrize(
    ("n_classes", "same", "different", "on_chain"),
    [
        (2, [(0, 1), (1, 2)], [(0, 2)], {0, 1, 2}),
        (3, [(0, 1), (1, 2)], [(0, 2)], {0, 1, 2}),
        (3, [(5, 6, 7, 8)], [(8, 5)], {5, 6, 7, 8}),
        (2, [], [(4, 5), (5, 6), (6, 4)], {4, 5, 6}),
        (2, [(0, 1)], [(1, 2), (2, 3), (3, 0)], {0, 1, 2, 3}),
        (2, [(0, 1), (1, 2), (2, 3)], [(5, 6), (6, 7), (7, 5), (3, 5)], {5, 6, 7}),
    ],
)
def test_a_contradiction_names_rows_along_a_chain_of_statements(
    n_classes: int, same: list[Rows], different: list[Rows], on_chain: set[int]
) -> None:
    said = Said(9, same, different)
    with pytest.raises(ContradictionError, match=WAY_OUT) as caught:
        contract(said.statements, n_classes)
    rows = caught.value.rows
    assert set(rows) == on_chain
    linked = {frozenset((a, b)) for a, b, _ in said.links}
    assert all(frozenset(step) in linked for step in pairwise(rows))
    assert " - ".join(map(str, rows)) in str(caught.value)


@pytest.mark.parametrize(
    ("n_classes", "said", "known", "rows", "message"),
    [
        (2, Said(4, [(0, 1), (1, 2)]), [0, -1, 1, -1], {0, 2}, "that tie them together"),
        (2, Said(4, [], [(0, 1)]), [1, 1, -1, -1], {0, 1}, "that tie them together"),
        (3, Said(4, [(0, 1), (1, 2)]), [0, -1, 2, -1], {0, 2}, "that tie them together"),
        (3, Said(4, [(0, 1)], [(1, 2)]), [2, -1, 2, -1], {0, 2}, "that say that they differ"),
    ],
)
def test_what_is_known_of_rows_can_contradict_statements(
    n_classes: int, said: Said, known: list[int], rows: set[int], message: str
) -> None:
    with pytest.raises(ContradictionError, match=WAY_OUT) as caught:
        likelihood(said, n_classes, known=known)
    assert set(caught.value.rows) == rows
    assert message in str(caught.value)
    named = str(caught.value.named(lambda row: f"id {row}"))
    assert message in named
    assert all(f"id {row}" in named for row in rows)
    for error_rate in (0.1, None):
        assert likelihood(said, n_classes, error_rate=error_rate, known=known).known is not None


def test_a_contradiction_keeps_its_rows_and_names_from_process_to_process() -> None:
    error = ContradictionError((3, 4, 5)).named(lambda row: f"'p{row}'")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert again.rows == (3, 4, 5)
    assert str(again) == str(error)
    assert "rows 'p3' - 'p4' - 'p5' cannot all be right" in str(again)
