"""Consistency: what a net says of a row should not change when the row changes a little.

Statements are few and a net learns them by heart; unlabeled rows are many, and asking for the same
answer around each of them carries what was said to rows that are near. It knows no statements.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from likewise.nets.rows import Batch

__all__ = ["adversarial_consistency", "augmented_consistency", "nearest_distances"]

Scorer = Callable[[Batch], Tensor]
"""From a batch of rows to scores, (n_rows, n_classes)."""

_LEAST = 0.1
"""Least radius of a row, in shares of the median one: rows may stand in a batch twice."""


def adversarial_consistency(
    scorer: Scorer, rows: Batch, scores: Tensor, radius: float = 0.25
) -> Tensor:
    """Return how far answers change in the worst direction around each row.

    Virtual adversarial training (Miyato et al. 2018): with ``p(x)`` what the net says of a row,
    held fixed, the loss is the mean of ``KL(p(x) || p(x + r))``, with r the direction in which that
    grows fastest, found by one step of power iteration, at a length of `radius` times the distance
    from the row to the nearest other one of the batch. So it needs no knowledge of the data's
    scale.

    Parameters
    ----------
    scorer : callable
        From rows to scores.
    rows : Tensor of shape (n_rows, ...), or dict of Tensors
        Of a dict, all floating entries are changed.
    scores : Tensor of shape (n_rows, n_classes)
        What the net says of the rows.
    radius : float, default 0.25

    Returns
    -------
    Tensor
        A scalar; its gradient is that of the changed rows' scores alone.

    Examples
    --------
    >>> import torch
    >>> from likewise.nets import adversarial_consistency
    >>> net, rows = torch.nn.Linear(3, 2), torch.randn(8, 3)
    >>> bool(adversarial_consistency(net, rows, net(rows)) >= 0)
    True
    """
    said = functional.log_softmax(scores.detach().float(), dim=-1)
    parts = _floating(rows)
    lengths = {
        name: radius * nearest_distances(part.reshape(part.shape[0], -1))
        for name, part in parts.items()
    }
    steps = {name: _unit(torch.randn_like(part)).requires_grad_() for name, part in parts.items()}
    moved = _divergence(said, scorer(_moved(rows, steps, lengths)))
    slopes = torch.autograd.grad(moved.sum(), list(steps.values()))
    worst = {name: _unit(slope) for name, slope in zip(steps, slopes, strict=True)}
    return _divergence(said, scorer(_moved(rows, worst, lengths))).mean()


def augmented_consistency(
    scorer: Scorer, rows: Batch, scores: Tensor, augment: Callable[[Batch], Batch]
) -> Tensor:
    """Return how far answers change when rows are augmented.

    Parameters
    ----------
    scorer, rows, scores
        As of `adversarial_consistency`.
    augment : callable
        From rows to rows that are of the same class, such as shifted or turned images.

    Returns
    -------
    Tensor
        The mean of ``KL(p(x) || p(augment(x)))``, ``p(x)`` held fixed.

    Examples
    --------
    >>> import torch
    >>> from likewise.nets import augmented_consistency
    >>> net, rows = torch.nn.Linear(3, 2), torch.randn(8, 3)
    >>> loss = augmented_consistency(net, rows, net(rows), lambda same: same)
    >>> bool(loss < 1e-6)
    True
    """
    said = functional.log_softmax(scores.detach().float(), dim=-1)
    return _divergence(said, scorer(augment(rows))).mean()


def nearest_distances(table: Tensor) -> Tensor:
    """Return the distance of every row to the nearest other one, (n_rows,).

    Parameters
    ----------
    table : Tensor of shape (n_rows, n_features)
    """
    with torch.no_grad():
        table = table.float()
        if table.shape[0] < 2:
            return table.new_ones(table.shape[0])
        squares = table.square().sum(dim=1)
        apart = squares[:, None] + squares - 2.0 * table @ table.T
        apart.fill_diagonal_(torch.inf)
        found = apart.min(dim=1).values.clamp(min=0.0).sqrt()
        return found.clamp(min=_LEAST * float(found.median()) + torch.finfo(found.dtype).tiny)


def _floating(rows: Batch) -> dict[str, Tensor]:
    parts = dict(rows) if isinstance(rows, Mapping) else {"": rows}
    found = {name: part for name, part in parts.items() if part.is_floating_point()}
    if not found:
        raise ValueError(
            "consistency='adversarial' changes rows a little, but these are whole numbers. Pass a "
            "function that changes rows and not their class, or consistency=None."
        )
    return found


def _moved(rows: Batch, steps: dict[str, Tensor], lengths: dict[str, Tensor]) -> Batch:
    moved: dict[str, Any] = {}
    parts = rows if isinstance(rows, Mapping) else {"": rows}
    for name, step in steps.items():
        length = lengths[name].reshape((-1,) + (1,) * (step.ndim - 1))
        moved[name] = parts[name] + (length * step).to(parts[name].dtype)
    return {**rows, **moved} if isinstance(rows, Mapping) else moved[""]


def _unit(step: Tensor) -> Tensor:
    """Scale the step of every row to length one; where there is none, it stays zero."""
    flat = step.detach().float().reshape(step.shape[0], -1)
    # First by the largest entry: gradients of saturated rows are too small to be squared.
    flat = flat / flat.abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(flat.dtype).tiny)
    return functional.normalize(flat, dim=1).reshape(step.shape)


def _divergence(said: Tensor, scores: Tensor) -> Tensor:
    """Return KL(said || changed) of every row."""
    changed = functional.log_softmax(scores.float(), dim=-1)
    return (said.exp() * (said - changed)).sum(dim=-1)
