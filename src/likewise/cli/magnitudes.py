"""Cells too large or too small to compute with: named by file, column and row, before any work."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise._types import FloatArray
    from likewise.io import Features
    from likewise.io.tables import Table

__all__ = ["check_largest", "check_made", "check_magnitudes"]

_LARGEST = 1e140
"""Squares of larger numbers, and sums of them, overflow; those of smaller inverses vanish."""


def check_magnitudes(table: "Table", features: "Features", X: Any) -> None:
    """Refuse a table to learn from with a cell, or a whole column, whose squares are no numbers.

    Parameters
    ----------
    table : Table
        For messages.
    features : Features
    X : array of shape (n_rows, n_columns)
        The columns of `features`, in their order.
    """
    from likewise.io.wording import shown

    check_largest(table, features, X)
    for name, sizes in _sizes(features, X):
        largest = float(sizes.max(initial=0.0))
        if 0 < largest < 1.0 / _LARGEST:
            raise ValueError(
                f"{shown(table.path)}, column '{shown(name)}': no value is farther from zero than "
                f"{largest:g}, which is too small to compute with; give it in another unit, or "
                "leave the column out."
            )


def check_largest(table: "Table", features: "Features", X: Any) -> None:
    """Refuse a table with a cell whose square is no number; parameters as above."""
    from likewise.io.wording import shown

    for name, sizes in _sizes(features, X):
        if sizes.max(initial=0.0) <= _LARGEST:
            continue
        row = int(sizes.argmax())
        raise ValueError(
            f"{shown(table.path)}, column '{shown(name)}', row with id "
            f"'{shown(table.keys[row].as_py())}': a value of {sizes[row]:g}, whatever its sign, is "
            "too large to compute with; correct it, or leave the row or the column out."
        )


def check_made(model: Path, table: Path, rows: Any) -> None:
    """Refuse what the steps of a model make of rows, where squares of it are no numbers.

    Parameters
    ----------
    model, table : Path
        For messages.
    rows : table of shape (n_rows, n_columns)
        As the last step takes them; of text, which no step made numbers of, nothing is asked.
    """
    import numpy as np

    from likewise.io.wording import shown

    values = np.asarray(getattr(rows, "data", rows) if hasattr(rows, "tocsr") else rows)
    if values.dtype.kind != "f" or not values.size:
        return
    largest = float(np.abs(values).max())
    if not largest <= _LARGEST:
        raise ValueError(
            f"{shown(model)} makes numbers of up to {largest:g} of the rows of {shown(table)}, too "
            "large to compute with; fit the model again."
        )


def _sizes(features: "Features", X: Any) -> "Iterator[tuple[str, FloatArray]]":
    """Yield the columns of numbers with their absolute values; a gap counts as zero."""
    import numpy as np

    for place, name in enumerate(features.names):
        if name not in features.text:
            yield (
                name,
                np.nan_to_num(np.abs(np.asarray(X[:, place], dtype=np.float64)), posinf=None),
            )
