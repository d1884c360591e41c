"""Columns as pyarrow arrays; pyarrow is optional, so it is imported on first use."""

from contextlib import suppress
from typing import Any

__all__ = ["Column", "as_text", "first_true", "import_pyarrow", "is_text"]

Column = Any
"""A pyarrow array: pyarrow is optional, and it ships no types."""


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


def as_text(column: Column) -> Column:
    """Return values as text, whole numbers without a decimal point (pandas makes 1 into 1.0)."""
    pa = import_pyarrow()
    if pa.types.is_floating(column.type):
        with suppress(pa.ArrowInvalid):  # raised where a value is not whole
            column = column.cast(pa.int64())
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ValueError(f"Values of type {column.type} cannot be used as text or ids.") from error


def first_true(mask: Column) -> int | None:
    """Return where a mask is true first, or None if it is nowhere."""
    position = int(import_pyarrow().compute.index(mask, True).as_py())
    return None if position < 0 else position
