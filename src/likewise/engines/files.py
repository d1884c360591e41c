"""Parquet files of rows and pairs: which columns to read, and a first look at what is in them.

One pass finds the moments of the columns and keeps evenly spaced rows and pairs, which stand for
all of them in a summary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from likewise._types import FloatArray
from likewise.engines.base import Block, Engine, Kernel, Part
from likewise.engines.finite import raise_not_finite
from likewise.engines.scaled import Moments, ScaledEngine
from likewise.engines.source import OpenSource, PairSource, open_engine
from likewise.io.answers import is_answer_file
from likewise.io.arrow import import_pyarrow, is_text
from likewise.io.columns import open_columns
from likewise.io.features import Features, check_type, choose_names, feature_matrix
from likewise.io.inputs import Inputs
from likewise.io.lookup import find_columns
from likewise.io.pairs import STATEMENT_COLUMNS, Pairs, read_pairs
from likewise.io.parquet import ParquetFiles
from likewise.io.tables import Table, find_id_column
from likewise.io.wording import listed, shown

__all__ = ["FileColumns", "SourceInputs", "choose_columns", "open_files", "open_statements"]

CheckValues = Callable[[Table, Features, Any], None]
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
        """Return all rows and pairs with standardized columns.

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
    """A table in Parquet files: which columns are features, and which one holds ids.

    Attributes
    ----------
    path : Path
        Of the table.
    files : ParquetFiles
    features : tuple of str
    id_column : str, optional
    ids : Table, optional
        The ids of all rows, where pairs are given by them.
    check : callable
        Called as ``check(table, features, X)``: raises for values that one cannot compute with.
    """

    path: Path
    files: ParquetFiles
    features: tuple[str, ...]
    id_column: str | None
    ids: Table | None
    check: CheckValues

    @property
    def by_ids(self) -> bool:
        """Whether pairs are given by ids."""
        return self.ids is not None

    def of_pairs(self) -> list[str]:
        """Return the columns of pairs that are rows of their own."""
        return [f"{side}_{name}" for side in ("left", "right") for name in self.features]

    def check_values(self, moments: Moments, largest: FloatArray) -> None:
        """Raise if a value is missing, infinite or too large, in the words for tables in memory.

        Parameters
        ----------
        moments : Moments
            Of the columns.
        largest : array of shape (n_columns,)
            The largest absolute value of each column.
        """
        if self.ids is None or (np.isfinite(moments.variance).all() and self._passes(largest)):
            return
        for refuse in (lambda *_: None, self.check):
            for name in self.features:
                (column,) = self.files.read([name])
                rows = replace(self.ids, columns={name: column})
                refuse(rows, Features((name,)), feature_matrix(rows, Features((name,))))

    def _passes(self, largest: FloatArray) -> bool:
        """Tell whether no value has to be looked for."""
        try:
            self.check(cast(Table, self.ids), Features(self.features), largest[None])
        except ValueError:
            return False
        return True


def choose_columns(
    table: Path,
    pairs: Path,
    *,
    id_column: str | None = None,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    as_statements: bool = False,
    check: CheckValues = lambda *_: None,
) -> FileColumns:
    """Choose from the columns of Parquet files, of which only footers and ids are read.

    Parameters
    ----------
    table, pairs : Path
        Files, or folders of them. Pairs have ids in the columns left and right, or features in
        columns ``left_<name>`` and ``right_<name>``.
    id_column, keep, drop
        As in `likewise.io.read_inputs`.
    as_statements : bool
        Whether pairs by ids may be of both kinds, or groups.
    check : callable, optional
        Called as ``check(table, features, X)`` to raise for values one cannot compute with.

    Returns
    -------
    FileColumns
    """
    files = ParquetFiles.of(table, str(table))
    in_pairs, by_ids = _look_at_pairs(pairs, as_statements=as_statements)
    if by_ids:
        found_id: str | None = find_id_column(table, files.names, id_column)
        ids = Table.of(table, cast(str, found_id), *files.read_ids(cast(str, found_id)))
        others = [name for name in files.names if name != found_id]
    else:
        found_id, ids = _find_id(table, files.names, id_column), None
        others = [n for n in files.names if n != found_id and f"left_{n}" in in_pairs]
    chosen = choose_names(table, found_id, others, keep, drop)
    kinds = {name: files.type_of(name) for name in chosen}
    for name, kind in kinds.items():
        check_type(table, name, kind)
    for name, kind in kinds.items():
        if is_text(kind):
            raise ValueError(
                f"{shown(table)}, column {listed([name])}: with --engine, columns hold numbers, "
                f"not text; leave it out with --drop {shown(name)}, or turn it into numbers."
            )
    return FileColumns(table, files, chosen, found_id, ids, check)


def _look_at_pairs(pairs: Path, *, as_statements: bool) -> tuple[frozenset[str], bool]:
    """Return the names of the columns of pairs, and whether these are given by ids."""
    if not pairs.is_dir() and is_answer_file(pairs):
        names: tuple[str, ...] = ("left", "right", "relation")
    else:
        names = open_columns(pairs).names
    stored = find_columns(pairs, names, STATEMENT_COLUMNS)
    are_pairs, are_groups = {"left", "right"} <= set(stored), {"id", "group"} <= set(stored)
    if not as_statements:
        _check_pairs(pairs, "relation" in stored and are_pairs, are_groups and not are_pairs)
    are_rows = any(name.startswith("left_") for name in names)
    return frozenset(names), are_pairs or not are_rows


