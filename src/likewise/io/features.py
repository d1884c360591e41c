"""Features: which columns of a table to learn from, and the matrix that they make."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.exceptions import DataWarning
from likewise.io.arrow import (
    NUMBER,
    Column,
    as_numbers,
    as_text,
    first_true,
    import_pyarrow,
    is_number,
    is_text,
    type_word,
)
from likewise.io.columns import load_columns
from likewise.io.files import PathName
from likewise.io.modelfile.values import LONGEST_TEXT
from likewise.io.tables import Table
from likewise.io.wording import counted, listed, shown

__all__ = [
    "Features",
    "check_lengths",
    "check_type",
    "choose_features",
    "choose_names",
    "feature_matrix",
    "without_index",
]

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls the row numbers that it saves with a frame whose rows were filtered."""


@dataclass(frozen=True)
class Features:
    """Names of the columns to learn from, in order, which of them hold text, and if cells may lack.

    With `gaps`, an empty cell is NaN in a column of numbers and None in one of text.
    """

    names: tuple[str, ...]
    text: frozenset[str] = frozenset()
    gaps: bool = False


def choose_features(
    table: Table,
    *,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    gaps: bool = False,
) -> Features:
    """Say which columns of a table to learn from, and which of them are text.

    Parameters
    ----------
    table : Table
    keep : names, optional
        The only columns to use; by default every column but the id and an index without a name,
        which pandas saves as ``__index_level_0__``.
    drop : names, optional
        Columns to leave out.
    gaps : bool
        Whether cells may be empty.

    Returns
    -------
    Features
    """
    names = choose_names(table.path, table.id_column, list(table.columns), keep, drop)
    load_columns(table.columns, names)
    for name in names:
        check_type(table.path, name, table.columns[name].type)
    text = frozenset(name for name in names if is_text(table.columns[name].type))
    for name in names:
        if name in text:
            _warn_of_numbers_in_text(table, name)
    return Features(names, text, gaps)


def feature_matrix(table: Table, features: Features) -> NDArray[Any]:
    """Return the chosen columns as one array, in the order of `features`.

    Parameters
    ----------
    table : Table
        Its columns may stand in any order, and there may be more of them.
    features : Features

    Returns
    -------
    array of shape (len(table), len(features.names))
        Of float64, or of objects (floats and strings) where a column is text.
    """
    missing = [name for name in features.names if name not in table.columns]
    if missing:
        raise ValueError(
            f"{shown(table.path)} lacks {counted(len(missing), 'column')} that the model was "
            f"fitted on: {listed(missing)}."
        )
    load_columns(table.columns, features.names)
    for name in features.names:
        check_type(table.path, name, table.columns[name].type)
    matrix = np.empty(
        (len(table), len(features.names)), dtype=object if features.text else np.float64
    )
    for position, name in enumerate(features.names):
        read = _text_values if name in features.text else _numbers
        matrix[:, position] = read(table, name, features.gaps)
    return matrix


def choose_names(
    path: PathName,
    id_column: str | None,
    names: Sequence[str],
    keep: Sequence[str] | None,
    drop: Sequence[str],
) -> tuple[str, ...]:
    """Return the names of the columns to learn from, in order.

    Parameters
    ----------
    path : path
        Of the table, for messages.
    id_column : str, optional
    names : names
        Of all other columns.
    keep, drop
        As in `choose_features`.
    """
    there, dropped = set(names), set(drop)
    unknown = [name for name in (*(keep or ()), *drop) if name not in there]
    if id_column in unknown:
        raise ValueError(f"{listed([id_column])} is the id column of {shown(path)}, not a feature.")
    if unknown:
        raise ValueError(
            f"{shown(path)} has no column {listed(unknown)}; its columns are {listed(names)}."
        )
    chosen = without_index(names) if keep is None else keep
    left = tuple(name for name in dict.fromkeys(chosen) if name not in dropped)
    if not left:
        besides = "" if id_column is None else f" besides the id column {listed([id_column])}"
        raise ValueError(f"{shown(path)} has no column left to learn from{besides}.")
    return left


