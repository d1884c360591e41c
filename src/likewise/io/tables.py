"""Tables: files of rows, each with an id of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.io.arrow import Column, first_true, import_pyarrow
from likewise.io.columns import open_columns
from likewise.io.files import PathName
from likewise.io.parquet import ParquetColumns, ParquetFiles
from likewise.io.wording import counted, listed, shown

__all__ = ["Table", "find_id_column", "read_table"]


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
        The ids as text, by which rows are looked up; each is there once. Whole numbers are written
        without a decimal point, whatever their type: 7 and 7.0 are "7", and neither is "007".
    columns : dict of pyarrow arrays
        Every other column by name, not yet checked: it may not be used. Those of Parquet files are
        read when they are first asked for.
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
        cls,
        path: Path,
        id_column: str,
        ids: Column,
        keys: Column,
        columns: Mapping[str, Column] | None = None,
    ) -> "Table":
        """Return a table of rows with ids, each of which must be there once."""
        if not len(ids):
            raise ValueError(f"{shown(path)} has column names but no rows.")
        _check_ids(path, id_column, keys)
        return cls(path, id_column, ids, keys, columns or {})


def read_table(
    path: PathName, *, id_column: str | None = None, text_columns: Sequence[str] = ()
) -> Table:
    r"""Read a CSV or Parquet file of rows with ids.

    Parameters
    ----------
    path : path
        A file whose name ends in ``.csv`` or ``.parquet``, or a folder of Parquet files: then every
        column that is used must be in all of them, and hold values of one kind.
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
    file = open_columns(path)
    id_column = find_id_column(path, file.names, id_column)
    if isinstance(file, ParquetFiles):
        ids, keys = file.read_ids(id_column)
        others = [name for name in file.names if name != id_column]
        return Table.of(path, id_column, ids, keys, ParquetColumns(file, others))
    columns = file.read(text=[id_column, *text_columns])
    ids = columns.pop(id_column)
    return Table.of(path, id_column, ids, ids, columns)


def find_id_column(path: PathName, names: Sequence[str], wanted: str | None) -> str:
    """Return the id column: the one that is wanted, or "id" in any case, or else the first.

    Parameters
    ----------
    path : path
        For the message.
    names : names
        Of all columns.
    wanted : str, optional
    """
    if wanted is None:
        return next((name for name in names if name.strip().lower() == "id"), names[0])
    if wanted not in names:
        raise ValueError(
            f"{shown(path)} has no id column {listed([wanted])}; its columns are {listed(names)}."
        )
    return wanted


def _check_ids(path: Path, id_column: str, keys: Column) -> None:
    pc = import_pyarrow().compute
    blank = first_true(pc.equal(pc.fill_null(keys, ""), ""))
    if blank is not None:
        raise ValueError(
            f"{shown(path)}, row {blank + 1}: the id (column {listed([id_column])}) is missing."
        )
    if pc.count_distinct(keys).as_py() == len(keys):
        return
    counts = keys.value_counts()
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()
    raise ValueError(
        f"{shown(path)} has {counted(len(twice), 'id')} more than once in column "
        f"{listed([id_column])}: {listed(twice)}; ids must be unique."
    )
