"""Columns as pyarrow arrays; pyarrow is optional, so it is imported on first use."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.wording import shown

__all__ = [
    "NUMBER",
    "Column",
    "as_numbers",
    "as_text",
    "first_true",
    "import_pyarrow",
    "is_number",
    "is_text",
    "type_word",
]

Column = Any
"""A pyarrow array: pyarrow is optional, and it ships no types."""

NUMBER = re.compile(r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$")
"""How numbers are written in cells of text."""
_WHOLE = 2.0**63
"""Whole numbers below it are integers of 64 bits."""


def import_pyarrow() -> Any:
    """Return pyarrow with the parts used here, or say how to install it."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Tables are read and written with pyarrow, which is not installed: "
            "pip install 'likewise[cli]'."
        ) from error
    return pa


def is_text(kind: Any) -> bool:
    """Tell whether a pyarrow type is one of its types of text."""
    types = import_pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def type_word(kind: Any) -> str:
    """Return what a message calls a pyarrow type: what is inside of lists and structs is left out.

    Parameters
    ----------
    kind : pyarrow type
    """
    types = import_pyarrow().types
    if is_text(kind):
        return "text"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "list"
    return "struct" if types.is_struct(kind) else shown(kind, 80)


def is_number(kind: Any) -> bool:
    """Tell whether a pyarrow type is one of numbers; true and false are none."""
    types = import_pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def as_text(column: Column, where: str) -> Column:
    """Return values as text, whole numbers without a decimal point (pandas makes 1 into 1.0).

    What is missing stays so, and NaN counts as missing. Every value is written by itself, so that
    it is the same text whatever else is in the column.

    Parameters
    ----------
    column : pyarrow array
    where : str
        The file and the column, for the message.
    """
    pa = import_pyarrow()
    types = pa.types
    try:
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_floating(column.type):
            return _written_floats(column)
        text = column.cast(pa.large_string())
    except (pa.ArrowException, UnicodeError) as error:
        raise ValueError(
            f"{where}: values of type {type_word(column.type)} cannot be used as text or ids."
        ) from error
    return _without_zeros(text) if types.is_decimal(column.type) else text


def _written_floats(column: Column) -> Column:
    pa = import_pyarrow()
    pc = pa.compute
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    wide = column.cast(pa.float64())
    wide = pc.if_else(pc.is_nan(wide), pa.scalar(None, pa.float64()), wide)
    is_whole = pc.and_(pc.equal(pc.floor(wide), wide), pc.less(pc.abs(wide), _WHOLE))
    whole = pc.if_else(is_whole, wide, 0.0).cast(pa.int64()).cast(pa.large_string())
    return pc.if_else(is_whole, whole, column.cast(pa.large_string()))


def _without_zeros(text: Column) -> Column:
    """Return decimals without the zeros that only say how many digits their type has."""
    pc = import_pyarrow().compute
    trimmed = pc.replace_substring_regex(text, r"^(-?\d+\.\d*?)0+$", r"\1")
    return pc.replace_substring_regex(trimmed, r"\.$", "")


def as_numbers(column: Column) -> NDArray[Any]:
    """Return numbers, or true and false, as an array of numbers; what is missing becomes NaN."""
    pa = import_pyarrow()
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def first_true(mask: Column) -> int | None:
    """Return where a mask is true first, or None if it is nowhere."""
    position = int(import_pyarrow().compute.index(mask, True).as_py())
    return None if position < 0 else position
