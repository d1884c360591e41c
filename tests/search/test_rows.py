"""Evenly spaced rows, the same from memory and from an engine."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import in_order
from likewise.engines import MemoryEngine
from likewise.search.rows import EngineRows, MemoryRows, Some, counts_of, spacing
from likewise.statements.labels import row_sets_of
from likewise.statements.statements import Statements
from tests.search.samples import answered, met, statements_of


def numbered(statements: Statements) -> Some:
    """Rows that say where they stand."""
    rows = np.arange(statements.n_rows, dtype=float)[:, None]
    return MemoryRows(rows, statements).whole


def thinned(some: Some, size: int) -> Some:
    return some.thinned(size, keeps_rows=False)


def numbers_of(some: Some) -> NDArray[Any]:
    """Return which rows these are, as they say themselves."""
    found = some.rows[:, 0].astype(int)
    if some.numbers is not None:
        np.testing.assert_array_equal(some.numbers, found)
    return np.asarray(found)


def pairs_of(some: Some) -> set[tuple[int, int, bool]]:
    """Return the statements by the numbers of the source's rows."""
    numbers, links = numbers_of(some), some.statements.links
    sides = np.sort([numbers[links.left], numbers[links.right]], axis=0)
    return set(zip(*sides.tolist(), links.is_similar.tolist(), strict=True))


def test_thinning_keeps_the_members_of_a_fresh_pair_together() -> None:
    some = thinned(numbered(in_order(Counts(100, 80, 15))), 20)
    counts = counts_of(some.statements)
    assert counts == Counts(20, 20, 15)
    rows, where = numbers_of(some), row_sets_of(some.statements)
    np.testing.assert_array_equal(rows[where.unlabeled], np.arange(0, 100, 5))
    for left, right, apart in (
        (where.left, where.right, 80),
        (where.dissimilar_left, where.dissimilar_right, 15),
    ):
        np.testing.assert_array_equal(rows[right] - rows[left], apart)


def test_nothing_is_left_out_unless_there_is_twice_as_much() -> None:
    some = numbered(in_order(Counts(40, 3)))
    assert thinned(some, 20) is some
    assert some.is_whole
    few = thinned(some, 19)
    assert counts_of(few.statements) == Counts(14, 3)
    assert not few.is_whole
    table = numbered(statements_of(40, [(0, 1), (1, 2)]))
    assert thinned(table, 20) is table


def test_rows_are_as_far_apart_as_there_are_too_many() -> None:
    assert spacing(Counts(40, 30), 20) == (1, 1, 1)
    assert spacing(Counts(41, 30, 5), 20) == (3, 2, 1)


def test_answers_about_some_rows_of_a_table_stay_answers_about_one_table(
    rng: np.random.Generator,
) -> None:
    statements = answered(rng, rng.random(300) < 0.6, 200)
    table = numbered(statements)
    some = table.thinned(50, keeps_rows=True)
    assert not some.statements.is_fresh
    assert np.unique(numbers_of(some)).size == some.statements.n_rows < 300
    # Every sixth row, and those that every fourth statement is about.
    assert set(range(0, 300, 6)) <= set(numbers_of(some).tolist())
    assert pairs_of(some) <= pairs_of(table)
    assert 40 <= some.statements.count < 200


def test_pairs_met_in_a_table_become_fresh_pairs_beside_some_of_its_rows(
    rng: np.random.Generator,
) -> None:
    statements = met(rng, rng.random(300) < 0.6, 200)
    table = numbered(statements)
    some = thinned(table, 50)
    assert some.statements.is_fresh
    assert counts_of(some.statements) == Counts(50, 50)
    alone = numbers_of(some)[row_sets_of(some.statements).unlabeled]
    np.testing.assert_array_equal(alone, np.arange(0, 300, 6))
    assert pairs_of(some) <= pairs_of(table)


def test_answers_of_both_kinds_become_fresh_pairs_in_proportion(rng: np.random.Generator) -> None:
    table = numbered(answered(rng, rng.random(300) < 0.6, 200))
    some = thinned(table, 50)
    counts = counts_of(some.statements)
    assert counts.similar == -(-table.statements.n_similar // 4)
    assert counts.dissimilar == -(-table.statements.n_dissimilar // 4)
    assert pairs_of(some) <= pairs_of(table)


def test_thinning_twice_keeps_the_numbers_of_the_source(rng: np.random.Generator) -> None:
    table = numbered(answered(rng, rng.random(900) < 0.6, 500))
    twice = table.thinned(300, keeps_rows=True).thinned(60, keeps_rows=True)
    assert pairs_of(twice) <= pairs_of(table)


def test_splitting_puts_every_fresh_pair_on_one_side() -> None:
    whole = numbered(in_order(Counts(30, 20, 9)))
    some, others = whole.split([3, 2, 4])
    assert counts_of(some.statements) == Counts(10, 10, 3)
    assert counts_of(others.statements) == Counts(20, 10, 6)
    assert not set(numbers_of(some)) & set(numbers_of(others))
    assert pairs_of(some) | pairs_of(others) == pairs_of(whole)


def test_the_effective_number_of_pairs_is_half_the_rows_that_statements_are_about() -> None:
    rows = np.zeros((10, 1))
    assert MemoryRows(rows, statements_of(10, [(0, 1), (1, 2), (0, 2), (3, 4)])).n_pairs == 2.5
    assert MemoryRows(rows, in_order(Counts(4, 3))).n_pairs == 3


@pytest.mark.parametrize(
    ("table", "counts", "has_engine"),
    [
        (np.eye(10), Counts(4, 3), True),
        (np.eye(10), Counts(4, 2, 1), False),
        (sp.csr_matrix(np.eye(10)), Counts(4, 3), False),
    ],
)
def test_dense_fresh_similar_pairs_can_be_passed_over(
    table: Any, counts: Counts, has_engine: bool
) -> None:
    assert (MemoryRows(table, in_order(counts)).engine is not None) == has_engine


def test_one_table_is_not_passed_over_as_fresh_pairs() -> None:
    assert MemoryRows(np.eye(4), statements_of(4, [(0, 1), (1, 2)])).engine is None


def test_sparse_rows_stay_sparse() -> None:
    some = MemoryRows(sp.csr_matrix(np.eye(50)), in_order(Counts(10, 20))).whole
    assert sp.issparse(thinned(some, 5).rows)


@pytest.mark.parametrize("size", [7, 20, 100])
def test_an_engine_gives_the_rows_that_memory_gives(size: int) -> None:
    whole = numbered(in_order(Counts(90, 51)))
    engine = MemoryEngine(whole.rows, row_sets_of(whole.statements))
    found = EngineRows(engine).sample(size, keeps_rows=False)
    expected = thinned(whole, size)
    assert counts_of(found.statements) == counts_of(expected.statements)
    np.testing.assert_array_equal(found.rows, expected.rows)
    assert found.is_whole == expected.is_whole
