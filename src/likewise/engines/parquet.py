"""The Parquet engine: rows stay in files and are read block by block, row groups in parallel.

Only the columns that are needed are read. What is held in memory are the row groups at work, one
for each thread, whatever the size of the files.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
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
    cast_ids,
    check_not_selves,
    id_columns,
    members_of,
    pair_positions,
    positions_by_ids,
)
from likewise.engines.source import PairSource
from likewise.io.arrow import import_pyarrow

_TASK_ROWS = 1 << 16
"""Small row groups are read together until they hold that many rows."""
_BATCH_ROWS = 1 << 15


def parquet_schema(files: Any, name: str) -> Any:
    """Return the pyarrow schema of Parquet files, all of whose footers have been read."""
    return _Files.of(files, name).schema


def read_parquet(files: Any, columns: Sequence[str], name: str) -> Any:
    """Return some columns of Parquet files as a pyarrow table in memory."""
    return _Files.of(files, name).read(columns)


def row_groups(files: Any, name: str) -> list[tuple[str, int, int]]:
    """Return the path, the number and the rows of every row group of Parquet files."""
    return _Files.of(files, name).groups()


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
        ids = self._unlabeled.files.read([self._id_column]).column(0).combine_chunks()
        return positions_by_ids(self._pairs, ids, self._id_column)

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
    files = _Files.of(source.unlabeled, "unlabeled")
    names = _feature_names(files, source)
    unlabeled = _Columns(files, names, names)
    id_column = source.id_column
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
        left, right = (_Columns(_Files.of(side, name), names, names) for side in pairs)
        if left.n_rows != right.n_rows:
            raise ValueError(f"`{name}` has {left.n_rows} left rows but {right.n_rows} right rows.")
        return left, right
    if isinstance(pairs, (str, Path, list)) or hasattr(pairs, "get_fragments"):
        files = _Files.of(pairs, name)
        if set(files.schema.names) != {"left", "right"}:
            left, right = (
                _Columns(files, tuple(f"{side}_{name}" for name in names), names)
                for side in ("left", "right")
            )
            return left, right
        pairs = files.read(["left", "right"])
    unlabeled.files.check_columns([id_column])
    ids = id_columns(pairs, name)
    check_not_selves(*(side.to_numpy(zero_copy_only=False) for side in ids))
    kind = unlabeled.files.schema.field(id_column).type
    left, right = (cast_ids(side, kind, id_column) for side in ids)
    return NamedPairs(left, right, partial(_join, unlabeled, id_column, left, right))


def _join(unlabeled: "_Columns", id_column: str, left: Any, right: Any) -> "tuple[_Rows, _Rows]":
    """Fetch the members of pairs given by ids: each once, in one pass over the files."""
    pa = import_pyarrow()
    wanted = pa.compute.unique(pa.concat_arrays([left, right]).drop_null())
    found = unlabeled.files.read(
        [id_column, *unlabeled.names], pa.compute.field(id_column).isin(wanted)
    )
    ids = found.column(id_column).combine_chunks()
    rows = _as_array(found.select(unlabeled.names), found.num_rows)
    at_left, at_right = (pair_positions(side, ids, id_column) for side in (left, right))
    return _Members(rows, at_left), _Members(rows, at_right)


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

    files: "_Files"
    stored: tuple[str, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        self.files.check_columns(self.stored)
        self.files.check_numbers(self.stored)

    @property
    def n_rows(self) -> int:
        return int(self.files.bounds[-1])

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


@dataclass(frozen=True)
class _RowGroup:
    fragment: Any
    number: int


class _Files:
    """Parquet files that are one table after the other, addressed by row numbers."""

    def __init__(self, dataset: Any) -> None:
        self.schema = dataset.schema
        self._groups: list[_RowGroup] = []
        counts = [0]
        for fragment in dataset.get_fragments():
            with naming(fragment.path):
                for group in fragment.row_groups:
                    self._groups.append(_RowGroup(fragment, group.id))
                    counts.append(group.num_rows)
        self.bounds: NDArray[np.int64] = np.cumsum(counts)
        """Where row groups begin and end among all rows."""

    @classmethod
    def of(cls, files: Any, name: str) -> "_Files":
        import_pyarrow()
        import pyarrow.dataset as ds

        if not isinstance(files, ds.Dataset):
            with naming(files):
                files = ds.dataset(files, format="parquet")
        if not isinstance(files, ds.FileSystemDataset) or files.format.default_extname != "parquet":
            raise TypeError(f"`{name}` must be Parquet files; got a {type(files).__name__}.")
        opened = cls(files)
        if not opened.bounds[-1]:
            raise ValueError(f"`{name}` has no rows.")
        return opened

    @cached_property
    def _options(self) -> Any:
        import pyarrow.dataset as ds

        return ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)

    def batches(
        self, start: int, stop: int, columns: Sequence[str], chosen: Any = None
    ) -> Iterator[Any]:
        """Yield record batches of the rows from `start` to `stop` (of those that are chosen)."""
        first = int(np.searchsorted(self.bounds, start, side="right")) - 1
        last = int(np.searchsorted(self.bounds, stop, side="left"))
        for at in range(first, last):
            group, position = self._groups[at], int(self.bounds[at])
            with naming(group.fragment.path):
                for batch in group.fragment.subset(row_group_ids=[group.number]).to_batches(
                    schema=self.schema,
                    columns=list(columns),
                    filter=chosen,
                    batch_size=_BATCH_ROWS,
                    batch_readahead=0,
                    fragment_readahead=0,
                    use_threads=False,
                    fragment_scan_options=self._options,
                ):
                    if chosen is not None:
                        yield batch
                        continue
                    low, high = max(start - position, 0), min(stop - position, len(batch))
                    position += len(batch)
                    if low < high:
                        yield batch.slice(low, high - low)

    def groups(self) -> list[tuple[str, int, int]]:
        """Return the path, the number and the rows of every row group."""
        sizes = np.diff(self.bounds).tolist()
        return [
            (group.fragment.path, group.number, size)
            for group, size in zip(self._groups, sizes, strict=True)
        ]

    def read(self, columns: Sequence[str], chosen: Any = None) -> Any:
        """Return columns of all rows (or of those that are chosen) as a table in memory."""
        pa = import_pyarrow()
        batches = list(self.batches(0, int(self.bounds[-1]), columns, chosen))
        return pa.Table.from_batches(batches, pa.schema([self.schema.field(c) for c in columns]))

    def check_columns(self, columns: Iterable[str]) -> None:
        """Raise unless all columns are there."""
        missing = [name for name in columns if name not in self.schema.names]
        if missing:
            raise ValueError(
                f"There is no column {missing[0]!r} in {self._groups[0].fragment.path}, which has "
                f"the columns {', '.join(self.schema.names)}."
            )

    def check_numbers(self, columns: Iterable[str]) -> None:
        """Raise unless all columns hold numbers."""
        types = import_pyarrow().types
        for name in columns:
            kind = self.schema.field(name).type
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise ValueError(
                    f"Column {name!r} of {self._groups[0].fragment.path} holds {kind}, not "
                    "numbers; leave it out with PairSource(..., columns=[...])."
                )


def _feature_names(files: _Files, source: PairSource) -> tuple[str, ...]:
    if source.columns is not None:
        return tuple(source.columns)
    return tuple(name for name in files.schema.names if name != source.id_column)


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
        block[:, position] = column.to_numpy(zero_copy_only=False)


def _as_array(table: Any, n_rows: int) -> NDArray[Any]:
    """Return a table as an array of single precision where that holds all its columns."""
    types = import_pyarrow().types
    single = all(types.is_float32(field.type) for field in table.schema)
    rows = np.empty((n_rows, table.num_columns), dtype=np.float32 if single else np.float64)
    for position, column in enumerate(table.columns):
        rows[:, position] = column.to_numpy()
    return rows


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Name the file in whatever goes wrong while it is read."""
    pa = import_pyarrow()
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no Parquet file {path}.") from error
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"Cannot read the Parquet file {path}: {error}") from error
