"""Statements by index, against the same written out with lists and sets."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.statements.statements import Statements
from tests.statements.told import told


@dataclass(frozen=True)
class Drawn:
    """Statements in both forms, and some rows."""

    rows: list[tuple[bool, list[int]]]
    chosen: np.ndarray
    is_fresh: bool

    @property
    def statements(self) -> Statements:
        sizes = [len(rows) for _, rows in self.rows]
        return Statements(
            self.chosen.size,
            np.array([row for _, rows in self.rows for row in rows], dtype=np.intp),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
            np.array([is_similar for is_similar, _ in self.rows], dtype=bool),
            10 * np.arange(len(self.rows)),
            self.is_fresh,
        )

    @property
    def linked(self) -> list[tuple[int, int]]:
        return [link for _, rows in self.rows for link in itertools.pairwise(rows)]


@st.composite
def draws(draw: st.DrawFn) -> Drawn:
    n_rows = draw(st.integers(2, 12))
    groups = st.lists(st.integers(0, n_rows - 1), min_size=2, max_size=5, unique=True)
    pairs = st.lists(st.integers(0, n_rows - 1), min_size=2, max_size=2, unique=True)
    similar, different = (draw(st.lists(kind, max_size=6)) for kind in (groups, pairs))
    chosen = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    rows = [(True, one) for one in similar] + [(False, one) for one in different]
    return Drawn(rows, np.array(chosen), draw(st.booleans()))


@given(draws())
def test_counts_are_those_of_the_list(drawn: Drawn) -> None:
    found = drawn.statements
    kinds = [is_similar for is_similar, _ in drawn.rows]
    assert (found.count, found.n_similar, found.n_dissimilar) == (
        len(kinds),
        kinds.count(True),
        kinds.count(False),
    )
    assert found.sizes.tolist() == [len(rows) for _, rows in drawn.rows]
    assert set(np.flatnonzero(found.stated)) == {row for _, rows in drawn.rows for row in rows}


@given(draws())
def test_links_are_chains_of_each_statement(drawn: Drawn) -> None:
    links = drawn.statements.links
    assert list(zip(links.left.tolist(), links.right.tolist(), strict=True)) == drawn.linked
    owners = [k for k, (_, rows) in enumerate(drawn.rows) for _ in rows[1:]]
    assert links.statement.tolist() == owners
    assert links.is_similar.tolist() == [drawn.rows[k][0] for k in owners]


@given(draws())
def test_rows_are_in_one_component_if_a_chain_of_statements_leads_from_one_to_the_other(
    drawn: Drawn,
) -> None:
    sets = [{row} for row in range(drawn.chosen.size)]
    for left, right in drawn.linked:
        joined = [one for one in sets if left in one or right in one]
        sets = [one for one in sets if one not in joined] + [set().union(*joined)]
    components = drawn.statements.components
    found = [set(np.flatnonzero(components == k).tolist()) for k in range(components.max() + 1)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, sets))


@given(draws())
def test_among_keeps_statements_of_which_two_rows_are_chosen_and_numbers_rows_anew(
    drawn: Drawn,
) -> None:
    found = drawn.statements.among(drawn.chosen)
    numbers = {row: k for k, row in enumerate(np.flatnonzero(drawn.chosen).tolist())}
    kept = [(s, [numbers[row] for row in rows if row in numbers]) for s, rows in drawn.rows]
    expected = [(k, *one) for k, one in enumerate(kept) if len(one[1]) >= 2]
    assert told(found) == [one[1:] for one in expected]
    assert found.numbers.tolist() == [10 * k for k, *_ in expected]
    assert (found.n_rows, found.is_fresh) == (len(numbers), drawn.is_fresh)


@given(draws())
def test_without_leaves_out_rows_and_keeps_the_numbers_of_all(drawn: Drawn) -> None:
    found = drawn.statements.without(drawn.chosen)
    kept = [(s, [row for row in rows if not drawn.chosen[row]]) for s, rows in drawn.rows]
    assert told(found) == [one for one in kept if len(one[1]) >= 2]
    assert found.n_rows == drawn.chosen.size
    assert found.links.left.size == sum(len(rows) - 1 for _, rows in told(found))


@given(draws(), st.integers(0, 2**12 - 1))
def test_choose_keeps_some_statements_about_the_same_rows(drawn: Drawn, bits: int) -> None:
    chosen = np.array([bool(bits >> k & 1) for k in range(len(drawn.rows))], dtype=bool)
    found = drawn.statements.choose(chosen)
    assert told(found) == [one for one, keep in zip(drawn.rows, chosen, strict=True) if keep]
    assert found.numbers.tolist() == (10 * np.flatnonzero(chosen)).tolist()
    assert (found.n_rows, found.is_fresh) == (drawn.chosen.size, drawn.is_fresh)


@pytest.mark.parametrize("n_rows", [0, 3])
def test_no_statements_have_no_links_and_every_row_is_a_component(n_rows: int) -> None:
    empty = Drawn([], np.ones(n_rows, dtype=bool), False).statements
    assert empty.links.left.size == 0
    assert empty.components.tolist() == list(range(n_rows))
    assert empty.among(np.zeros(n_rows, dtype=bool)).n_rows == 0
