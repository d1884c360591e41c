"""Tables: files of rows, each with an id of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.io.arrow import Column, as_text, first_true, import_pyarrow
from likewise.io.columns import column_names, read_columns
from likewise.io.files import PathName
from likewise.io.wording import counted, listed

__all__ = ["Table", "read_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, and the ids of its rows.

    Attributes
    ----------
    path : Path
        The file, for messages.
    id_column : str
    ids : pyarrow array
        As they stand in the file.
    keys : pyarrow array of text
        The ids as text, by which rows are looked up; each is there once.
    columns : dict of pyarrow arrays
        Every other column by name, not yet checked: it may not be used.
    """

    path: Path
    id_column: str
    ids: Column
    keys: Column
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(
        cls, path: Path, id_column: str, ids: Column, columns: Mapping[str, Column] | None = None
    ) -> "Table":
        """Return a table of rows with ids, each of which must be there once."""
        if not len(ids):
            raise ValueError(f"{path} has column names but no rows.")
        keys = as_text(ids)
        _check_ids(path, id_column, keys)
        return cls(path, id_column, ids, keys, columns or {})


def read_table(
    path: PathName, *, id_column: str | None = None, text_columns: Sequence[str] = ()
) -> Table:
    r"""Read a CSV or Parquet file of rows with ids.

    Parameters
    ----------
    path : path
        A file whose name ends in ``.csv`` or ``.parquet``.
    id_column : str, optional
        By default the column called "id" in any case, or else the first one.
    text_columns : names, optional
        Columns to read as text even where all their values look like numbers.

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from likewise.io import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("id,height,colour\n007,1.5,red\n8,1.6,blue\n")
    ...     table = read_table(path)
    >>> table.keys.to_pylist(), list(table.columns)
    (['007', '8'], ['height', 'colour'])
    """
    path = Path(path)
    names = column_names(path)
    id_column = _find_id_column(path, names, id_column)
    columns = read_columns(path, text_columns=[id_column, *text_columns])
    return Table.of(path, id_column, columns.pop(id_column), columns)


def _find_id_column(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is None:
        return next((name for name in names if name.strip().lower() == "id"), names[0])
    if wanted not in names:
        raise ValueError(f"{path} has no id column {wanted!r}; its columns are {listed(names)}.")
    return wanted


def _check_ids(path: Path, id_column: str, keys: Column) -> None:
    pc = import_pyarrow().compute
    blank = first_true(pc.equal(pc.fill_null(keys, ""), ""))
    if blank is not None:
        raise ValueError(f"{path}, row {blank + 1}: the id (column {id_column!r}) is missing.")
    if pc.count_distinct(keys).as_py() == len(keys):
        return
    counts = keys.value_counts()
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()
    raise ValueError(
        f"{path} has {counted(len(twice), 'id')} more than once in column {id_column!r}: "
        f"{listed(twice)}; ids must be unique."
    )
