"""The torch engine: rows on a device, summed there in their own precision.

Sums of blocks are added up on the device in double precision, and come to the host once in a pass.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines.arrays import fetch, is_tensor
from likewise.engines.base import Block, Engine, Kernel, Part, Sums, add_sums
from likewise.engines.joining import (
    NamedPairs,
    are_named,
    check_not_selves,
    members_of,
    positions_by_numbers,
)
from likewise.engines.source import PairSource

_HOST_BYTES = 1 << 25
"""Size of a block in the memory of the host."""
_DEVICE_BYTES = 1 << 30
"""Size of a block on a device at most: smaller ones would slow it down."""
_SHARE_OF_MEMORY = 32
"""A block takes at most this part of the memory of a device: some kernels copy it several times."""
_FRUGAL_BYTES = 1 << 34
"""Size of a block for kernels that copy nothing."""
_ROUND_ROWS = 122_880
"""Large blocks have a multiple of it, which leaves no row over in the pieces of up to six folds."""


class TorchEngine(Engine):
    """Rows and pairs in tensors.

    Parameters
    ----------
    unlabeled : tensor of shape (n_rows, n_features)
    pairs : dict from part to two tensors of shape (n_pairs, n_features), or NamedPairs
        Left and right members of each kind of pairs, aligned, on the same device.
    """

    def __init__(self, unlabeled: Any, pairs: Mapping[Part, Any]) -> None:
        self._unlabeled = unlabeled
        self._pairs = dict(pairs)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._unlabeled.shape[1])

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""
        if part == "unlabeled":
            return len(self._unlabeled)
        pairs = self._pairs.get(part, ((),))
        return len(pairs if isinstance(pairs, NamedPairs) else pairs[0])

    def statements(self) -> dict[Part, NDArray[np.intp]] | None:
        """Return the pairs of each kind as row numbers, if they were given so."""
        return positions_by_numbers(self._pairs) if are_named(self._pairs.values()) else None

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        return fetch(self._add_up(part, kernel))

    def _sum_over_parts(self, kernels: Mapping[Part, Kernel], *, frugal: bool) -> dict[Part, Sums]:
        """Sum over all parts before anything is fetched, so that the device does not wait."""
        sums = {part: self._add_up(part, kernel, frugal=frugal) for part, kernel in kernels.items()}
        fetched = iter(fetch(tuple(chain.from_iterable(sums.values()))))
        return {part: tuple(islice(fetched, len(entries))) for part, entries in sums.items()}

    def _add_up(self, part: Part, kernel: Kernel, *, frugal: bool = False) -> Sums:
        """Sum a kernel over a part, on the device."""
        return add_sums(_in_double(kernel(block)) for block in self._blocks(part, frugal=frugal))

    def _blocks(self, part: Part, *, frugal: bool) -> Iterator[Block]:
        whole = (self._unlabeled,) if part == "unlabeled" else members_of(self._pairs[part])
        size = _block_rows(whole[0], frugal=frugal)
        for start in range(0, self.count(part), size):
            block = Block(tuple(table[start : start + size] for table in whole), start)
            yield block
            self._tell(part, block.rows.stop)


def _block_rows(table: Any, *, frugal: bool) -> int:
    """Return how many rows of a table to read at once."""
    n_bytes = _HOST_BYTES
    if table.is_cuda:
        import torch

        memory = torch.cuda.get_device_properties(table.device).total_memory
        n_bytes = _FRUGAL_BYTES if frugal else min(_DEVICE_BYTES, memory // _SHARE_OF_MEMORY)
    n_rows: int = max(1, n_bytes // (table.shape[1] * table.element_size()))
    return n_rows - n_rows % _ROUND_ROWS if n_rows > _ROUND_ROWS else n_rows


def open_torch(source: PairSource) -> TorchEngine:
    """Return the engine of tensors; pairs are brought to the device of the unlabeled rows."""
    import torch

    rows = source.unlabeled
    if rows.ndim != 2 or rows.dtype not in {torch.float32, torch.float64}:
        raise ValueError(
            f"`unlabeled` must be a table of float32 or float64, not {rows.dtype} of shape "
            f"{tuple(rows.shape)}."
        )
    rows = rows.detach()
    return TorchEngine(
        rows, {part: _members(pairs, rows, part) for part, pairs in source.pairs.items()}
    )


def _members(pairs: Any, rows: Any, name: str) -> Any:
    """Return the members of pairs where the rows are, or how these are named."""
    import torch

    if not (isinstance(pairs, tuple) and len(pairs) == 2):
        numbers = torch.as_tensor(np.asarray(pairs), device=rows.device)
        if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.is_floating_point():
            raise ValueError(
                f"`{name}` must be two tensors (A, B) or row numbers of shape (n, 2); got shape "
                f"{tuple(numbers.shape)} and {numbers.dtype}."
            )
        _check_row_numbers(numbers, rows.shape[0])
        left, right = numbers.cpu().numpy().T
        check_not_selves(left, right)
        return NamedPairs(left, right, lambda: tuple(rows[side] for side in numbers.T))
    left, right = (side.detach().to(rows) for side in pairs)
    if left.shape != right.shape or left.shape[1:] != rows.shape[1:]:
        raise ValueError(
            f"`{name}` has tables of shape {tuple(left.shape)} and {tuple(right.shape)}, but the "
            f"unlabeled rows have {rows.shape[1]} columns."
        )
    return left, right


def _check_row_numbers(numbers: Any, n_rows: int) -> None:
    outside = ((numbers < 0) | (numbers >= n_rows)).any(dim=1).nonzero()
    if len(outside):
        first = int(outside[0])
        raise ValueError(
            f"Pair {first} names rows {numbers[first].tolist()}, but there are rows 0 to "
            f"{n_rows - 1}."
        )


def _in_double(sums: Sums) -> Sums:
    """Return the sums of a block such that adding up many of them loses nothing."""
    import torch

    return tuple(entry.to(torch.float64) if is_tensor(entry) else entry for entry in sums)
