"""Products of rows that are torch tensors, in the shapes that a device multiplies fast.

A tall table times a narrow one leaves most of a device idle. So sums are made piece by piece, all
pieces at once, and decisions for several rows together, which costs no more than for one. What the
sums are for is said in `kernels`, which calls this.
"""

from typing import Any

__all__ = [
    "column_sums_in_turn",
    "count_positive_in_turn",
    "decide",
    "product",
    "weighted_product",
]

_PRODUCT_ROWS = 2048
_SUM_ROWS = 256
"""Rows in a piece. Sums of pieces are added up in double precision."""
_SCALED_ENTRIES = 1 << 27
"""Numbers in a copy of rows that are scaled: 512 MiB in single precision."""
_ROWS_TOGETHER = 10
"""Rows that are decided together."""
_COUNTED = 1 << 24
"""So many ones add up exactly in single precision."""
_WIDTH = 32
"""Columns that a device computes at once in any case, wanted or not."""


def product(rows: Any) -> Any:
    """Return ``rows' rows`` in double precision, shape (d, d)."""
    import torch

    # Sums of many small pieces would fill the memory if there are many columns.
    pieces, rest = _cut(rows, max(_PRODUCT_ROWS, 16 * rows.shape[1]))
    total = torch.bmm(pieces.mT, pieces).sum(0, dtype=torch.float64)
    return total.add_(rest.T @ rest) if len(rest) else total


def weighted_product(rows: Any, values: Any) -> Any:
    """Return ``rows' diag(values) rows`` for values >= 0, in double precision, shape (d, d)."""
    size = max(1, _SCALED_ENTRIES // rows.shape[1])
    roots = values.sqrt()[:, None]
    spans = [slice(start, start + size) for start in range(0, len(rows), size)]
    return sum(product(rows[span] * roots[span]) for span in spans)


def column_sums_in_turn(rows: Any, n_turns: int) -> Any:
    """Return the column sums of every `n_turns`-th row, in double precision, (n_turns, d).

    Entry t is that of the rows t, t + n_turns, and so on.
    """
    import torch

    pieces, rest = _cut(rows, n_turns * _SUM_ROWS)
    by_turn = pieces.unflatten(1, (-1, n_turns))
    total = by_turn.sum(1).sum(0, dtype=torch.float64)
    for turn in range(min(n_turns, len(rest))):
        total[turn] += rest[turn::n_turns].sum(0)
    return total


def decide(rows: Any, weights: Any) -> Any:
    """Return decision values, (m,) or (m, k), for weights of shape (d + 1,) or (d + 1, k)."""
    import torch

    slopes = weights[:-1].reshape(rows.shape[1], -1)
    n_together = min(_ROWS_TOGETHER, _WIDTH // slopes.shape[1])
    if n_together < 2 or not _reads_together(rows):
        return rows @ weights[:-1] + weights[-1]
    values = rows.new_empty((len(rows), slopes.shape[1]))
    whole, rest = _cut(rows, n_together)
    together = values[: len(rows) - len(rest)].view(len(whole), n_together * slopes.shape[1])
    torch.mm(whole.flatten(1), torch.block_diag(*[slopes] * n_together), out=together)
    if len(rest):
        values[-len(rest) :] = rest @ slopes
    return values.view(len(rows), *weights.shape[1:]).add_(weights[-1])


def count_positive_in_turn(rows: Any, weights: Any, period: int) -> Any:
    """Return how many rows are decided for class +1 by the weights of their turn, (n_turns, k).

    Parameters
    ----------
    rows : tensor of shape (m, d)
    weights : tensor of shape (n_turns, d + 1, k)
    period : int, at least n_turns
        Row i has turn ``i % period``; rows with no weights for their turn are passed over.
    """
    import torch

    whole, rest = _cut(rows, period)
    n_turns, left = len(weights), rest[: len(weights)]
    slopes, limits = weights[:, :-1], -weights[:, -1]
    total = torch.zeros_like(limits, dtype=torch.float64)
    total[: len(left)] += (left[:, None] @ slopes[: len(left)])[:, 0] > limits[: len(left)]
    for some in whole[:, :n_turns].split(_COUNTED):
        # Ones and zeros in place of the values: the fewest bytes to move.
        total += _values_in_turn(some, slopes).gt_(limits).sum(0)
    return total


def _values_in_turn(rows: Any, slopes: Any) -> Any:
    """Return ``rows[:, t] @ slopes[t]``, (m, n_turns, k), for rows of shape (m, n_turns, d)."""
    import torch

    n_turns, _, n_models = slopes.shape
    if n_turns * n_models > _WIDTH or not _reads_together(rows[:1]):
        return torch.stack([rows[:, turn] @ slopes[turn] for turn in range(n_turns)], 1)
    values = torch.mm(rows.flatten(1), torch.block_diag(*slopes))
    return values.view(len(rows), n_turns, n_models)


def _cut(rows: Any, size: int) -> tuple[Any, Any]:
    """Return rows as a stack of pieces of that size, and those that are left over: views both."""
    whole = len(rows) - len(rows) % size
    return rows[:whole].unflatten(0, (whole // size, size)), rows[whole:]


def _reads_together(rows: Any) -> bool:
    """Tell whether several rows can be, and are better, read as one; a CPU is not idle anyway."""
    return bool(rows.is_contiguous()) and rows.device.type != "cpu"
