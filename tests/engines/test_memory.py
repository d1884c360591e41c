"""The in-memory engine and the sums over its blocks."""

import numpy as np
import pytest
import scipy.sparse as sp

from likewise.engines import Block, MemoryEngine, base, kernels
from likewise.statements.labels import locate
from likewise.statements.packing import pack


@pytest.fixture
def packed(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X, y = pack(rng.standard_normal((23, 3)), similar=tuple(rng.standard_normal((2, 11, 3))))
    return X, y


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
def test_sums_over_blocks_equal_sums_over_all_rows(
    packed: tuple[np.ndarray, np.ndarray], rng: np.random.Generator, sparse: bool, shuffled: bool
) -> None:
    X, y = packed
    if shuffled:
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
    rows = locate(y)
    engine = MemoryEngine(sp.csr_array(X) if sparse else X, rows)
    blocks = []

    def kernel(block: Block) -> tuple[np.ndarray]:
        blocks.append(block)
        return (kernels.gram(block.tables[0]),)

    (total,) = engine.map_reduce("unlabeled", kernel)
    design = np.column_stack([X[y == 0], np.ones(23)])
    np.testing.assert_allclose(total, design.T @ design, rtol=1e-12)
    assert len(blocks) > 1
    assert [b.rows.start for b in blocks[1:]] == [b.rows.stop for b in blocks[:-1]]


@pytest.mark.usefixtures("small_blocks")
def test_blocks_of_pairs_keep_left_and_right_aligned(
    packed: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    X, y = packed
    order = rng.permutation(len(y))
    engine = MemoryEngine(X[order], locate(y[order]))
    (total,) = engine.map_reduce("similar", lambda b: ((b.tables[0] * b.tables[1]).sum(axis=0),))
    np.testing.assert_allclose(total, (X[23:34] * X[34:]).sum(axis=0), rtol=1e-12)
    assert engine.count("similar") == 11


def test_a_packed_array_is_read_without_copies(packed: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = packed
    engine = MemoryEngine(X, locate(y))

    def shared(block: Block) -> tuple[int]:
        return (sum(np.shares_memory(X, table) for table in block.tables),)

    assert engine.map_reduce("unlabeled", shared) == (1,)
    assert engine.map_reduce("similar", shared) == (2,)


@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_append_a_column_of_ones(rng: np.random.Generator, sparse: bool) -> None:
    rows = rng.standard_normal((9, 4)) * (rng.random((9, 4)) < 0.5)
    design, values = np.column_stack([rows, np.ones(9)]), rng.random(9)
    given = sp.csr_array(rows) if sparse else rows
    weights = rng.standard_normal(5)
    np.testing.assert_allclose(kernels.decide(given, weights), design @ weights)
    np.testing.assert_allclose(kernels.weighted_sum(given, values), design.T @ values)
    np.testing.assert_allclose(kernels.column_sums(given), design.sum(axis=0))
    np.testing.assert_allclose(
        kernels.weighted_gram(given, values), design.T @ (values[:, None] * design)
    )
