"""The columns of a CSV or Parquet file by name, whatever they mean."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from likewise.io.arrow import Column, import_pyarrow, is_text
from likewise.io.wording import first_line, listed

__all__ = ["column_names", "read_columns", "table_suffix"]


def table_suffix(path: Path) -> str:
    """Return ``.csv`` or ``.parquet``, or refuse a file of any other name."""
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".parquet"}:
        raise ValueError(
            f"{path} is neither a .csv nor a .parquet file by its name; tables are one of the two."
        )
    return suffix


def column_names(path: Path) -> list[str]:
    """Return the names of the columns, each once, from a file that has some."""
    suffix = table_suffix(path)
    with path.open("rb") as stream:  # what cannot be opened says why before anyone parses it
        if not stream.read(1):
            raise ValueError(f"{path} is empty.")
    names = _csv_names(path) if suffix == ".csv" else _parquet_names(path)
    if not names:
        raise ValueError(f"{path} has no columns.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has more than one column called {listed(twice)}.")
    return names


def read_columns(path: Path, text_columns: Sequence[str]) -> dict[str, Column]:
    """Read all columns, those named in `text_columns` as text where the file is CSV."""
    table = _read_csv(path, text_columns) if table_suffix(path) == ".csv" else _read_parquet(path)
    return {name: _in_one_piece(table.column(name)) for name in table.column_names}


def _csv_names(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return next((row for row in csv.reader(stream) if row), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a CSV file in UTF-8: {first_line(error)}.") from error


def _read_csv(path: Path, text_columns: Sequence[str]) -> Any:
    pa = import_pyarrow()
    try:
        return pa.csv.read_csv(
            path,
            # One thread: only then do errors name the line, and reading is not what takes long.
            read_options=pa.csv.ReadOptions(use_threads=False),
            parse_options=pa.csv.ParseOptions(newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(text_columns, pa.large_string())
            ),
        )
    except pa.ArrowException as error:
        raise ValueError(f"{path} is not a well-formed CSV file: {first_line(error)}.") from error


def _parquet_names(path: Path) -> list[str]:
    pa = import_pyarrow()
    try:
        return list(pa.parquet.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        _raise_not_parquet(path, error)


def _read_parquet(path: Path) -> Any:
    pa = import_pyarrow()
    try:
        return pa.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        _raise_not_parquet(path, error)


def _raise_not_parquet(path: Path, error: Exception) -> NoReturn:
    raise ValueError(f"{path} cannot be read as a Parquet file: {first_line(error)}.") from error


def _in_one_piece(column: Column) -> Column:
    pa = import_pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        column = column.cast(pa.large_string())  # no limit of 2 GiB when chunks are joined
    return column.combine_chunks()