def _check_pairs(pairs: Path, have_relations: bool, are_groups: bool) -> None:
    if have_relations:
        raise ValueError(
            f"{shown(pairs)} has a column 'relation', but with --engine and --method su all pairs "
            "are similar ones: keep those, and leave the column out."
        )
    if are_groups:
        raise ValueError(
            f"{shown(pairs)} is a file of groups, but with --engine and --method su only pairs are "
            "understood: columns left and right of ids."
        )


def _find_id(table: Path, names: Sequence[str], wanted: str | None) -> str | None:
    """Return the id column, which no pair needs: the one that is named, or "id", or none."""
    if wanted is None and not any(name.strip().lower() == "id" for name in names):
        return None
    return find_id_column(table, names, wanted)


def open_files(
    pairs: Path,
    columns: FileColumns,
    *,
    by_dask: bool,
    on_rows: Callable[[Part, int, int], None] | None = None,
) -> SourceInputs:
    """Open Parquet files of rows and pairs, and look at them once.

    Parameters
    ----------
    pairs : Path
    columns : FileColumns
        Of the table.
    by_dask : bool
        Whether Dask reads them; else they are read here.
    on_rows : callable, optional
        Told of every pass how far it is.

    Returns
    -------
    SourceInputs
    """
    rows, similar = _open_rows(columns, by_dask=by_dask), _open_pairs(pairs, columns, by_dask)
    id_column = columns.id_column or "id"
    engine = open_engine(PairSource(rows, similar, columns=columns.features, id_column=id_column))
    engine.on_rows = on_rows
    moments, some, sides = _look(engine, columns)
    return SourceInputs(
        table=columns.ids or cast(Table, _Rows(engine.count("unlabeled"), id_column)),
        features=Features(columns.features),
        X=some,
        pairs=_without_rows(engine.count("similar")),
        engine=engine,
        moments=moments,
        sides=sides,
    )


def open_statements(
    pairs: Path,
    columns: FileColumns,
    *,
    by_dask: bool,
    on_rows: Callable[[Part, int, int], None] | None = None,
) -> SourceInputs:
    """Open Parquet files of rows, and read what is said about them by ids into memory.

    Parameters
    ----------
    pairs, columns, by_dask, on_rows
        As in `open_files`.

    Returns
    -------
    SourceInputs
    """
    ids = cast(Table, columns.ids)
    statements = read_pairs(pairs, ids)
    engine = open_engine(PairSource(_open_rows(columns, by_dask=by_dask), columns=columns.features))
    engine.on_rows = on_rows
    found, largest, some = engine.map_reduce("unlabeled", _of_rows(engine))
    return SourceInputs(
        table=ids,
        features=Features(columns.features),
        X=np.concatenate(some),
        pairs=statements,
        engine=engine,
        moments=_moments(found, largest, engine, columns),
        sides=None,
    )


def _without_rows(n_pairs: int) -> Pairs:
    """Return so many similar pairs that name no rows, and take no memory."""
    nowhere = np.int64(-1)
    return Pairs(np.broadcast_to(nowhere, (n_pairs, 2)), np.broadcast_to(nowhere, (0, 2)))


def _open_rows(columns: FileColumns, *, by_dask: bool) -> Any:
    if not by_dask:
        return columns.files
    from likewise.engines.frames import parquet_frame

    id_column = columns.id_column if columns.by_ids else None
    return parquet_frame(columns.files, columns.features, id_column)


def _open_pairs(pairs: Path, columns: FileColumns, by_dask: bool) -> Any:
    """Return pairs as ids that are all in the table, or as files of their own."""
    if columns.ids is not None:
        keys = columns.ids.keys
        left, right = np.asarray(read_pairs(pairs, columns.ids).similar).T
        return import_pyarrow().table({"left": keys.take(left), "right": keys.take(right)})
    files = ParquetFiles.of(pairs, str(pairs))
    if not by_dask:
        return files
    from likewise.engines.frames import parquet_frame

    return parquet_frame(files, columns.of_pairs())


def _look(engine: Engine, columns: FileColumns) -> tuple[Moments, Any, tuple[Any, Any]]:
    """Find the moments of the columns, and evenly spaced rows and pairs, by one pass."""
    stride = -(-engine.count("similar") // _SAMPLE)
    (found, largest, rows), (left, right) = engine.map_reduce_both(
        _of_rows(engine), lambda block: _spaced(block, stride)
    )
    moments = _moments(found, largest, engine, columns)
    return moments, np.concatenate(rows), (np.concatenate(left), np.concatenate(right))


def _of_rows(engine: Engine) -> Kernel:
    """Return the kernel of moments and largest values of columns, and of evenly spaced rows."""
    stride = -(-engine.count("unlabeled") // _SAMPLE)

    def kernel(block: Block) -> tuple[list[Any], ...]:
        rows = block.tables[0]
        largest = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        return [Moments.of_rows(rows)], [largest], *_spaced(block, stride)

    return kernel


def _moments(
    found: list[Any], largest: list[FloatArray], engine: Engine, columns: FileColumns
) -> Moments:
    """Return the moments of columns, all of whose values can be computed with."""
    moments = Moments(found)
    columns.check_values(moments, np.max(largest, axis=0))
    if not np.isfinite(moments.variance).all():
        raise_not_finite(engine)
    return moments


def _spaced(block: Block, stride: int) -> tuple[list[Any], ...]:
    first = -block.start % stride
    return tuple([table[first::stride].copy()] for table in block.tables)
