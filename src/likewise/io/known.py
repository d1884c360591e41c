"""Files of known classes: what single rows of a table are."""

from pathlib import Path

import numpy as np

from likewise.io.arrow import Column
from likewise.io.files import PathName
from likewise.io.lookup import check_filled, find_rows, text_columns
from likewise.io.tables import Table
from likewise.io.wording import listed, shown

__all__ = ["read_known"]


def read_known(path: PathName, table: Table) -> list[str | None]:
    """Read the classes of a few rows of a table.

    Parameters
    ----------
    path : path
        A CSV or Parquet file with columns ``id`` and ``class``. An id may stand there more than
        once with one class.
    table : Table
        The rows that the ids mean. Ids are compared as text.

    Returns
    -------
    list of length len(table)
        The class of every row as text; None where it is not known.
    """
    path = Path(path)
    columns, all_names = text_columns(path, ("id", "class"))
    lacking = [name for name in ("id", "class") if name not in columns]
    if lacking:
        raise ValueError(
            f"{shown(path)} has no column {listed(lacking)}; a file of known classes has columns "
            f"id and class, but this one has {listed(all_names)}."
        )
    ids, names = columns["id"], columns["class"]
    if not len(ids):
        raise ValueError(f"{shown(path)} has no rows; at least one known class is needed.")
    check_filled(path, "class", names)
    rows = find_rows(path, table, ids)[:, 0]
    _check_one_class_each(path, ids, rows.tolist(), names)
    known: list[str | None] = [None] * len(table)
    for row, name in zip(rows.tolist(), names.to_pylist(), strict=True):
        known[row] = name
    return known


def _check_one_class_each(path: Path, ids: Column, rows: list[int], names: Column) -> None:
    codes = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.argsort(rows, kind="stable")
    found = np.asarray(rows)[order]
    clash = np.flatnonzero((np.diff(found) == 0) & (np.diff(codes[order]) != 0))
    if clash.size:
        first, second = (int(order[clash[0] + step]) for step in (0, 1))
        raise ValueError(
            f"{shown(path)} says of {listed([ids[first].as_py()])} both that it is "
            f"{listed([names[first].as_py()])} and that it is {listed([names[second].as_py()])} "
            f"(rows {first + 1} and {second + 1})."
        )
