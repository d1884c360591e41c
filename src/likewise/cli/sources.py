"""Rows that stay in Parquet files, for ``fit --engine``: options, a scheduler and a bar."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.magnitudes import check_magnitudes

if TYPE_CHECKING:
    from likewise.engines import Part
    from likewise.engines.files import SourceInputs

__all__ = [
    "EngineName",
    "EngineOption",
    "PassBar",
    "SchedulerOption",
    "learn_from_files",
    "open_inputs",
]

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


@contextmanager
def open_inputs(
    table: Path,
    pairs: Path,
    *,
    engine: EngineName,
    scheduler: str | None,
    id_column: str | None,
    keep: Sequence[str] | None,
    drop: Sequence[str],
    as_statements: bool = False,
) -> "Iterator[SourceInputs]":
    """Open Parquet files of rows and pairs; while they are read, a bar shows how far it is."""
    from likewise.engines.files import choose_columns, open_files, open_statements

    if scheduler is not None and engine is not EngineName.DASK:
        raise ValueError("--scheduler is the address of a Dask scheduler: add --engine dask.")
    columns = choose_columns(
        table,
        pairs,
        id_column=id_column,
        keep=keep,
        drop=drop,
        as_statements=as_statements,
        check=check_magnitudes,
    )
    opened = open_statements if as_statements and columns.by_ids else open_files
    with _cluster(scheduler), _showing_passes() as show:
        yield opened(pairs, columns, by_dask=engine is EngineName.DASK, on_rows=show)


def learn_from_files(pipeline: Any, inputs: "SourceInputs", known: Any = None) -> None:
    """Fit a pipeline of a transformer and a classifier to all rows, by passes over them."""
    from likewise import PairClassifier, SUClassifierCV

    transformer, classifier = pipeline[0], pipeline[-1]
    if isinstance(classifier, PairClassifier):
        classifier.set_params(features="linear")
    if isinstance(classifier, SUClassifierCV):
        classifier.set_params(cv=classifier.cv.n_splits)  # rows are dealt in turn
    if transformer != "passthrough":
        classifier.fit(inputs.scaled(transformer))
    elif known is not None:
        classifier.fit(inputs.source(), known=known)
    else:
        classifier.fit(inputs.source())
    # The columns are chosen by name before the pipeline, which sees an array.
    del classifier.feature_names_in_


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
