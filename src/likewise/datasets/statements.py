"""One table drawn from a labeled pool, and statements about its rows: asked, or met.

It must not know where the pool comes from, nor what is learned from the sample.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.datasets.arguments import (
    RandomState,
    as_count,
    as_error_rate,
    as_generator,
    as_prior,
)
from likewise.datasets.pool import as_pool, draw_rows, one_per_row
from likewise.engines.rows import Table, take_rows
from likewise.statements.packing import pack

__all__ = ["StatementSample", "sample_statements"]

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class StatementSample:
    """One table, statements about its rows and labeled test rows, with the truth beside them.

    Tables are of the same kind as the pool that they were drawn from.

    Attributes
    ----------
    table : table of shape (n_rows, n_features)
    similar : integer array of shape (n_similar, 2)
        Numbers of two rows that were said to be alike, the smaller one first.
    dissimilar : integer array of shape (n_dissimilar, 2)
        Numbers of two rows that were said to differ.
    y_table : array of shape (n_rows,)
        Hidden class of each row; for evaluation only, a learner must not see it.
    X_test : table of shape (n_test, n_features)
    y_test : array of shape (n_test,)
    wrong : boolean array of shape (n_similar + n_dissimilar,)
        Which statements are not true, similar ones first; for evaluation only.

    Examples
    --------
    >>> from likewise.datasets import make_gaussians, sample_statements
    >>> X, y = make_gaussians(2000, random_state=0)
    >>> sample = sample_statements(X, y, 100, 50, random_state=0)
    >>> sample.table.shape, len(sample.similar) + len(sample.dissimilar)
    ((100, 2), 50)
    """

    table: Table
    similar: IntArray
    dissimilar: IntArray
    y_table: NDArray[Any]
    X_test: Table
    y_test: NDArray[Any]
    wrong: NDArray[np.bool_]

    def __repr__(self) -> str:
        return (
            f"StatementSample(n_rows={self.y_table.size}, n_similar={len(self.similar)}, "
            f"n_dissimilar={len(self.dissimilar)}, n_wrong={int(self.wrong.sum())}, "
            f"n_test={self.y_test.size})"
        )

    def pack(self) -> tuple[Table, Any]:
        """Return what an estimator's ``fit`` takes: the table and its weak labels.

        Returns
        -------
        X : table of shape (n_rows, n_features)
        y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
            As `likewise.pack` makes it.
        """
        return pack(self.table, similar=self.similar, dissimilar=self.dissimilar)


def sample_statements(
    X: Any,
    y: ArrayLike,
    n_rows: int,
    n_statements: int,
    *,
    kind: Literal["asked", "met"] = "asked",
    n_test: int = 0,
    prior: float | None = None,
    error_rate: float = 0.0,
    random_state: RandomState = None,
) -> StatementSample:
    """Draw a table from a labeled pool, and statements about its rows.

    Rows are drawn without replacement: no row of the pool is used twice. Statements are of one of
    two kinds:

    - "asked": random pairs of distinct rows; each was answered, alike or different.
    - "met": random pairs among all pairs of distinct rows of one class; only alike ones are told.

    A row may be in several statements, but no pair is drawn twice before all pairs were drawn.

    Parameters
    ----------
    X : table of shape (n_pool, n_features)
        The pool: a numpy array, a pandas or polars frame, or a scipy sparse matrix.
    y : array-like of shape (n_pool,)
        True classes, two or more.
    n_rows : int
        Number of rows of the table.
    n_statements : int
    kind : {"asked", "met"}, default "asked"
    n_test : int, default 0
        Number of labeled test rows.
    prior : float, optional
        For two classes: probability of the one that is last in sorted order, such as +1, in the
        sample, whatever its share in the pool. By default every row of the pool is as likely.
    error_rate : float, default 0.0
        Probability that a statement is wrong: an answer turned around; of "met" pairs, one drawn
        from the pairs of different classes.
    random_state : int, RandomState or Generator, optional
        Source of randomness; by default every call gives another draw.

    Returns
    -------
    StatementSample

    Raises
    ------
    ValueError
        If `y` holds fewer than two classes, if a number is out of range, if the pool has too few
        rows, or if the table has no pair of the kind that is asked for.

    Examples
    --------
    >>> from likewise.datasets import make_waveform, sample_statements
    >>> X, y = make_waveform(2000, n_classes=3, random_state=0)
    >>> sample = sample_statements(X, y, 100, 300, error_rate=0.1, random_state=0)
    >>> sample.table.shape, len(sample.similar) + len(sample.dissimilar)
    ((100, 21), 300)
    >>> X_weak, y_weak = sample.pack()
    >>> y_weak.shape
    (100, 300)
    >>> sample_statements(X, y, 100, 50, kind="met", random_state=0)
    StatementSample(n_rows=100, n_similar=50, n_dissimilar=0, n_wrong=0, n_test=0)
    """
    pool = as_pool(X)
    names, classes = _as_codes(y, pool.shape[0])
    n_rows = as_count(n_rows, "n_rows", minimum=2)
    n_statements = as_count(n_statements, "n_statements", minimum=1)
    n_test = as_count(n_test, "n_test")
    error_rate = as_error_rate(error_rate)
    if kind not in ("asked", "met"):
        raise ValueError(f'kind must be "asked" or "met", got {kind!r}.')
    rng = as_generator(random_state)

    rows = _draw(rng, classes, names, n_rows + n_test, prior)
    of_table = classes[rows[:n_rows]]
    draw = _asked if kind == "asked" else _met
    pairs, is_similar, wrong = draw(rng, of_table, n_statements, error_rate)
    table = take_rows(pool, rows[:n_rows])
    return StatementSample(
        # Numbers name rows: labels that they had in the pool would be taken for names.
        table=table.reset_index(drop=True) if hasattr(table, "reset_index") else table,
        similar=pairs[is_similar],
        dissimilar=pairs[~is_similar],
        y_table=names[of_table],
        X_test=take_rows(pool, rows[n_rows:]),
        y_test=names[classes[rows[n_rows:]]],
        wrong=np.concatenate([wrong[is_similar], wrong[~is_similar]]),
    )


def _as_codes(y: ArrayLike, n_pool: int) -> tuple[NDArray[Any], IntArray]:
    """Return the classes in sorted order, and the number of the class of every row."""
    names, codes = np.unique(one_per_row(y, n_pool), return_inverse=True)
    if names.size < 2:
        raise ValueError(f"y must hold at least two classes, but it holds {names.size}.")
    return names, codes.astype(np.intp)


def _draw(
    rng: np.random.Generator,
    classes: IntArray,
    names: NDArray[Any],
    n_draws: int,
    prior: float | None,
) -> IntArray:
    """Draw rows of the pool without replacement, in random order."""
    if prior is None:
        if n_draws > classes.size:
            raise ValueError(
                f"{n_draws} rows are wanted, table and test together, but the pool has only "
                f"{classes.size}."
            )
        return rng.choice(classes.size, size=n_draws, replace=False)
    if names.size != 2:
        raise ValueError(
            f"prior is for two classes, but y holds {names.size}; leave it out to draw rows as "
            "they are in the pool."
        )
    wanted = (rng.random(n_draws) < as_prior(prior)).astype(np.intp)
    return draw_rows(rng, classes, wanted, {1: repr(names[1].item()), 0: repr(names[0].item())})


def _asked(
    rng: np.random.Generator, classes: IntArray, n_statements: int, error_rate: float
) -> tuple[IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return pairs of rows, whether they were said to be alike, and whether that is wrong."""
    chosen = _choose(rng, classes.size * (classes.size - 1) // 2, n_statements)
    pairs = _within(chosen, np.arange(classes.size))
    wrong = rng.random(n_statements) < error_rate
    return pairs, (classes[pairs[:, 0]] == classes[pairs[:, 1]]) != wrong, wrong


def _met(
    rng: np.random.Generator, classes: IntArray, n_statements: int, error_rate: float
) -> tuple[IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return pairs as `_asked` does, all of them said to be alike."""
    wrong = rng.random(n_statements) < error_rate
    members = [np.flatnonzero(classes == k) for k in np.unique(classes)]
    alike = [_Block(m.size * (m.size - 1) // 2, partial(_within, rows=m)) for m in members]
    # A class with all later ones, so that every pair of different classes comes once.
    others = [np.concatenate([*members[k:], members[0][:0]]) for k in range(1, len(members) + 1)]
    different = [
        _Block(m.size * o.size, partial(_between, rows=m, others=o))
        for m, o in zip(members, others, strict=True)
    ]
    pairs = np.empty((n_statements, 2), dtype=np.intp)
    pairs[~wrong] = _of_blocks(rng, alike, int((~wrong).sum()), "one class")
    pairs[wrong] = _of_blocks(rng, different, int(wrong.sum()), "different classes")
    return pairs, np.ones(n_statements, dtype=bool), wrong


class _Block(NamedTuple):
    """Some pairs: how many, and which have given numbers."""

    size: int
    pairs: Callable[[IntArray], IntArray]


def _of_blocks(rng: np.random.Generator, blocks: list[_Block], n_draws: int, name: str) -> IntArray:
    """Draw from the pairs of all blocks together, each as likely as any other."""
    counts = np.array([block.size for block in blocks])
    if n_draws and not counts.sum():
        raise ValueError(f"The table has no two rows of {name}; ask for more rows.")
    numbers = _choose(rng, int(counts.sum()), n_draws)
    ends = np.cumsum(counts)
    of_number = np.searchsorted(ends, numbers, side="right")
    pairs = np.empty((n_draws, 2), dtype=np.intp)
    for k, block in enumerate(blocks):
        here = of_number == k
        pairs[here] = block.pairs(numbers[here] - (ends[k] - counts[k]))
    return pairs


def _choose(rng: np.random.Generator, count: int, n_draws: int) -> IntArray:
    """Draw numbers below `count`, none of them once more before all were drawn."""
    rounds = [
        rng.choice(count, size=min(count, n_draws - start), replace=False)
        for start in range(0, n_draws, max(count, 1))
    ]
    return np.concatenate([np.zeros(0, dtype=np.intp), *rounds]).astype(np.intp)


def _within(numbers: IntArray, rows: IntArray) -> IntArray:
    """Return the pairs of increasing `rows` with given numbers: (0, 1), (0, 2), (1, 2), ..."""
    second = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.intp)
    # The root of a large number is off by rounding.
    second -= second * (second - 1) // 2 > numbers
    second += second * (second + 1) // 2 <= numbers
    first = numbers - second * (second - 1) // 2
    return np.stack([rows[first], rows[second]], axis=1)


def _between(numbers: IntArray, rows: IntArray, others: IntArray) -> IntArray:
    """Return the pairs of a row and an other one with given numbers, the smaller row first."""
    first, second = np.divmod(numbers, max(others.size, 1))
    return np.sort(np.stack([rows[first], others[second]], axis=1), axis=1)
