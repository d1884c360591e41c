"""Held-out statements as judges of nets: which start, which epoch, how sure, how many errors.

It knows class scores and statements; it knows no rows and no nets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from likewise.nets.losses import PairLoss
from likewise.statements.folds import PairKFold
from likewise.statements.statements import Links, Statements

__all__ = ["ERROR_RATES", "Evidence", "Judge", "Verdict", "hold_out"]

ERROR_RATES = (
    0.0,
    0.01,
    0.02,
    0.03,
    0.05,
    0.075,
    0.1,
    0.125,
    0.15,
    0.175,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
)
"""Error rates that are tried where none is given."""
_SCALES = np.geomspace(0.1, 10.0, 25)
"""Factors of the scores that are tried: nets are surer than they should be."""
_TURNS = 3
"""How often scale and error rate are chosen in turns."""
_FEWEST = 5
"""Held-out statements below which nothing can be judged."""


class HeldOutPart(NamedTuple):
    """Statements, divided.

    Attributes
    ----------
    train : Statements
        To learn from.
    judged : Links
        Those that touch a held-out row.
    """

    train: Statements
    judged: Links


def hold_out(statements: Statements, share: float, seed: int) -> HeldOutPart:
    """Hold out rows, and with them all statements that touch one.

    Parameters
    ----------
    statements : Statements
    share : float
        Of rows.
    seed : int
    """
    n_splits = max(2, round(1.0 / share))
    folds = PairKFold(n_splits, shuffle=True, random_state=seed).deal(statements)
    rows = folds == 0
    links = statements.links
    judged = rows[links.left] | rows[links.right]
    train = statements.without(rows)
    n_judged = int(judged.sum())
    if n_judged < _FEWEST or train.count < 1:
        raise ValueError(
            f"Holding out a share of {share:g} of the rows leaves {train.count} statements to "
            f"learn from and {n_judged} to judge by, which is too few. Collect more statements, or "
            "pass validation=None and restarts=1."
        )
    return HeldOutPart(train, Links(*(part[judged] for part in links)))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What held-out statements say of a net.

    Attributes
    ----------
    values : array of shape (n_judged,)
        Log-likelihood of every held-out statement, in nats, by calibrated probabilities.
    scale : float
        Factor of the scores that calibrates them.
    error_rate : float
    """

    values: NDArray[np.float64]
    scale: float
    error_rate: float

    @property
    def mean(self) -> float:
        """Nats per statement."""
        return float(self.values.mean())

    def is_clearly_better(self, other: "Evidence") -> bool:
        """Tell whether it is better by more than the standard error of the difference."""
        apart = self.values - other.values
        return bool(apart.mean() > apart.std() / np.sqrt(max(apart.size, 1)))


class Verdict(NamedTuple):
    """How one start of a net ended, by held-out statements.

    Attributes
    ----------
    name : str
        "start 1", or "move 1" for a net whose classes were merged and split.
    log_likelihood : float
        Nats per held-out statement.
    epoch : int
        Which of its epochs was kept.
    error_rate : float
    """

    name: str
    log_likelihood: float
    epoch: int
    error_rate: float


class Judge:
    """Judges nets by statements that they did not see.

    Parameters
    ----------
    links : Links
        Held-out statements.
    population : integer array
        Some rows that stand for all rows, for the shares of the classes.
    n_classes : int
    pairing : str
    """

    def __init__(
        self, links: Links, population: NDArray[np.intp], n_classes: int, pairing: str
    ) -> None:
        self.rows, places = np.unique(
            np.concatenate([links.left, links.right]), return_inverse=True
        )
        self._left, self._right = np.split(places, 2)
        self._is_similar = links.is_similar
        self.population = population if pairing != "asked" else population[:0]
        self._n_classes = n_classes
        self._pairing = pairing

    def judge(
        self,
        scores: Tensor,
        population: Tensor,
        pair_shares: Tensor,
        error_rates: Sequence[float],
    ) -> Evidence:
        """Return the evidence, calibrated.

        Parameters
        ----------
        scores : Tensor of shape (n, n_classes)
            Of the rows `Judge.rows`.
        population : Tensor of shape (m, n_classes)
            Scores of the rows `Judge.population`.
        pair_shares : Tensor of shape (n_classes,)
            As learned, for pairs that were found freely.
        error_rates : sequence of floats
            Of which the best is taken.
        """
        both = scores.double().cpu(), population.double().cpu()
        rate = error_rates[len(error_rates) // 2]
        best = self._best(*both, pair_shares, _SCALES, (rate,))
        if len(error_rates) > 1:
            # In turns: what a net is too sure of looks like a wrong answer.
            for _ in range(_TURNS):
                best = self._best(*both, pair_shares, (best.scale,), error_rates)
                best = self._best(*both, pair_shares, _SCALES, (best.error_rate,))
        return best

    def _best(
        self,
        scores: Tensor,
        population: Tensor,
        pair_shares: Tensor,
        scales: Iterable[float],
        error_rates: Sequence[float],
    ) -> Evidence:
        left, right = scores[self._left], scores[self._right]
        is_similar = torch.as_tensor(self._is_similar)
        found = []
        for scale in map(float, scales):
            for rate in error_rates:
                loss = self._loss(scale * population, pair_shares, rate)
                values = loss.log_likelihood(scale * left, scale * right, is_similar)
                found.append(Evidence(values.double().numpy(), scale, rate))
        return max(found, key=lambda one: one.mean)

    def _loss(self, population: Tensor, pair_shares: Tensor, error_rate: float) -> PairLoss:
        loss = PairLoss(self._n_classes, pairing=self._pairing, error_rate=error_rate)
        loss.eval()
        if population.shape[0]:
            loss.shares.copy_(functional.softmax(population, dim=-1).mean(dim=0))
        loss.pair_shares.copy_(pair_shares)
        return loss
