"""Stand-ins: now and then, a row near a member of a statement takes the member's place.

A net learns a thousand statements by heart, each with an exception for two rows. Said of rows near
these two, a statement cannot be learned so. It knows rows as a table of numbers, and no nets.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["StandIns"]

_BLOCK = 64_000_000
"""Distances that are held at once."""


class StandIns:
    """The rows nearest to the members of statements.

    Parameters
    ----------
    table : Tensor of shape (n_rows, n_features)
    members : integer array
        Rows that are in statements.
    candidates : integer array
        Rows that may stand in for them.
    count : int
        How many there are for each member; the member itself is one of them where it is a
        candidate.
    """

    def __init__(
        self,
        table: Tensor,
        members: NDArray[np.intp],
        candidates: NDArray[np.intp],
        count: int,
    ) -> None:
        device = table.device
        count = min(count, candidates.size)
        numbers = torch.as_tensor(members, device=device)
        others = torch.as_tensor(candidates, device=device)
        self._place = torch.zeros(table.shape[0], dtype=torch.long, device=device)
        self._place[numbers] = torch.arange(members.size, device=device)
        rows = table[others]
        squares = rows.square().sum(dim=1)
        found = []
        for block in numbers.split(max(1, _BLOCK // max(candidates.size, 1))):
            apart = squares - 2.0 * table[block] @ rows.T  # less a constant of the member's
            found.append(others[apart.topk(count, dim=1, largest=False).indices])
        self._near = torch.cat(found)

    @property
    def count(self) -> int:
        """How many stand-ins each member has."""
        return int(self._near.shape[1])

    def of(self, members: Tensor) -> Tensor:
        """Return all stand-ins of some members, (n_members, count)."""
        return self._near[self._place[members]]

    def draw(self, members: Tensor, probability: float) -> Tensor:
        """Return the members, each with this probability replaced by a stand-in."""
        if probability <= 0.0:
            return members
        size, device = members.shape[0], members.device
        which = torch.randint(self.count, (size,), device=device)
        replaced = torch.rand(size, device=device) < probability
        return torch.where(replaced, self._near[self._place[members], which], members)
