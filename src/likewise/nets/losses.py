"""The likelihood of statements as a loss for nets, batch by batch.

For people with a training loop of their own, and for `likewise.nets.PairNetClassifier`. It knows
class scores of rows and what was said about pairs of them; it knows no rows and no nets.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["PAIRINGS", "PairLoss", "log_alike", "log_different", "log_stated"]

PAIRINGS = ("asked", "random", "free")
"""How statements can have come about."""
_SMALLEST = 1e-8
"""Share below which a class counts as empty, so that its logarithm is finite."""


class PairLoss(nn.Module):
    """Mean negative log-likelihood of statements about pairs of rows.

    With ``p(l)`` and ``p(r)`` the class probabilities of the two rows of a pair and
    ``a = sum_k p_k(l) p_k(r)`` the probability that they are alike, the log-likelihood of a
    statement is

    asked
        ``log((1 - eps) a + eps (1 - a))`` where the answer was "same", the same with ``1 - a`` in
        the place of `a` where it was "different". Rows may have been chosen for any reason.
    random
        ``log a - log s`` for a pair that was found to be alike, with ``s = sum_k q_k^2`` the
        probability that a pair of rows drawn at random is alike and q the shares of the classes;
        ``log(1 - a) - log(1 - s)`` for a pair found to differ. Without ``log s``, one class for all
        rows would explain every similar pair.
    free
        ``log sum_k p_k(l) p_k(r) rho_k / q_k^2``: class k has a share ``rho_k`` of its own among
        similar pairs, which is learned beside the net as the mean posterior of the pairs.

    Mini-batches are too small for the shares: ``log sum_k q_k^2`` of a batch's own q is biased. So
    the *value* of q is a running mean over batches, while its *gradient* is that of the batch::

        q = running + batch - stop_gradient(batch)

    The gradient of ``log s`` is then ``2 sum_k running_k grad(batch_k) / s``, in which the batch
    enters linearly: it is unbiased given the running shares.

    Parameters
    ----------
    n_classes : int
    pairing : {"asked", "random", "free"}, default "asked"
        How statements came about.
    error_rate : float in [0, 0.5), default 0.0
        Probability that an answer is wrong. Held as it is: a net learns wrong answers by heart, so
        that a rate learned with it would go to zero.
    momentum : float in (0, 1], default 0.1
        Weight of a new batch in the running shares.

    Attributes
    ----------
    shares : Tensor of shape (n_classes,)
        Running shares of the classes among rows; a buffer.
    pair_shares : Tensor of shape (n_classes,)
        Running shares among similar pairs, used for class-dependent pairing; a buffer.

    Examples
    --------
    >>> import torch
    >>> from likewise.nets import PairLoss
    >>> loss = PairLoss(n_classes=2)
    >>> left, right = torch.zeros(3, 2), torch.zeros(3, 2)
    >>> float(loss(left, right, torch.tensor([True, True, False])))  # log 2
    0.693...
    """

    shares: Tensor
    pair_shares: Tensor

    def __init__(
        self,
        n_classes: int,
        *,
        pairing: str = "asked",
        error_rate: float = 0.0,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        if n_classes < 2:
            raise ValueError(f"n_classes must be at least 2; got {n_classes!r}.")
        if pairing not in PAIRINGS:
            raise ValueError(f"pairing must be one of {', '.join(PAIRINGS)}; got {pairing!r}.")
        if not 0.0 <= error_rate < 0.5:
            raise ValueError(f"error_rate must lie in [0, 0.5); got {error_rate!r}.")
        if pairing == "free" and error_rate > 0:
            raise ValueError("error_rate is for statements that were asked, or found at random.")
        if not 0.0 < momentum <= 1.0:
            raise ValueError(f"momentum must lie in (0, 1]; got {momentum!r}.")
        self.n_classes = n_classes
        self.pairing = pairing
        self.error_rate = error_rate
        self.momentum = momentum
        for name in ("shares", "pair_shares"):
            self.register_buffer(name, torch.full((n_classes,), 1.0 / n_classes))

    def forward(
        self, left: Tensor, right: Tensor, is_similar: Tensor, unlabeled: Tensor | None = None
    ) -> Tensor:
        """Return the loss of a batch of statements.

        Parameters
        ----------
        left, right : Tensors of shape (n_pairs, n_classes)
            Scores (logits) of the two rows of each pair.
        is_similar : boolean Tensor of shape (n_pairs,)
        unlabeled : Tensor of shape (n_rows, n_classes), optional
            Scores of rows that stand for all rows; the class shares are made of these. Needed
            where pairs were found, not used where they were asked.

        Returns
        -------
        Tensor
            A scalar.
        """
        return -self.log_likelihood(left, right, is_similar, unlabeled).mean()

    def log_likelihood(
        self, left: Tensor, right: Tensor, is_similar: Tensor, unlabeled: Tensor | None = None
    ) -> Tensor:
        """Return the log-likelihood of every statement, (n_pairs,).

        In evaluation mode (``loss.eval()``) the running shares stay as they are.

        Parameters
        ----------
        left, right, is_similar, unlabeled
            As of the loss itself; in evaluation mode `unlabeled` is not needed.
        """
        # Logarithms of small probabilities: half precision is too coarse for them.
        log_l, log_r = (functional.log_softmax(side.float(), dim=-1) for side in (left, right))
        is_similar = is_similar.bool()
        if self.pairing == "asked":
            return log_stated(log_alike(log_l, log_r), is_similar, self.error_rate)
        shares = self._current_shares(unlabeled)
        if self.pairing == "free":
            return self._freely(log_l, log_r, is_similar, shares)
        by_luck = shares.square().sum().log()
        said = log_stated(log_alike(log_l, log_r), is_similar, self.error_rate)
        return said - log_stated(by_luck, is_similar, self.error_rate)

    def _current_shares(self, unlabeled: Tensor | None) -> Tensor:
        """Return the running shares, with the gradient of the batch's."""
        if unlabeled is None:
            if self.training:
                raise ValueError(
                    f"pairing={self.pairing!r} needs the scores of unlabeled rows beside the "
                    "pairs: the shares of the classes are made of them."
                )
            return self.shares
        batch = functional.softmax(unlabeled.float(), dim=-1).mean(dim=0)
        if self.training:
            self.shares.lerp_(batch.detach(), self.momentum)
        return (self.shares + batch - batch.detach()).clamp(min=_SMALLEST)

    def _freely(self, log_l: Tensor, log_r: Tensor, is_similar: Tensor, shares: Tensor) -> Tensor:
        both = log_l + log_r
        rates = self.pair_shares.clamp(min=_SMALLEST).log() - 2.0 * shares.log()
        weighted = both + rates
        if self.training and bool(is_similar.any()):
            posterior = functional.softmax(weighted[is_similar].detach(), dim=-1).mean(dim=0)
            self.pair_shares.lerp_(posterior, self.momentum)
        alike = torch.logsumexp(weighted, dim=-1)
        apart = log_different(torch.logsumexp(both, dim=-1))
        by_luck = log_different(shares.square().sum().log())
        return torch.where(is_similar, alike, apart - by_luck)

    def extra_repr(self) -> str:
        """Return the parameters as they are printed."""
        return (
            f"n_classes={self.n_classes}, pairing={self.pairing!r}, error_rate={self.error_rate:g}"
        )


