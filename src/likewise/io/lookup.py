"""Ids in a second file: which rows of the table they mean."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import Column, first_true, import_pyarrow
from likewise.io.columns import open_columns
from likewise.io.parquet import ParquetFiles
from likewise.io.tables import Table
from likewise.io.wording import counted, listed, shown

__all__ = ["check_filled", "find_columns", "find_rows", "text_columns"]


def text_columns(path: Path, wanted: Sequence[str]) -> tuple[dict[str, Column], tuple[str, ...]]:
    """Read columns of a file as text, by names that count in any case and with blanks around.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file, or a folder of Parquet files.
    wanted : names in lower case
        Columns that have a meaning; others are not looked at.

    Returns
    -------
    dict of pyarrow arrays of text
        Those of the wanted columns that there are.
    tuple of str
        The names of all columns, as they are written.
    """
    file = open_columns(path)
    stored = find_columns(path, file.names, wanted)
    if isinstance(file, ParquetFiles):
        return {name: file.read_ids(column)[1] for name, column in stored.items()}, file.names
    columns = file.read(text=file.names)
    return {name: columns[column] for name, column in stored.items()}, file.names


def find_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Return how the wanted columns are written, each of which may be there once.

    Parameters
    ----------
    path : Path
        For the message.
    names : names
        Of all columns.
    wanted : names in lower case
    """
    found: dict[str, str] = {}
    for name in names:
        meaning = name.strip().lower()
        if meaning in found:
            raise ValueError(
                f"{shown(path)} has two columns that mean {meaning}, "
                f"{listed([found[meaning], name])}; rename or remove one of them."
            )
        if meaning in wanted:
            found[meaning] = name
    return found


def find_rows(path: Path, table: Table, *columns: Column) -> NDArray[np.int64]:
    """Return the rows that ids mean, or name the ids that are not in the table.

    Parameters
    ----------
    path : Path
        The file that the ids are from, for messages.
    table : Table
    *columns : pyarrow arrays of text
        Ids, n in each.

    Returns
    -------
    integer array of shape (n, n_columns)
    """
    pc = import_pyarrow().compute
    found = [
        pc.fill_null(pc.index_in(ids, value_set=table.keys), -1).to_numpy(zero_copy_only=False)
        for ids in columns
    ]
    rows = np.column_stack(found).astype(np.int64)
    if rows.min() >= 0:
        return rows
    unknown = pc.unique(
        import_pyarrow().concat_arrays(
            [ids.filter(index < 0) for ids, index in zip(columns, found, strict=True)]
        )
    )
    examples = [
        f"{_quoted(ids[int(row)].as_py())} (row {row + 1})"
        for row in np.flatnonzero((rows < 0).any(axis=1))[:3]
        for ids, index in zip(columns, found, strict=True)
        if index[row] < 0
    ]
    raise ValueError(
        f"{shown(path)} names {counted(len(unknown), 'id')} not found in {shown(table.path)} (ids "
        f"are compared as text), such as {', '.join(examples[:3])}."
    )


def _quoted(name: str | None) -> str:
    return "a missing id" if name is None else listed([name])


def check_filled(path: Path, name: str, column: Column) -> None:
    """Refuse a column of text with an empty cell."""
    pc = import_pyarrow().compute
    blank = first_true(pc.equal(pc.utf8_trim_whitespace(pc.fill_null(column, "")), ""))
    if blank is not None:
        raise ValueError(
            f"{shown(path)}, row {blank + 1}: the {name} is missing; fill it in, or leave the row "
            "out."
        )