def _warn_of_numbers_in_text(table: Table, name: str) -> None:
    """Warn where one stray word makes a column of numbers into text."""
    column = table.columns[name]
    strays = import_pyarrow().compute.invert(_looks_like_number(column))
    stray = first_true(strays)
    if stray is not None and import_pyarrow().compute.sum(strays).as_py() < 0.1 * len(column):
        warnings.warn(
            f"{_cell(table, name, stray)}: {listed([column[stray].as_py()])} among numbers makes "
            "the whole column text, each value a category of its own; correct it if numbers were "
            "meant.",
            DataWarning,
            stacklevel=3,
        )


def _looks_like_number(column: Column) -> Column:
    pc = import_pyarrow().compute
    return pc.fill_null(pc.match_substring_regex(column, NUMBER.pattern), False)


def without_index(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of columns without those that pandas gives an index without a name."""
    return tuple(name for name in names if not _UNNAMED_INDEX.fullmatch(name))


def check_type(path: PathName, name: str, kind: Any) -> None:
    """Refuse a column whose values are neither numbers nor text.

    Parameters
    ----------
    path : path
        Of the table, for the message.
    name : str
    kind : pyarrow type
        Null where there is not one value: then it is refused for what is missing.
    """
    types = import_pyarrow().types
    if not (is_number(kind) or is_text(kind) or types.is_boolean(kind) or types.is_null(kind)):
        raise ValueError(
            f"{shown(path)}, column {listed([name])}: values of type {type_word(kind)} are neither "
            "numbers nor text; turn them into numbers, or leave the column out."
        )


def check_lengths(table: Table, features: Features) -> None:
    """Refuse a text to learn from that no model could hold as a category.

    Parameters
    ----------
    table : Table
    features : Features
    """
    pc = import_pyarrow().compute
    for name in features.names:
        if name not in features.text:
            continue
        lengths = pc.fill_null(pc.utf8_length(table.columns[name]), 0)
        row = first_true(pc.greater(lengths, LONGEST_TEXT))
        if row is not None:
            raise ValueError(
                f"{_cell(table, name, row)}: a text of {lengths[row].as_py():,} characters is too "
                f"long for a category, which may have {LONGEST_TEXT:,}; shorten it, or leave the "
                "column out."
            )


def _numbers(table: Table, name: str, gaps: bool) -> NDArray[np.float64]:
    pa = import_pyarrow()
    column = table.columns[name]
    if is_number(column.type) and not column.null_count:
        values = as_numbers(column)
        if np.isfinite(values).all():  # what almost every column is, and quick to see
            return values
    missing = pa.compute.is_null(column, nan_is_null=True)
    if not gaps:
        _check_no_gaps(table, name, missing)
    if is_text(column.type):
        read = pa.compute.or_(_looks_like_number(column), pa.compute.is_null(column))
        wrong = first_true(pa.compute.invert(read))
        if wrong is not None:
            raise ValueError(
                f"{_cell(table, name, wrong)}: {listed([column[wrong].as_py()])} is not a number, "
                "but the column must hold numbers."
            )
        column = pa.compute.utf8_trim_whitespace(column)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(
            f"{_cell(table, name, int(infinite[0]))}: the value is infinite; correct it or leave "
            "the row out."
        )
    return np.asarray(values, dtype=np.float64)


def _text_values(table: Table, name: str, gaps: bool) -> NDArray[np.object_]:
    pa = import_pyarrow()
    where = f"{shown(table.path)}, column {listed([name])}"
    column = as_text(table.columns[name], where)
    missing = pa.compute.equal(pa.compute.fill_null(column, ""), "")
    if gaps:
        column = pa.compute.if_else(missing, pa.scalar(None, column.type), column)
    else:
        _check_no_gaps(table, name, missing)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)


def _check_no_gaps(table: Table, name: str, missing: Column) -> None:
    first = first_true(missing)
    if first is None:
        return
    gaps = int(import_pyarrow().compute.sum(missing).as_py())
    raise ValueError(
        f"{_cell(table, name, first)}: the value is missing (the column has "
        f"{counted(gaps, 'missing value')}); fill it in, leave the row or the column out, or fit "
        "with --model trees, which takes empty cells."
    )


def _cell(table: Table, name: str, row: int) -> str:
    where = f"{shown(table.path)}, column {listed([name])}"
    return f"{where}, row with id {listed([table.keys[row].as_py()])}"
