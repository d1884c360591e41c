"""Evenly spaced rows, the same from memory and from an engine."""

import numpy as np
import pytest
import scipy.sparse as sp

from likewise.beliefs.fresh import Counts
from likewise.engines import MemoryEngine
from likewise.search.table import Table


def numbered(counts: Counts) -> Table:
    """A table whose rows say where they stand."""
    return Table(np.arange(counts.rows, dtype=float)[:, None], counts)


def test_thinning_keeps_the_members_of_a_pair_together() -> None:
    counts = Counts(100, 80, 15)
    some = numbered(counts).thinned(20)
    assert some.counts == Counts(20, 20, 15)
    rows = some.rows[:, 0]
    np.testing.assert_array_equal(rows[some.counts.alone], np.arange(0, 100, 5))
    for left, right, stride in (("left", "right", 80), ("dissimilar_left", "dissimilar_right", 15)):
        apart = rows[getattr(some.counts, right)] - rows[getattr(some.counts, left)]
        np.testing.assert_array_equal(apart, stride)


def test_nothing_is_left_out_unless_there_is_twice_as_much() -> None:
    table = numbered(Counts(40, 3))
    assert table.thinned(20) is table
    assert table.thinned(19).counts == Counts(14, 3)


def test_sparse_rows_stay_sparse() -> None:
    table = Table(sp.csr_matrix(np.eye(50)), Counts(10, 20))
    assert sp.issparse(table.thinned(5).rows)


@pytest.mark.parametrize("size", [7, 20, 100])
def test_an_engine_gives_the_rows_that_memory_gives(size: int) -> None:
    table = numbered(Counts(90, 51))
    found = Table.of_engine(MemoryEngine(table.rows, table.counts.row_sets), size)
    expected = table.thinned(size)
    assert found.counts == expected.counts
    np.testing.assert_array_equal(found.rows, expected.rows)
