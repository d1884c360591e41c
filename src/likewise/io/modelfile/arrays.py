"""Arrays in model files: numpy's format, of few types of numbers, with a header of one form.

The header is compared with a pattern and never evaluated, and an array is read only where its
declared size is that of its member.
"""

import io
import re
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.modelfile.failures import UnfitError

__all__ = ["DTYPES", "HEADER_LIMIT", "array_bytes", "array_of", "parse_header"]

DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
"""Types of numbers that a model file may hold."""
HEADER_LIMIT = 512
"""Bytes from which every header can be read."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([|<][biuf][1248])', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n",
    re.DOTALL,
)
_SHAPE = re.compile(r"|\d{1,15},|\d{1,15}(, \d{1,15}){1,3}")


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array of numbers as a file.

    Parameters
    ----------
    array : array
        Of a type in `DTYPES`, or of one that differs from it by the order of bytes.
    """
    stream = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    np.lib.format.write_array(stream, plain, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def parse_header(start: bytes, size: int) -> tuple[str, tuple[int, ...], int]:
    """Return type, shape and position of the numbers of an array.

    Parameters
    ----------
    start : bytes
        The first bytes of the file, `HEADER_LIMIT` of them if there are so many.
    size : int
        Number of bytes of the whole file, which must be what header and numbers need.
    """
    found = _HEADER.match(start)
    if found is None:
        raise UnfitError("has a header that likewise does not write")
    length, dtype, shape_text = found[1], found[2].decode(), found[3].decode()
    if dtype not in DTYPES or not _SHAPE.fullmatch(shape_text):
        raise UnfitError("has a header that likewise does not write")
    shape = tuple(int(part) for part in shape_text.replace(",", " ").split())
    if len(shape) > 1 and 0 in shape:  # rows without an end, of which none takes a byte
        raise UnfitError(f"has the shape {shape}, which holds nothing")
    if found.end() != 10 + int.from_bytes(length, "little"):
        raise UnfitError("has a header of another length than it says")
    if size != found.end() + prod(shape) * np.dtype(dtype).itemsize:
        raise UnfitError(f"has {size:,} bytes, which is not what its shape {shape} needs")
    return dtype, shape, found.end()


def array_of(
    fill: Callable[[memoryview], None], dtype: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return the numbers of an array file whose header was parsed.

    Parameters
    ----------
    fill : callable
        Writes the bytes after the header into the memory that it is given.
    dtype, shape
        As `parse_header` returned them.
    """
    content = np.empty(prod(shape) * np.dtype(dtype).itemsize, dtype=np.uint8)
    fill(content.data)
    if dtype == "|b1" and content.max(initial=0) > 1:
        raise UnfitError("holds truth values that are neither true nor false")
    values = content.view(dtype).reshape(shape)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
