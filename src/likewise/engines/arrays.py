"""Which library an array belongs to, so that one formula serves numpy and device arrays alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["like", "namespace_of", "to_numpy"]


def namespace_of(array: Any) -> Any:
    """Return the module with the functions of the array API standard for an array."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    if type(array).__module__ == "torch":
        import torch  # it has the standard's functions, but does not announce them

        return torch
    return np


def like(array: Any, values: Any) -> Any:
    """Return numpy values in the library, precision and place of an array."""
    xp = namespace_of(array)
    if xp is np or not isinstance(values, np.ndarray):
        return values
    return xp.asarray(values, dtype=array.dtype, device=array.device)


def to_numpy(values: Any) -> NDArray[Any]:
    """Return an array of any library as one of numpy, in memory and in double precision."""
    if namespace_of(values) is np:
        return np.asarray(values)
    return np.asarray(values.cpu(), dtype=np.float64)
