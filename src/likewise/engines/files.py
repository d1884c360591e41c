"""Parquet files of rows and pairs: which columns to read, and a first look at what is in them.

One pass finds the moments of the columns and keeps evenly spaced rows and pairs, which stand for
all of them in a summary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from likewise.engines.base import Block, Engine, Kernel, Part
from likewise.engines.finite import raise_not_finite
from likewise.engines.parquet import parquet_schema, read_parquet
from likewise.engines.scaled import Moments, ScaledEngine
from likewise.engines.source import OpenSource, PairSource, open_engine
from likewise.io.arrow import as_text
from likewise.io.features import Features
from likewise.io.inputs import Inputs
from likewise.io.pairs import Pairs, pairs_of
from likewise.io.tables import Table

__all__ = ["FileColumns", "SourceInputs", "choose_columns", "open_files", "open_statements"]

_SAMPLE = 100_000
"""Rows and pairs that a summary is made from at most."""


@dataclass(frozen=True)
class _Rows:
    """Stands for a table that is not in memory: how many rows it has, and where their ids are."""

    n_rows: int
    id_column: str

    def __len__(self) -> int:
        return self.n_rows


@dataclass(frozen=True, eq=False)
class SourceInputs(Inputs):
    """What `Inputs` is for tables, for rows behind an engine; `X` holds evenly spaced ones.

    Attributes
    ----------
    engine : Engine
    moments : Moments
        Of the columns.
    sides : two arrays, or None
        Members of evenly spaced pairs; None where pairs name rows of the table.
    """

    engine: Engine
    moments: Moments
    sides: tuple[Any, Any] | None

    @property
    def is_one_table(self) -> bool:
        """Whether pairs are statements about the rows of the table."""
        return self.sides is None

    @property
    def statements(self) -> dict[str, Any]:
        """The evenly spaced pairs, as `likewise.pack` takes them."""
        return {"similar": self.sides}

    def source(self) -> PairSource:
        """Return all rows and pairs as they are in the files."""
        if not self.is_one_table:
            return OpenSource(engine=self.engine)
        return OpenSource(
            similar=self.pairs.similar, dissimilar=self.pairs.dissimilar, engine=self.engine
        )

    def scaled(self, scaler: Any) -> PairSource:
        """Return all rows and pairs with standardised columns.

        Parameters
        ----------
        scaler : StandardScaler
            Is given the means and scales, as if it had been fitted on the rows.
        """
        found = self.moments
        scaler.mean_, scaler.var_, scaler.scale_ = found.mean, found.variance, found.scale
        scaler.n_samples_seen_, scaler.n_features_in_ = found.count, found.mean.size
        return OpenSource(engine=ScaledEngine(self.engine, found.mean, found.scale))


@dataclass(frozen=True)
class FileColumns:
    """Which columns are features, which one holds ids, and whether pairs are given by ids."""

    features: tuple[str, ...]
    id_column: str | None
    by_ids: bool

    def read_ids(self, table: Path) -> Table:
        """Return the ids of all rows."""
        column = cast(str, self.id_column)
        ids = read_parquet(table, [column], str(table)).column(0).combine_chunks()
        return Table.of(table, column, ids)

    def of_pairs(self) -> list[str]:
        """Return the columns to read of the pairs."""
        if self.by_ids:
            return ["left", "right"]
        return [f"{side}_{name}" for side in ("left", "right") for name in self.features]


def choose_columns(
    table: Path,
    pairs: Path,
    *,
    id_column: str | None = None,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    as_statements: bool = False,
) -> FileColumns:
    """Choose from the columns of Parquet files, of which only footers are read.

    Parameters
    ----------
    table, pairs : Path
        Files, or folders of them. Pairs have ids in the columns left and right, or features in
        columns ``left_<name>`` and ``right_<name>``.
    id_column, keep, drop
        As in `likewise.io.read_inputs`.
    as_statements : bool
        Whether pairs by ids may be of both kinds, or groups.

    Returns
    -------
    FileColumns
    """
    schema = parquet_schema(table, str(table))
    of_pairs = set(parquet_schema(pairs, str(pairs)).names)
    by_ids = {"left", "right"} <= of_pairs
    if as_statements:
        by_ids |= {"id", "group"} <= of_pairs
    else:
        _check_pairs(pairs, of_pairs, by_ids=by_ids)
    found_id = _find_id(table, schema.names, id_column, needed=by_ids)
    others = [name for name in schema.names if name != found_id]
    if not by_ids:
        others = [name for name in others if f"left_{name}" in of_pairs]
    chosen = _choose_features(table, others, keep, drop)
    _check_numbers(table, schema, chosen)
    return FileColumns(chosen, found_id, by_ids)


def _check_pairs(pairs: Path, names: set[str], *, by_ids: bool) -> None:
    if by_ids and "relation" in names:
        raise ValueError(
            f"{pairs} has a column 'relation', but with --engine and --method su all pairs are "
            "similar ones: keep those, and leave the column out."
        )
    if not by_ids and {"id", "group"} <= names:
        raise ValueError(
            f"{pairs} is a file of groups, but with --engine and --method su only pairs are "
            "understood: columns left and right of ids."
        )


def _find_id(table: Path, names: Sequence[str], wanted: str | None, *, needed: bool) -> str | None:
    """Return the id column: the one that is named, or "id" in any case, or else the first."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{table} has no id column {wanted!r}; it has {', '.join(names)}.")
        return wanted
    first = names[0] if needed else None
    return next((name for name in names if name.strip().lower() == "id"), first)


