"""What a net is trained with, batch by batch: statements, consistency, information.

The three terms and their weights, in one place. It knows no optimizer and no skorch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from likewise.nets.consistency import Scorer, adversarial_consistency, augmented_consistency
from likewise.nets.losses import PairLoss
from likewise.nets.neighbors import StandIns
from likewise.nets.rows import Rows
from likewise.nets.sampler import PairBatch
from likewise.statements.statements import Links

__all__ = ["Objective", "information", "surprise"]

_BALANCE = 4.0
"""How many times the entropy of the classes counts (Hu et al. 2017, IMSAT)."""


@dataclass
class Objective:
    """The loss of a batch, in three terms.

    It is::

        pairs / surprise + consistency_weight * consistency
                         - help * information_weight * (4 H(class) - H(class | row))

    The first term is `PairLoss`, in shares of what a model without features would have. The second
    asks for the same answer around every row of the batch. The third asks for sure answers and for
    classes of like size; its `help` fades to zero as training goes on, so that classes may end with
    any shares.

    Attributes
    ----------
    scorer : callable
        From rows to scores, (n_rows, n_classes).
    rows : Rows
    loss : PairLoss
    surprise : float
    consistency : "adversarial", callable or None
    consistency_weight, information_weight, radius : float
    stand_ins : StandIns or None
    """

    scorer: Scorer
    rows: Rows
    loss: PairLoss
    surprise: float
    consistency: str | Callable[[Any], Any] | None
    consistency_weight: float
    information_weight: float
    radius: float
    stand_ins: StandIns | None = None

    def of_statements(self, batch: PairBatch, help_: float) -> Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        batch : PairBatch
        help_ : float in [0, 1]
            How much information counts, and how often stand-ins take the place of members.
        """
        n_pairs, device = batch.left.size, self.rows.device
        numbers = torch.as_tensor(batch.rows, device=device)
        if self.stand_ins is not None and help_ > 0.0:
            members = self.stand_ins.draw(numbers[: 2 * n_pairs], help_)
            numbers = torch.cat([members, numbers[2 * n_pairs :]])
        rows = self.rows.take(numbers)
        scores = self.scorer(rows)
        left, right, alone = scores.split([n_pairs, n_pairs, scores.shape[0] - 2 * n_pairs])
        is_similar = torch.as_tensor(batch.is_similar, device=device)
        total: Tensor = self.loss(left, right, is_similar, alone) / self.surprise
        if self.information_weight * help_ > 0.0 and alone.shape[0]:
            total = total - help_ * self.information_weight * information(alone)
        if self.consistency is not None and self.consistency_weight > 0.0:
            total = total + self.consistency_weight * self._consistency(rows, scores)
        return total

    def of_targets(self, batch: PairBatch, targets: Tensor) -> Tensor:
        """Return the cross-entropy of rows with class probabilities to be taught.

        Parameters
        ----------
        batch : PairBatch
        targets : Tensor of shape (n_rows, n_classes)
            Of all rows; zero for rows that nothing is to be taught of.
        """
        numbers = torch.as_tensor(batch.rows, device=self.rows.device)
        scores = functional.log_softmax(self.scorer(self.rows.take(numbers)).float(), dim=-1)
        # Rows with no target, of which all probabilities are zero, have no part in it.
        return -(targets[numbers] * scores).sum() / targets[numbers].sum().clamp(min=1.0)

    def _consistency(self, rows: Any, scores: Tensor) -> Tensor:
        if callable(self.consistency):
            return augmented_consistency(self.scorer, rows, scores, self.consistency)
        return adversarial_consistency(self.scorer, rows, scores, self.radius)


def information(scores: Tensor) -> Tensor:
    """Return ``4 H(class) - H(class | row)`` of a batch, in nats.

    Parameters
    ----------
    scores : Tensor of shape (..., n_rows, n_classes)
        Of several nets at once, perhaps.
    """
    log_p = functional.log_softmax(scores.float(), dim=-1)
    p = log_p.exp()
    shares = p.mean(dim=-2)
    of_classes = -torch.special.xlogy(shares, shares.clamp(min=1e-12)).sum(dim=-1)
    return _BALANCE * of_classes + (p * log_p).sum(dim=-1).mean(dim=-1)


def surprise(links: Links, n_classes: int, pairing: str) -> float:
    """Return the nats per statement that there are to explain.

    Of answers, their entropy; of pairs that were found, ``log(n_classes)``, which is what classes
    of like size explain of a similar pair at most.

    Parameters
    ----------
    links : Links
    n_classes : int
    pairing : str
    """
    if pairing != "asked":
        return float(np.log(n_classes))
    share = float(np.clip(links.is_similar.mean(), 0.05, 0.95))
    return float(-share * np.log(share) - (1.0 - share) * np.log(1.0 - share))
