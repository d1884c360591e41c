"""Features: which columns of a table to learn from, and the matrix that they make."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import Column, as_text, first_true, import_pyarrow, is_text
from likewise.io.tables import Table
from likewise.io.wording import counted, listed

__all__ = ["Features", "choose_features", "feature_matrix"]

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
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
    _check_names(table, [*(keep or ()), *drop])
    chosen = _default_names(table) if keep is None else dict.fromkeys(keep)
    names = tuple(name for name in chosen if name not in drop)
    if not names:
        raise ValueError(
            f"{table.path} has no column left to learn from besides the id column "
            f"{table.id_column!r}."
        )
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
            f"{table.path} lacks {counted(len(missing), 'column')} that the model was fitted on: "
            f"{listed(missing)}."
        )
    matrix = np.empty(
        (len(table), len(features.names)), dtype=object if features.text else np.float64
    )
    for position, name in enumerate(features.names):
        _check_type(table, name)
        read = _text_values if name in features.text else _numbers
        matrix[:, position] = read(table, name, features.gaps)
    return matrix


def _default_names(table: Table) -> list[str]:
    return [name for name in table.columns if not _UNNAMED_INDEX.fullmatch(name)]


def _check_names(table: Table, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in table.columns]
    if table.id_column in unknown:
        raise ValueError(f"{table.id_column!r} is the id column of {table.path}, not a feature.")
    if unknown:
        raise ValueError(
            f"{table.path} has no column {listed(unknown)}; its columns are "
            f"{listed(list(table.columns))}."
        )


def _warn_of_numbers_in_text(table: Table, name: str) -> None:
    """Warn where one stray word makes a column of numbers into text."""
    column = table.columns[name]
    strays = import_pyarrow().compute.invert(_looks_like_number(column))
    stray = first_true(strays)
    if stray is not None and import_pyarrow().compute.sum(strays).as_py() < 0.1 * len(column):
        warnings.warn(
            f"{_cell(table, name, stray)}: {column[stray].as_py()!r} among numbers makes the whole "
            "column text, each value a category of its own; correct it if numbers were meant.",
            stacklevel=3,
        )


def _looks_like_number(column: Column) -> Column:
    pc = import_pyarrow().compute
    return pc.fill_null(pc.match_substring_regex(column, _NUMBER), False)


def _is_number(kind: Any) -> bool:
    types = import_pyarrow().types
    # A column without one value has the type null: it is refused for its missing values.
    return any(
        test(kind)
        for test in (
            types.is_boolean,
            types.is_integer,
            types.is_floating,
            types.is_decimal,
            types.is_null,
        )
    )


def _check_type(table: Table, name: str) -> None:
    kind = table.columns[name].type
    if not (_is_number(kind) or is_text(kind)):
        raise ValueError(
            f"{table.path}, column {name!r}: values of type {kind} are neither numbers nor text; "
            "turn them into numbers, or leave the column out."
        )


def _numbers(table: Table, name: str, gaps: bool) -> NDArray[np.float64]:
    pa = import_pyarrow()
    column = table.columns[name]
    missing = pa.compute.is_null(column, nan_is_null=True)
    if not gaps:
        _check_no_gaps(table, name, missing)
    if is_text(column.type):
        read = pa.compute.or_(_looks_like_number(column), pa.compute.is_null(column))
        wrong = first_true(pa.compute.invert(read))
        if wrong is not None:
            raise ValueError(
                f"{_cell(table, name, wrong)}: {column[wrong].as_py()!r} is not a number, but "
                "the column must hold numbers."
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
    column = as_text(table.columns[name])
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
    return f"{table.path}, column {name!r}, row with id {table.keys[row].as_py()!r}"
