"""A first guess at the classes, from the graph of near rows and what was said.

Nets that start from nothing end in local optima where statements are few. The leading eigenvectors
of the graph that joins every row with those nearest to it are a few features in which classes hang
together; a linear score in these has too little freedom to learn statements by heart, so many
random starts of it can be compared by the statements themselves. A net is then taught the best one.
It knows rows as a table of numbers, and no nets.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from likewise.nets.losses import log_alike, log_stated
from likewise.nets.objective import information, surprise
from likewise.statements.statements import Links

__all__ = ["first_guess", "numbers_in_graph", "spectral_features"]

_NEAREST = 10
"""Rows that every row is joined with."""
_BLOCK = 64_000_000
"""Distances that are held at once."""
_PER_CLASS = 2
"""Eigenvectors for each class: classes may be of several pieces."""
_ROUNDS, _POWERS = 60, 3
"""Rounds of the subspace iteration, and products with the graph in each."""
_STARTS, _STEPS, _RATE = 32, 200, 0.05
"""Linear scores side by side, and their training."""
_SPREAD, _FIRST, _RIDGE = 5.0, 0.3, 1e-3
"""Length of a row of features, deviation of first weights, penalty on weights."""
_LEAST_ERROR = 0.01


def first_guess(
    table: Tensor, links: Links, n_classes: int, error_rate: float, information_weight: float = 0.6
) -> Tensor:
    """Return class probabilities of all rows, (n_rows, n_classes), that explain what was said.

    Parameters
    ----------
    table : Tensor of shape (n_rows, n_features)
    links : Links
        Answers to learn from.
    n_classes : int
    error_rate : float
    information_weight : float
        Weight of information about rows, at first.
    """
    features = spectral_features(table, _PER_CLASS * n_classes)
    device = table.device
    left, right = (
        features[torch.as_tensor(side, device=device)] for side in (links.left, links.right)
    )
    is_similar = torch.as_tensor(links.is_similar, device=device).expand(_STARTS, -1)
    nats, rate = surprise(links, n_classes, "asked"), max(error_rate, _LEAST_ERROR)
    some = features[torch.randint(features.shape[0], (1000,), device=device)]
    weights = torch.randn(_STARTS, features.shape[1], n_classes, device=device)
    weights = (_FIRST * weights).requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=_RATE)

    def values() -> Tensor:
        log_l, log_r = (functional.log_softmax(side @ weights, dim=-1) for side in (left, right))
        return log_stated(log_alike(log_l, log_r), is_similar, rate).mean(dim=1)

    for step in range(_STEPS):
        helped = information_weight * (1.0 - step / _STEPS) * information(some @ weights)
        loss = -(values() / nats + helped).sum() + _RIDGE * weights.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        best = int(values().argmax())
        return functional.softmax(features @ weights[best], dim=-1)


def spectral_features(table: Tensor, count: int) -> Tensor:
    """Return leading eigenvectors of the graph of near rows, scaled row by row, (n_rows, count).

    The weight of an edge is ``exp(-d^2 / (s_i s_j))`` with s the distance of a row to its middle
    neighbor (Zelnik-Manor and Perona 2004), the graph is normalized by degrees, and eigenvectors
    are found by subspace iteration on ``(I + S) / 2``, whose eigenvalues are not negative.

    Parameters
    ----------
    table : Tensor of shape (n_rows, n_features)
    count : int
    """
    n_rows = table.shape[0]
    count = min(count, n_rows - 1)
    graph = _Graph(*_nearest(table, min(_NEAREST, n_rows - 1)))
    basis = torch.linalg.qr(torch.randn(n_rows, min(2 * count, n_rows), device=table.device)).Q
    for _ in range(_ROUNDS):
        for _ in range(_POWERS):
            basis = 0.5 * (graph @ basis + basis)
        basis = torch.linalg.qr(basis).Q
    within = basis.T @ (graph @ basis)
    vectors = torch.linalg.eigh(0.5 * (within + within.T)).eigenvectors
    found = (basis @ vectors.flip(1)[:, :count]) / graph.degrees.sqrt()[:, None]
    return _SPREAD * functional.normalize(found, dim=1)


def _nearest(table: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the rows nearest to every row and their squared distances, (n_rows, count) each."""
    squares = table.square().sum(dim=1)
    near, apart = [], []
    for block in torch.arange(table.shape[0], device=table.device).split(
        max(1, _BLOCK // table.shape[0])
    ):
        distances = squares[block, None] + squares - 2.0 * table[block] @ table.T
        distances[torch.arange(block.shape[0], device=table.device), block] = torch.inf
        found = distances.topk(count, dim=1, largest=False)
        near.append(found.indices)
        apart.append(found.values.clamp(min=0.0))
    return torch.cat(near), torch.cat(apart)


class _Graph:
    """The graph of near rows, every edge counted from both its ends, divided by degrees."""

    def __init__(self, near: Tensor, apart: Tensor) -> None:
        middle = apart[:, near.shape[1] // 2].sqrt().clamp(min=1e-12)
        weights = 0.5 * torch.exp(-apart / (middle[:, None] * middle[near]))
        degrees = weights.sum(dim=1).index_add_(0, near.reshape(-1), weights.reshape(-1))
        self.degrees = degrees.clamp(min=1e-12)
        self._near = near
        self._weights = weights / (self.degrees[:, None] * self.degrees[near]).sqrt()

    def __matmul__(self, vectors: Tensor) -> Tensor:
        """Return the product with vectors, (n_rows, n_vectors)."""
        there = (self._weights[..., None] * vectors[self._near]).sum(dim=1)
        back = (self._weights[..., None] * vectors[:, None]).reshape(-1, vectors.shape[1])
        return there.index_add_(0, self._near.reshape(-1), back)


def numbers_in_graph(
    n_rows: int, members: NDArray[np.intp], most: int, draw: np.random.RandomState
) -> NDArray[np.intp]:
    """Return the rows that a graph is made of: all members of statements, and others at random.

    Parameters
    ----------
    n_rows : int
    members : integer array
    most : int
        How many rows, unless there are more members.
    draw : RandomState
    """
    if n_rows <= most:
        return np.arange(n_rows)
    others = np.setdiff1d(np.arange(n_rows), members)
    size = max(0, most - members.size)
    return np.sort(np.append(members, draw.choice(others, min(size, others.size), replace=False)))
