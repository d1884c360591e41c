"""Rows for nets: arrays, tensors, dicts of such and datasets, taken by number.

Arrays are put on the device once; rows of a dataset are fetched batch by batch. It knows nothing of
statements.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, default_collate

from likewise.engines.rows import is_sparse

__all__ = ["Batch", "Rows", "batch_map", "read_rows"]

Batch = Any
"""A tensor, or a dict of tensors by the module's argument names; first axis: rows."""

_ON_DEVICE = 4 << 30
"""Bytes of arrays that are kept on the device; larger ones stay where they are."""


class Rows:
    """Rows that a net is fed with.

    Parameters
    ----------
    whole : tensor, dict of tensors, or Dataset
    n_rows : int
    device : str or torch.device
    """

    def __init__(self, whole: Any, n_rows: int, device: Any) -> None:
        self.n_rows = n_rows
        self.device = torch.device(device)
        self.is_dataset = isinstance(whole, Dataset)
        self.whole = whole
        if not self.is_dataset:
            parts = whole.values() if isinstance(whole, Mapping) else (whole,)
            if sum(part.nelement() * part.element_size() for part in parts) <= _ON_DEVICE:
                self.whole = batch_map(lambda part: part.to(self.device), whole)

    def take(self, numbers: Tensor | NDArray[np.intp]) -> Batch:
        """Return some rows, on the device.

        Parameters
        ----------
        numbers : integer array or Tensor
        """
        if self.is_dataset:
            picked = default_collate([_row(self.whole, int(i)) for i in numbers])
            return batch_map(lambda part: part.to(self.device), picked)
        numbers = torch.as_tensor(numbers)
        return batch_map(lambda part: part[numbers.to(part.device)].to(self.device), self.whole)

    @property
    def table(self) -> Tensor | None:
        """All rows as one table of numbers, or None where they are not such."""
        if isinstance(self.whole, Tensor) and self.whole.is_floating_point():
            return self.whole.reshape(self.n_rows, -1)
        return None


def read_rows(X: Any, device: Any) -> Rows:
    """Read what a net is to learn from, or to predict.

    Parameters
    ----------
    X : array or tensor of shape (n_rows, ...), data frame, dict of such, or torch Dataset
        Floating numbers become single precision. Items of a Dataset are rows, or tuples that begin
        with the row.
    device : str or torch.device

    Returns
    -------
    Rows
    """
    if isinstance(X, Dataset):
        return Rows(X, len(X), device)
    if isinstance(X, Mapping):
        parts = {name: _as_tensor(part) for name, part in X.items()}
        sizes = {part.shape[0] for part in parts.values()}
        if len(sizes) != 1:
            raise ValueError(f"The arrays of X must have as many rows each; got {sorted(sizes)}.")
        return Rows(parts, sizes.pop(), device)
    whole = _as_tensor(X)
    return Rows(whole, whole.shape[0], device)


def batch_map(function: Any, batch: Batch) -> Batch:
    """Apply a function to a tensor, or to every tensor of a dict."""
    if isinstance(batch, Mapping):
        return {name: function(part) for name, part in batch.items()}
    return function(batch)


def _as_tensor(part: Any) -> Tensor:
    if is_sparse(part):
        raise TypeError("Nets take dense rows: pass X.toarray(), or a torch Dataset.")
    if not isinstance(part, Tensor):
        array = np.asarray(part)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"Nets take numbers, but X has dtype {array.dtype}.")
        part = torch.as_tensor(np.ascontiguousarray(array))
    if part.is_floating_point():
        if not bool(torch.isfinite(part).all()):
            raise ValueError("X holds NaN or infinite numbers: fill gaps first.")
        part = part.float()
    if part.ndim < 1 or not part.shape[0]:
        raise ValueError("X has no rows.")
    return part


def _row(dataset: Any, number: int) -> Any:
    item = dataset[number]
    return item[0] if isinstance(item, (tuple, list)) else item
