"""The Parquet engine: rows stay in files and are read block by block, row groups in parallel.

Only the columns that are needed are read. What is held in memory are the row groups at work, one
for each thread, whatever the size of the files.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from likewise.engines import base
from likewise.engines.base import Block, Engine, Kernel, Part, Sums, add_sums
from likewise.engines.joining import (
    NamedPairs,
    are_named,
    check_not_selves,
    id_columns,
    members_of,
    pair_positions,
    positions_by_ids,
)
from likewise.engines.source import PairSource
from likewise.io.arrow import as_numbers, as_text, import_pyarrow, is_number, type_word
from likewise.io.features import without_index
from likewise.io.parquet import ParquetFiles
from likewise.io.wording import listed, shown

_TASK_ROWS = 1 << 16
"""Small row groups are read together until they hold that many rows."""


def default_features(names: Iterable[str], source: PairSource) -> tuple[str, ...]:
    """Return the columns to learn from: those chosen, or all but the ids and a nameless index.

    Parameters
    ----------
    names : names
        Of all columns.
    source : PairSource
    """
    if source.columns is not None:
        return tuple(source.columns)
    found = without_index(name for name in names if name != source.id_column)
    if not found:
        raise ValueError(
            f"There is no column to learn from besides the id column {source.id_column!r}."
        )
    return found


class ParquetEngine(Engine):
    """Rows and pairs in Parquet files.

    Parameters
    ----------
    unlabeled : _Columns
    pairs : dict from part to two _Columns, or NamedPairs of two _Members
        Left and right members of each kind of pairs, aligned.
    id_column : str
        Where ids stand that pairs name.
    """

    def __init__(
        self, unlabeled: "_Columns", pairs: Mapping[Part, Any], id_column: str = "id"
    ) -> None:
        self._unlabeled = unlabeled
        self._pairs = dict(pairs)
        self._id_column = id_column

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self._unlabeled.names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._unlabeled.names

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""
        if part == "unlabeled":
            return self._unlabeled.n_rows
        pairs = self._pairs.get(part, ())
        return pairs[0].n_rows if isinstance(pairs, tuple) and pairs else len(pairs)

    def statements(self) -> dict[Part, NDArray[np.intp]] | None:
        """Return the pairs of each kind as row numbers, if they name ids; these are read."""
        if not are_named(self._pairs.values()):
            return None
        _, keys = self._unlabeled.files.read_ids(self._id_column)
        return positions_by_ids(self._pairs, keys, self._id_column)

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        tables: tuple[_Rows, ...] = (self._unlabeled,)
        if part != "unlabeled":
            tables = members_of(self._pairs[part])
        spans = tables[0].spans()
        tasks = [partial(_sum_range, tables, kernel, *span) for span in spans]
        # Several threads sum at once, so each of them gets one thread of BLAS.
        with threadpool_limits(limits=1, user_api="blas"):
            return add_sums(self._telling(part, spans, _in_order(tasks)))

    def _telling(
        self, part: Part, spans: list[tuple[int, int]], sums: Iterator[Sums]
    ) -> Iterator[Sums]:
        for (_, stop), here in zip(spans, sums, strict=True):
            self._tell(part, stop)
            yield here


def open_parquet(source: PairSource) -> ParquetEngine:
    """Open the files of a source; their footers are read, their rows are not."""
    files = ParquetFiles.of(source.unlabeled, "unlabeled")
    id_column = source.id_column
    names = default_features(files.names, source)
    unlabeled = _Columns(files, names, names)
    return ParquetEngine(
        unlabeled,
        {part: _open_pairs(p, unlabeled, id_column, part) for part, p in source.pairs.items()},
        id_column,
    )


def _open_pairs(
    pairs: Any, unlabeled: "_Columns", id_column: str, name: str
) -> "tuple[_Rows, _Rows] | NamedPairs":
    names = unlabeled.names
    if isinstance(pairs, tuple) and len(pairs) == 2:
        left, right = (_Columns(ParquetFiles.of(side, name), names, names) for side in pairs)
        if left.n_rows != right.n_rows:
            raise ValueError(f"`{name}` has {left.n_rows} left rows but {right.n_rows} right rows.")
        return left, right
    if isinstance(pairs, (str, Path, list, ParquetFiles)) or hasattr(pairs, "get_fragments"):
        files = ParquetFiles.of(pairs, name)
        if set(files.names) != {"left", "right"}:
            left, right = (
                _Columns(files, tuple(f"{side}_{name}" for name in names), names)
                for side in ("left", "right")
            )
            return left, right
        left, right = (files.read_ids(side)[1] for side in ("left", "right"))
    else:
        left, right = id_columns(pairs, name)
    unlabeled.files.type_of(id_column)
    check_not_selves(left, right)
    return NamedPairs(left, right, partial(_join, unlabeled, id_column, left, right))


def _join(unlabeled: "_Columns", id_column: str, left: Any, right: Any) -> "tuple[_Rows, _Rows]":
    """Fetch the members of pairs given by ids: each once, in one pass over the files."""
    pa = import_pyarrow()
    wanted = pa.compute.unique(pa.concat_arrays([left, right]).drop_null())
    where, precision = f"Column {listed([id_column])}", unlabeled.precision
    found, rows = [wanted[:0]], [np.empty((0, len(unlabeled.names)), precision)]
    for batch in unlabeled.files.batches(0, unlabeled.n_rows, [id_column, *unlabeled.names]):
        keys = as_text(batch.column(0), where)
        chosen = pa.compute.is_in(keys, value_set=wanted)
        if chosen.true_count:
            found.append(keys.filter(chosen))
            members_here = [column.filter(chosen) for column in batch.columns[1:]]
            rows.append(_as_array(members_here, precision))
    ids, members = pa.concat_arrays(found), np.concatenate(rows)
    at_left, at_right = (pair_positions(side, ids, id_column) for side in (left, right))
    return _Members(members, at_left), _Members(members, at_right)


@dataclass(frozen=True)
class _Members:
    """Members of pairs, taken from an array that holds each row once."""

    rows: NDArray[Any]
    positions: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        return self.positions.size

    def spans(self) -> list[tuple[int, int]]:
        starts = range(0, self.n_rows, _TASK_ROWS)
        return [(start, min(start + _TASK_ROWS, self.n_rows)) for start in starts]

    def blocks(self, start: int, stop: int, size: int) -> Iterator[NDArray[np.float64]]:
        for first in range(start, stop, size):
            chosen = self.positions[first : min(first + size, stop)]
            yield self.rows[chosen].astype(np.float64)


@dataclass(frozen=True)
class _Columns:
    """Some columns of files, under the names of the features that they hold."""

    files: ParquetFiles
    stored: tuple[str, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.stored:
            check_number(self.files, name)

    @property
    def n_rows(self) -> int:
        return self.files.n_rows

    @property
    def precision(self) -> type[np.floating[Any]]:
        """Single where that holds the values of all columns."""
        types = import_pyarrow().types
        is_single = all(types.is_float32(self.files.type_of(name)) for name in self.stored)
        return np.float32 if is_single else np.float64

    def spans(self) -> list[tuple[int, int]]:
        """Return ranges of rows that begin and end with row groups."""
        spans, start = [], 0
        for stop in self.files.bounds[1:].tolist():
            if stop - start >= _TASK_ROWS or stop == self.n_rows:
                spans.append((start, stop))
                start = stop
        return [span for span in spans if span[0] < span[1]]

    def blocks(self, start: int, stop: int, size: int) -> Iterator[NDArray[np.float64]]:
        """Yield the rows from `start` to `stop` as arrays of `size` rows, the last one smaller."""
        filled, block = 0, _empty(min(size, stop - start), len(self.stored))
        for batch in self.files.batches(start, stop, self.stored):
            taken = 0
            while taken < len(batch):
                m = min(len(batch) - taken, len(block) - filled)
                _fill(block[filled : filled + m], batch.slice(taken, m))
                filled, taken, start = filled + m, taken + m, start + m
                if filled == len(block):
                    yield block
                    filled, block = 0, _empty(min(size, stop - start), len(self.stored))


_Rows = _Columns | _Members


def check_number(files: ParquetFiles, name: str) -> None:
    """Refuse a column that does not hold numbers, or on which files do not agree."""
    types, kind = import_pyarrow().types, files.type_of(name)
    if not (is_number(kind) or types.is_boolean(kind) or types.is_null(kind)):
        raise ValueError(
            f"Column {listed([name])} of {shown(files.path)} holds {type_word(kind)}, not numbers; "
            "leave it out with PairSource(..., columns=[...])."
        )


def _sum_range(tables: tuple[_Rows, ...], kernel: Kernel, start: int, stop: int) -> Sums:
    """Sum a kernel over the rows from `start` to `stop`."""
    return add_sums(map(kernel, _blocks(tables, start, stop)))


def _blocks(tables: tuple[_Rows, ...], start: int, stop: int) -> Iterator[Block]:
    n_columns = _width(tables[0])
    size = max(1, base.BLOCK_ENTRIES // max(1, n_columns))
    for arrays in zip(*(table.blocks(start, stop, size) for table in tables), strict=True):
        yield Block(arrays, start)
        start += len(arrays[0])


def _width(rows: _Rows) -> int:
    return len(rows.names) if isinstance(rows, _Columns) else int(rows.rows.shape[1])


def _in_order(tasks: Sequence[Any]) -> Iterator[Sums]:
    """Yield the results of tasks in their order, running as many at once as there are cores."""
    n_threads = min(_n_cores(), len(tasks))
    with ThreadPoolExecutor(n_threads) as pool:
        running: deque[Future[Sums]] = deque()
        try:
            for task in tasks:
                running.append(pool.submit(task))
                if len(running) > n_threads:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _empty(n_rows: int, n_columns: int) -> NDArray[np.float64]:
    return np.empty((n_rows, n_columns), order="F")


def _fill(block: NDArray[np.float64], batch: Any) -> None:
    """Copy the columns of a record batch; what is missing becomes NaN."""
    for position, column in enumerate(batch.columns):
        block[:, position] = as_numbers(column)


def _as_array(columns: Sequence[Any], precision: type[np.floating[Any]]) -> NDArray[Any]:
    rows = np.empty((len(columns[0]), len(columns)), dtype=precision)
    for position, column in enumerate(columns):
        rows[:, position] = as_numbers(column)
    return rows
