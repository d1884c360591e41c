"""Classes of single rows that users know: what names the classes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Known", "is_missing", "read_known"]


@dataclass(frozen=True)
class Known:
    """What is known of single rows.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Names of the classes, in order.
    codes : integer array of shape (n_rows,)
        Position of each row's class among these; -1 where nothing is known.
    """

    classes: NDArray[Any]
    codes: NDArray[np.intp]


def read_known(known: Any, n_rows: int, n_classes: int) -> Known | None:
    """Read one class, or None, per row.

    Parameters
    ----------
    known : sequence of length n_rows, or None
        A class for rows whose class is known; None or NaN for all others.
    n_rows, n_classes : int

    Returns
    -------
    Known or None
        None if nothing is known. Classes that no row is known of are called "other" (beside numbers
        they get the next numbers).
    """
    if known is None:
        return None
    values = list(known)
    if len(values) != n_rows:
        raise ValueError(
            f"known needs one class or None for each of the {n_rows} rows; got {len(values)}."
        )
    is_known = np.array([not is_missing(value) for value in values], dtype=bool)
    if not is_known.any():
        return None
    names = _names(value for value, here in zip(values, is_known, strict=True) if here)
    if names.dtype.kind == "b":  # the two are named by one of them
        found, positions = np.array([False, True]), names.astype(np.intp)
    else:
        found, positions = np.unique(names, return_inverse=True)
    if found.size > n_classes:
        shown = ", ".join(map(repr, found.tolist()[:6]))
        raise ValueError(
            f"known names {found.size} classes ({shown}), but n_classes={n_classes}; pass "
            f"n_classes={found.size}, or correct the names."
        )
    codes = np.full(n_rows, -1, dtype=np.intp)
    codes[is_known] = positions
    return Known(_completed(found, n_classes), codes)


def _names(values: Iterable[Any]) -> NDArray[Any]:
    listed = list(values)
    if any(isinstance(value, str) for value in listed):
        if not all(isinstance(value, str) for value in listed):
            raise ValueError("known holds text beside numbers; name all classes in one way.")
        return np.array(listed, dtype=str)
    names = np.array(listed)
    if names.ndim != 1 or names.dtype.kind not in "biuf":
        raise ValueError("known must hold one class name or number, or None, per row.")
    return names


def _completed(found: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Add names for classes that no row is known of."""
    n_missing = n_classes - found.size
    if not n_missing:
        return found
    if found.dtype.kind == "U":
        candidates = ["other", *(f"other {k}" for k in range(2, n_classes + found.size + 1))]
        free = [name for name in candidates if name not in found]
        return np.array([*found.tolist(), *free[:n_missing]])
    whole = np.floor(found) if found.dtype.kind == "f" else found.astype(np.int64)
    return np.concatenate([found, whole.max() + 1 + np.arange(n_missing)])


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, which is not even like itself, or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except TypeError:  # NA does not say
        return True
    except ValueError:  # several values
        return False
