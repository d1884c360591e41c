"""Rows that stay in Parquet files, for ``fit --engine``: opened, looked at once, learned from."""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from likewise.cli.inputs import Inputs

if TYPE_CHECKING:
    from likewise.engines import Block, Engine, PairSource, Part
    from likewise.engines.scaled import Moments
    from likewise.io import Pairs, Table

__all__ = [
    "EngineName",
    "EngineOption",
    "PassBar",
    "SchedulerOption",
    "SourceInputs",
    "open_inputs",
]

_SAMPLE = 100_000
"""Rows and pairs that a summary is made from at most."""
_CONNECTING = "10s"
"""How long to wait for a scheduler."""


class EngineName(StrEnum):
    """Where rows are read: here, file by file, or on the workers of a cluster."""

    PARQUET = "parquet"
    DASK = "dask"


EngineOption = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        help="Leave TABLE and PAIRS in files or folders of Parquet, and read them block by block "
        "here (parquet) or with Dask.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="The Dask scheduler to use, as tcp://host:8786; else the threads of this machine.",
    ),
]


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
    sides : two arrays
        Members of evenly spaced pairs.
    """

    engine: "Engine"
    moments: "Moments"
    sides: tuple[Any, Any]

    def pack(self) -> tuple[Any, Any]:
        """Return evenly spaced rows and pairs with their weak labels."""
        from likewise import pack

        return pack(self.X, similar=self.sides)

    def learn(self, pipeline: Any) -> None:
        """Fit a pipeline of a transformer and a classifier to all rows, by passes over them."""
        from likewise import PairClassifier, SUClassifierCV

        transformer, classifier = pipeline[0], pipeline[-1]
        if isinstance(classifier, PairClassifier):
            classifier.set_params(features="linear")
        if isinstance(classifier, SUClassifierCV):
            classifier.set_params(cv=classifier.cv.n_splits)  # rows are dealt in turn
        classifier.fit(self._source(transformer))
        # The columns are chosen by name before the pipeline, which sees an array.
        del classifier.feature_names_in_

    def _source(self, transformer: Any) -> "PairSource":
        from likewise.engines.scaled import ScaledEngine
        from likewise.engines.source import OpenSource

        if transformer == "passthrough":
            return OpenSource(engine=self.engine)
        found = self.moments
        transformer.mean_, transformer.var_ = found.mean, found.variance
        transformer.scale_ = found.scale
        transformer.n_samples_seen_, transformer.n_features_in_ = found.count, found.mean.size
        return OpenSource(engine=ScaledEngine(self.engine, found.mean, found.scale))


@contextmanager
def open_inputs(
    table: Path,
    pairs: Path,
    *,
    engine: EngineName,
    scheduler: str | None,
    id_column: str | None,
    features: str | None,
    drop: str | None,
) -> Iterator[SourceInputs]:
    """Open Parquet files of rows and pairs; while they are read, a bar shows how far it is."""
    from likewise.engines import open_engine
    from likewise.io import Features

    if scheduler is not None and engine is not EngineName.DASK:
        raise ValueError("--scheduler is the address of a Dask scheduler: add --engine dask.")
    columns = _choose_columns(table, pairs, id_column, features, drop)
    with _cluster(scheduler), _showing_passes() as show:
        opened = open_engine(columns.source(table, pairs, engine))
        opened.on_rows = show
        moments, rows, sides = _look(opened)
        stand_in = _Rows(opened.count("unlabeled"), columns.id_column or "id")
        yield SourceInputs(
            table=cast("Table", stand_in),
            features=Features(columns.features),
            X=rows,
            pairs=_without_rows(opened.count("similar")),
            engine=opened,
            moments=moments,
            sides=sides,
        )


def _without_rows(n_pairs: int) -> "Pairs":
    """Return so many similar pairs that name no rows, and take no memory."""
    import numpy as np

    from likewise.io import Pairs

    nowhere = np.int64(-1)
    return Pairs(np.broadcast_to(nowhere, (n_pairs, 2)), np.broadcast_to(nowhere, (0, 2)))


@dataclass(frozen=True)
class _Columns:
    """Which columns are features, which one holds ids, and whether pairs are given by ids."""

    features: tuple[str, ...]
    id_column: str | None
    by_ids: bool

    def source(self, table: Path, pairs: Path, engine: EngineName) -> "PairSource":
        from likewise.engines import PairSource

        read = _read_here if engine is EngineName.PARQUET else _read_by_dask
        rows, similar = read(self, table.resolve(), pairs.resolve())
        return PairSource(rows, similar, columns=self.features, id_column=self.id_column or "id")

    def of_pairs(self) -> list[str]:
        if self.by_ids:
            return ["left", "right"]
        return [f"{side}_{name}" for side in ("left", "right") for name in self.features]


def _read_here(columns: _Columns, table: Path, pairs: Path) -> tuple[Any, Any]:
    from likewise.engines.parquet import read_parquet

    if not columns.by_ids:
        return table, pairs
    return table, read_parquet(pairs, columns.of_pairs(), str(pairs))


def _read_by_dask(columns: _Columns, table: Path, pairs: Path) -> tuple[Any, Any]:
    from likewise.engines.dask import parquet_frame

    names = [*columns.features, *([columns.id_column] if columns.by_ids else [])]
    return (
        parquet_frame(table, cast("list[str]", names), str(table)),
        parquet_frame(pairs, columns.of_pairs(), str(pairs)),
    )


def _choose_columns(
    table: Path, pairs: Path, id_column: str | None, features: str | None, drop: str | None
) -> _Columns:
    """Choose from the columns of the files, of which only footers are read."""
    from likewise.engines.parquet import parquet_schema

    if features is not None and drop is not None:
        raise ValueError("Give either --features or --drop, not both.")
    schema = parquet_schema(table, str(table))
    of_pairs = set(parquet_schema(pairs, str(pairs)).names)
    by_ids = {"left", "right"} <= of_pairs
    if by_ids and "relation" in of_pairs:
        raise ValueError(
            f"{pairs} has a column 'relation', but with --engine all pairs are similar ones: keep "
            "those, and leave the column out."
        )
    found_id = _find_id(table, schema.names, id_column, needed=by_ids)
    others = [name for name in schema.names if name != found_id]
    if not by_ids:
        others = [name for name in others if f"left_{name}" in of_pairs]
    chosen = _choose_features(table, others, features, drop)
    _check_numbers(table, schema, chosen)
    return _Columns(chosen, found_id, by_ids)


def _find_id(table: Path, names: Sequence[str], wanted: str | None, *, needed: bool) -> str | None:
    """Return the id column: the one that is named, or "id" in any case, or else the first."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{table} has no id column {wanted!r}; it has {', '.join(names)}.")
        return wanted
    first = names[0] if needed else None
    return next((name for name in names if name.strip().lower() == "id"), first)