def log_alike(log_left: Tensor, log_right: Tensor) -> Tensor:
    """Return the log-probability that two rows are alike, (n_pairs,).

    Parameters
    ----------
    log_left, log_right : Tensors of shape (n_pairs, n_classes)
        Log-probabilities of the classes.
    """
    return torch.logsumexp(log_left + log_right, dim=-1)


def log_different(log_same: Tensor) -> Tensor:
    """Return ``log(1 - exp(log_same))``, finite and with finite gradients everywhere.

    Where rows are alike beyond what single precision can tell, the least that it can tell stands
    for the rest.

    Parameters
    ----------
    log_same : Tensor
        At most zero, but for rounding.
    """
    least = 10.0 * torch.finfo(log_same.dtype).eps
    capped = log_same - (log_same + least).clamp(min=0.0).detach()
    # Maechler: either form loses digits where the other one does not.
    is_near = capped > -math.log(2.0)
    near = torch.where(is_near, capped, torch.full_like(capped, -1.0))
    far = torch.where(is_near, torch.full_like(capped, -1.0), capped)
    return torch.where(is_near, torch.log(-torch.expm1(near)), torch.log1p(-torch.exp(far)))


def log_stated(log_same: Tensor, is_similar: Tensor, error_rate: float = 0.0) -> Tensor:
    """Return the log-probability of what was said, some of it wrong.

    Parameters
    ----------
    log_same : Tensor of shape (n_pairs,), or a scalar
        Log-probability that rows are alike.
    is_similar : boolean Tensor of shape (n_pairs,)
    error_rate : float

    Returns
    -------
    Tensor of shape (n_pairs,)
    """
    apart = log_different(log_same)
    right: Any = torch.where(is_similar, log_same, apart)
    if error_rate == 0.0:
        return right
    wrong = torch.where(is_similar, apart, log_same)
    return torch.logaddexp(math.log1p(-error_rate) + right, math.log(error_rate) + wrong)
