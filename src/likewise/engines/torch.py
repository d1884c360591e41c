"""The torch engine: rows on a device, summed there in their own precision.

Sums of blocks come back to the host and are added up in double precision.
"""

from typing import Any

import numpy as np

from likewise.engines.arrays import to_numpy
from likewise.engines.base import Block, Engine, Kernel, Part, Sums, add_sums
from likewise.engines.joining import check_not_selves
from likewise.engines.source import PairSource

_BLOCK_ENTRIES = 1 << 28
"""Numbers in a block: 1 GiB in single precision; waiting for many small sums costs more."""


class TorchEngine(Engine):
    """Rows and pairs in tensors.

    Parameters
    ----------
    unlabeled : tensor of shape (n_rows, n_features)
    similar : pair of tensors of shape (n_pairs, n_features)
        Left and right members, aligned, on the same device.
    """

    def __init__(self, unlabeled: Any, similar: tuple[Any, Any]) -> None:
        self._tables: dict[Part, tuple[Any, ...]] = {
            "unlabeled": (unlabeled,),
            "similar": similar,
        }

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._tables["unlabeled"][0].shape[1])

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of similar pairs."""
        return int(self._tables[part][0].shape[0])

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        size = max(1, _BLOCK_ENTRIES // self.n_features)
        starts = range(0, self.count(part), size)
        return add_sums(self._fetch(part, kernel, start, size) for start in starts)

    def _fetch(self, part: Part, kernel: Kernel, start: int, size: int) -> Sums:
        tables = tuple(table[start : start + size] for table in self._tables[part])
        sums = kernel(Block(tables, start))
        return tuple(entry if isinstance(entry, list) else to_numpy(entry) for entry in sums)


def open_torch(source: PairSource) -> TorchEngine:
    """Return the engine of tensors; pairs are brought to the device of the unlabeled rows."""
    import torch

    rows, similar = source.unlabeled, source.similar
    if rows.ndim != 2 or not rows.is_floating_point():
        raise ValueError(
            f"`unlabeled` must be a table of floating-point numbers, not {rows.dtype} of shape "
            f"{tuple(rows.shape)}."
        )
    if not (isinstance(similar, tuple) and len(similar) == 2):
        numbers = torch.as_tensor(np.asarray(similar), device=rows.device)
        if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.is_floating_point():
            raise ValueError(
                "`similar` must be two tensors (A, B) or row numbers of shape (n, 2); got shape "
                f"{tuple(numbers.shape)} and {numbers.dtype}."
            )
        _check_row_numbers(numbers, rows.shape[0])
        check_not_selves(*numbers.cpu().numpy().T)
        similar = rows[numbers[:, 0]], rows[numbers[:, 1]]
    left, right = (side.to(rows) for side in similar)
    if left.shape != right.shape or left.shape[1:] != rows.shape[1:]:
        raise ValueError(
            f"`similar` has tables of shape {tuple(left.shape)} and {tuple(right.shape)}, but the "
            f"unlabeled rows have {rows.shape[1]} columns."
        )
    return TorchEngine(rows, (left, right))


def _check_row_numbers(numbers: Any, n_rows: int) -> None:
    outside = ((numbers < 0) | (numbers >= n_rows)).any(dim=1).nonzero()
    if len(outside):
        first = int(outside[0])
        raise ValueError(
            f"Pair {first} names rows {numbers[first].tolist()}, but there are rows 0 to "
            f"{n_rows - 1}."
        )