def _choose_features(
    table: Path, names: Sequence[str], keep: Sequence[str] | None, drop: Sequence[str]
) -> tuple[str, ...]:
    unknown = [name for name in (*(keep or ()), *drop) if name not in names]
    if unknown:
        raise ValueError(
            f"{table} has no column {unknown[0]!r} to learn from; there are {', '.join(names)}."
        )
    if keep is not None:
        return tuple(dict.fromkeys(keep))
    chosen = tuple(n for n in names if n not in drop and not n.startswith("__index_level_"))
    if not chosen:
        raise ValueError(f"{table} has no column left to learn from.")
    return chosen


def _check_numbers(table: Path, schema: Any, names: Sequence[str]) -> None:
    from pyarrow import types

    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"{table}, column {name!r}: with --engine, columns hold numbers, not {kind}; leave "
                f"it out with --drop {name}, or turn it into numbers."
            )


def open_files(
    table: Path,
    pairs: Path,
    columns: FileColumns,
    *,
    by_dask: bool,
    on_rows: Callable[[Part, int, int], None] | None = None,
) -> SourceInputs:
    """Open Parquet files of rows and pairs, and look at them once.

    Parameters
    ----------
    table, pairs : Path
    columns : FileColumns
    by_dask : bool
        Whether Dask reads them; else they are read here.
    on_rows : callable, optional
        Told of every pass how far it is.

    Returns
    -------
    SourceInputs
    """
    read = _read_by_dask if by_dask else _read_here
    rows, similar = read(columns, table.resolve(), pairs.resolve())
    id_column = columns.id_column or "id"
    engine = open_engine(PairSource(rows, similar, columns=columns.features, id_column=id_column))
    engine.on_rows = on_rows
    moments, some, sides = _look(engine)
    return SourceInputs(
        table=cast(Table, _Rows(engine.count("unlabeled"), id_column)),
        features=Features(columns.features),
        X=some,
        pairs=_without_rows(engine.count("similar")),
        engine=engine,
        moments=moments,
        sides=sides,
    )


def open_statements(
    table: Path,
    pairs: Path,
    columns: FileColumns,
    *,
    by_dask: bool,
    on_rows: Callable[[Part, int, int], None] | None = None,
) -> SourceInputs:
    """Open Parquet files of rows, and read what is said about them by ids into memory.

    Parameters
    ----------
    table, pairs, columns, by_dask, on_rows
        As in `open_files`.

    Returns
    -------
    SourceInputs
    """
    ids = columns.read_ids(table)
    names = parquet_schema(pairs, str(pairs)).names
    said = read_parquet(pairs, names, str(pairs))
    texts = {name.strip().lower(): as_text(said.column(name).combine_chunks()) for name in names}
    statements = pairs_of(pairs, ids, texts)
    rows: Any = table.resolve()
    if by_dask:
        from likewise.engines.dask import parquet_frame

        rows = parquet_frame(rows, columns.features, str(table))
    engine = open_engine(PairSource(rows, columns=columns.features))
    engine.on_rows = on_rows
    found, some = engine.map_reduce("unlabeled", _of_rows(engine))
    return SourceInputs(
        table=ids,
        features=Features(columns.features),
        X=np.concatenate(some),
        pairs=statements,
        engine=engine,
        moments=_finite(Moments(found), engine),
        sides=None,
    )


def _without_rows(n_pairs: int) -> Pairs:
    """Return so many similar pairs that name no rows, and take no memory."""
    nowhere = np.int64(-1)
    return Pairs(np.broadcast_to(nowhere, (n_pairs, 2)), np.broadcast_to(nowhere, (0, 2)))


def _read_here(columns: FileColumns, table: Path, pairs: Path) -> tuple[Any, Any]:
    if not columns.by_ids:
        return table, pairs
    return table, read_parquet(pairs, columns.of_pairs(), str(pairs))


def _read_by_dask(columns: FileColumns, table: Path, pairs: Path) -> tuple[Any, Any]:
    from likewise.engines.dask import parquet_frame

    names = [*columns.features, *([columns.id_column] if columns.by_ids else [])]
    return (
        parquet_frame(table, cast("list[str]", names), str(table)),
        parquet_frame(pairs, columns.of_pairs(), str(pairs)),
    )


def _look(engine: Engine) -> tuple[Moments, Any, tuple[Any, Any]]:
    """Find the moments of the columns, and evenly spaced rows and pairs, by one pass."""
    stride = -(-engine.count("similar") // _SAMPLE)
    (found, rows), (left, right) = engine.map_reduce_both(
        _of_rows(engine), lambda block: _spaced(block, stride)
    )
    moments = _finite(Moments(found), engine)
    return moments, np.concatenate(rows), (np.concatenate(left), np.concatenate(right))


def _of_rows(engine: Engine) -> Kernel:
    """Return the kernel of the moments of the columns and of evenly spaced rows."""
    stride = -(-engine.count("unlabeled") // _SAMPLE)
    return lambda block: ([Moments.of_rows(block.tables[0])], *_spaced(block, stride))


def _finite(moments: Moments, engine: Engine) -> Moments:
    if not np.isfinite(moments.variance).all():
        raise_not_finite(engine)
    return moments


def _spaced(block: Block, stride: int) -> tuple[list[Any], ...]:
    first = -block.start % stride
    return tuple([table[first::stride].copy()] for table in block.tables)
