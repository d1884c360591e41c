"""Ids in a second file: which rows of the table they mean."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import Column, as_text, first_true, import_pyarrow
from likewise.io.columns import column_names, read_columns
from likewise.io.tables import Table
from likewise.io.wording import counted

__all__ = ["check_filled", "find_rows", "text_columns"]


def text_columns(path: Path) -> dict[str, Column]:
    """Read all columns of a file as text, by their names in lower case without blanks around."""
    columns = read_columns(path, text_columns=column_names(path))
    return {name.strip().lower(): as_text(column) for name, column in columns.items()}


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
        f"{ids[int(row)].as_py()!r} (row {row + 1})"
        for row in np.flatnonzero((rows < 0).any(axis=1))[:3]
        for ids, index in zip(columns, found, strict=True)
        if index[row] < 0
    ]
    raise ValueError(
        f"{path} names {counted(len(unknown), 'id')} not found in {table.path} (ids are compared "
        f"as text), such as {', '.join(examples[:3])}."
    )


def check_filled(path: Path, name: str, column: Column) -> None:
    """Refuse a column of text with an empty cell."""
    pc = import_pyarrow().compute
    blank = first_true(pc.equal(pc.utf8_trim_whitespace(pc.fill_null(column, "")), ""))
    if blank is not None:
        raise ValueError(
            f"{path}, row {blank + 1}: the {name} is missing; fill it in, or leave the row out."
        )
