"""The columns of a CSV or Parquet file, or of a folder of Parquet files, whatever they mean."""

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from likewise.io.arrow import NUMBER, Column, import_pyarrow, is_text
from likewise.io.parquet import ParquetColumns, ParquetFiles
from likewise.io.schemas import check_names
from likewise.io.wording import first_line, shown

__all__ = ["CsvFile", "load_columns", "open_columns", "table_suffix"]

_SMALLEST_BLOCK = 1 << 20
_LARGEST_BLOCK = (1 << 31) - 1
"""Bytes that pyarrow's reader takes at once."""
_MANY_COLUMNS = 1000
_LINES_PER_BLOCK = 64
"""At least, as long as the first: every block costs time for each of its columns."""


def table_suffix(path: Path) -> str:
    """Return ``.csv`` or ``.parquet``, or refuse a file of any other name."""
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".parquet"}:
        raise ValueError(
            f"{shown(path)} is neither a .csv nor a .parquet file by its name; tables are one of "
            "the two."
        )
    return suffix


def open_columns(path: Path) -> "CsvFile | ParquetFiles":
    """Open a CSV or Parquet file, or a folder of Parquet files: the names of its columns are read.

    Parameters
    ----------
    path : Path

    Returns
    -------
    CsvFile or ParquetFiles
        Both have `names`, each once.
    """
    if path.is_dir():
        return ParquetFiles.of(path, str(path))
    suffix = table_suffix(path)
    with path.open("rb") as stream:  # what cannot be opened says why before anyone parses it
        if not stream.read(1):
            raise ValueError(f"{shown(path)} is empty.")
    return CsvFile(path) if suffix == ".csv" else ParquetFiles.of(path, str(path))


def load_columns(columns: Mapping[str, Column], names: Sequence[str]) -> None:
    """Read columns together if they are not in memory yet."""
    if isinstance(columns, ParquetColumns):
        columns.load(names)


class CsvFile:
    """A CSV file with a line of names.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.names = tuple(_csv_line(path, 0))
        if not self.names:
            raise ValueError(f"{shown(path)} has no columns.")
        check_names(path, self.names)

    def read(self, text: Sequence[str] = ()) -> dict[str, Column]:
        """Read all columns.

        Parameters
        ----------
        text : names, optional
            Of columns to read as text even where their values look like numbers.
        """
        as_text = dict.fromkeys(text, import_pyarrow().large_string())
        table = self._read({**self._expected(), **as_text})
        if table is None:
            table = self._read(as_text)
        return dict(zip(self.names, map(_in_one_piece, table.columns), strict=True))

    def _expected(self) -> dict[str, Any]:
        """Return the columns that hold numbers by the first row.

        To find out what a column holds takes pyarrow longer than to read it.
        """
        if len(self.names) < _MANY_COLUMNS:
            return {}
        cells = zip(self.names, _csv_line(self._path, 1), strict=False)
        number = import_pyarrow().float64()
        return {name: number for name, cell in cells if NUMBER.match(cell)}

    def _read(self, types: dict[str, Any], block_size: int = 0) -> Any:
        """Return the table; None if a column does not hold what is expected."""
        pa = import_pyarrow()
        block_size = block_size or self._block_size()
        try:
            with self._path.open("rb") as stream:
                return pa.csv.read_csv(
                    stream,
                    # One thread: only then do errors name the line, and it is quick enough.
                    read_options=pa.csv.ReadOptions(use_threads=False, block_size=block_size),
                    parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                    convert_options=pa.csv.ConvertOptions(column_types=types),
                )
        except pa.ArrowException as error:
            if "straddling" in str(error) and block_size < self._path.stat().st_size:
                # A line is longer than a block.
                return self._read(types, min(16 * block_size, _LARGEST_BLOCK))
            if "conversion error to double" in str(error):
                return None
            raise ValueError(
                f"{shown(self._path)} is not a well-formed CSV file: {first_line(error)}."
            ) from error

    def _block_size(self) -> int:
        line = sum(len(name.encode()) + 1 for name in self.names)
        return min(max(_LINES_PER_BLOCK * line, _SMALLEST_BLOCK), _LARGEST_BLOCK)


def _csv_line(path: Path, number: int) -> list[str]:
    """Return the cells of one of the first lines that hold any; none if there is no such line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = (line for line in csv.reader(stream) if line)
            return next(islice(lines, number, None), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{shown(path)} is not a CSV file in UTF-8: {first_line(error)}."
        ) from error


def _in_one_piece(column: Any) -> Column:
    if is_text(column.type):
        column = column.cast(import_pyarrow().large_string())  # chunks together may be over 2 GiB
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
