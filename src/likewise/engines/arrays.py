"""Which library an array belongs to, so that one formula serves numpy and device arrays alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fetch", "is_tensor", "like", "namespace_of", "to_numpy"]


def namespace_of(array: Any) -> Any:
    """Return the module with the functions of the array API standard for an array."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    if is_tensor(array):
        import torch  # it has the standard's functions, but does not announce them

        return torch
    return np


def is_tensor(array: Any) -> bool:
    """Tell whether an array is a torch tensor, without loading torch."""
    return type(array).__module__ == "torch"


def like(array: Any, values: Any) -> Any:
    """Return numpy values in the library, precision and place of an array."""
    if not is_tensor(array) or not isinstance(values, np.ndarray):
        return values
    copied = namespace_of(array).asarray(values, dtype=array.dtype, copy=True)
    # Waiting for it to arrive would keep the device waiting for what comes next.
    return copied.to(array.device, non_blocking=True)


def to_numpy(values: Any) -> NDArray[Any]:
    """Return an array of any library as one of numpy, in memory and in double precision."""
    if namespace_of(values) is np:
        return np.asarray(values)
    return np.asarray(values.cpu(), dtype=np.float64)


def fetch(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return entries with all tensors among them as arrays of numpy, by one transfer."""
    tensors = [entry for entry in entries if is_tensor(entry)]
    if not tensors:
        return entries
    xp = namespace_of(tensors[0])
    flat = to_numpy(xp.concat([xp.reshape(tensor, (-1,)) for tensor in tensors]))
    ends = np.cumsum([tensor.numel() for tensor in tensors])
    pieces = iter(np.split(flat, ends[:-1]))
    return tuple(
        next(pieces).reshape(tuple(entry.shape)) if is_tensor(entry) else entry for entry in entries
    )