def _choose_features(
    table: Path, names: Sequence[str], features: str | None, drop: str | None
) -> tuple[str, ...]:
    listed = next(csv.reader([features or drop or ""]), [])
    unknown = [name for name in listed if name not in names]
    if unknown:
        raise ValueError(
            f"{table} has no column {unknown[0]!r} to learn from; there are {', '.join(names)}."
        )
    if features is not None:
        return tuple(dict.fromkeys(listed))
    chosen = tuple(n for n in names if n not in listed and not n.startswith("__index_level_"))
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


def _look(engine: "Engine") -> tuple["Moments", Any, tuple[Any, Any]]:
    """Find the moments of the columns, and evenly spaced rows and pairs, by one pass."""
    import numpy as np

    from likewise.engines.finite import raise_not_finite
    from likewise.engines.scaled import Moments

    parts: tuple[Part, Part] = ("unlabeled", "similar")
    of_rows, of_pairs = (-(-engine.count(part) // _SAMPLE) for part in parts)
    (found, rows), (left, right) = engine.map_reduce_both(
        lambda block: ([Moments.of_rows(block.tables[0])], *_spaced(block, of_rows)),
        lambda block: _spaced(block, of_pairs),
    )
    moments = Moments(found)
    if not np.isfinite(moments.variance).all():
        raise_not_finite(engine)
    return moments, np.concatenate(rows), (np.concatenate(left), np.concatenate(right))


def _spaced(block: "Block", stride: int) -> tuple[list[Any], ...]:
    first = -block.start % stride
    return tuple([table[first::stride].copy()] for table in block.tables)


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Use the Dask scheduler at an address, if one is given."""
    if address is None:
        yield
        return
    import distributed

    library: Any = distributed  # it is not typed
    with library.Client(address, timeout=_CONNECTING):
        yield


class PassBar:
    """How far a pass over rows and pairs has come, as an engine tells it.

    Parameters
    ----------
    show : callable
        Called with the number of the pass, the rows and pairs done, and how many there are.
    """

    def __init__(self, show: Callable[[int, int, int], None]) -> None:
        self._show = show
        self._number = 1
        self._done = {"unlabeled": 0, "similar": 0}
        self._total = {"unlabeled": 0, "similar": 0}

    def __call__(self, part: "Part", done: int, total: int) -> None:
        """Take note of rows or pairs that have been read; rows that begin anew begin a pass."""
        if part == "unlabeled" and done <= self._done[part]:
            self._number += 1
            self._done["similar"] = 0
        self._done[part], self._total[part] = done, total
        self._show(self._number, sum(self._done.values()), sum(self._total.values()))


@contextmanager
def _showing_passes() -> Iterator[PassBar | None]:
    """Give what an engine can tell of its rows, shown as a bar; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Opening", total=None)

        def show(number: int, done: int, total: int) -> None:
            bar.update(task, description=f"Pass {number}", completed=done, total=total)

        yield PassBar(show)
