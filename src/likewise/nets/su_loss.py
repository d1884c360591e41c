"""The paper's risk from similar pairs and unlabeled rows as a loss for nets, and its corrections.

It knows scores of rows; it knows no rows and no nets.
"""

from typing import Any

import torch
from torch import Tensor, nn

from likewise.su.losses import MarginLoss, get_loss
from likewise.su.rewrites import check_prior, similar_pair_share

__all__ = ["CORRECTIONS", "SULoss"]

CORRECTIONS = (None, "abs", "non-negative")


class SULoss(nn.Module):
    r"""The SU risk of a batch: classification risk from similar pairs and unlabeled rows.

    With :math:`\pi` the prior, :math:`\pi_S = \pi^2 + (1 - \pi)^2` and `l` a margin loss, the risk
    is the sum of the contributions of the two classes:

    .. math::

        R_+ = \pi E_+[l(z, +1)]
        = \frac{\pi_S E_S[l(z, +1)] - (1 - \pi) E_U[l(z, +1)]}{2 \pi - 1}

    .. math::

        R_- = (1 - \pi) E_-[l(z, -1)]
        = \frac{\pi E_U[l(z, -1)] - \pi_S E_S[l(z, -1)]}{2 \pi - 1}

    since :math:`\pi_S E_S = \pi^2 E_+ + (1 - \pi)^2 E_-` for members of similar pairs and
    :math:`E_U = \pi E_+ + (1 - \pi) E_-`. Without a correction the sum is the paper's estimator,
    unbiased. Neither contribution can be negative, but its estimate can, and a net will make it so:
    it then learns to tell similar rows from unlabeled ones.

    Parameters
    ----------
    loss : {"logistic", "squared", "double_hinge"} or MarginLoss, default "logistic"
    prior : float, default 0.7
        Share of class +1, not 0.5.
    correction : {None, "abs", "non-negative"}, default None
        "abs": the absolute value of either part (Lu, Zhang, Niu, Sugiyama 2020). "non-negative":
        a negative part counts as zero in the value, and its gradient leads out of it (Kiryo, Niu,
        du Plessis, Sugiyama 2017).

    Examples
    --------
    >>> import torch
    >>> from likewise.nets import SULoss
    >>> loss = SULoss("squared", prior=0.7)
    >>> float(loss(torch.ones(4), torch.tensor([1.0, 1.0, -1.0])))
    -0.533...
    """

    def __init__(
        self,
        loss: str | MarginLoss = "logistic",
        *,
        prior: float = 0.7,
        correction: str | None = None,
    ) -> None:
        super().__init__()
        found = get_loss(loss)
        if not isinstance(found, MarginLoss) or not found.any_library:
            raise ValueError(
                f"A net cannot be trained with the loss {found.name!r}; choose 'logistic', "
                "'squared' or 'double_hinge', or a MarginLoss with any_library=True."
            )
        if correction not in CORRECTIONS:
            raise ValueError(
                f"correction must be None, 'abs' or 'non-negative'; got {correction!r}."
            )
        self.loss = found
        self.prior = check_prior(prior)
        self.correction = correction

    def forward(self, similar: Tensor, unlabeled: Tensor) -> Tensor:
        """Return the risk.

        Parameters
        ----------
        similar : Tensor of shape (n_members,) or (n_members, 1)
            Scores of the members of similar pairs, left and right ones together; positive for
            class +1.
        unlabeled : Tensor of shape (n_rows,) or (n_rows, 1)

        Returns
        -------
        Tensor
            A scalar.
        """
        positive, negative = self.parts(similar, unlabeled)
        if self.correction == "abs":
            return positive.abs() + negative.abs()
        if self.correction == "non-negative":
            return _non_negative(positive) + _non_negative(negative)
        return positive + negative

    def parts(self, similar: Tensor, unlabeled: Tensor) -> tuple[Tensor, Tensor]:
        """Return what class +1 and what class -1 contribute to the risk, not corrected.

        Parameters
        ----------
        similar, unlabeled
            As of the loss itself.
        """
        prior = self.prior
        pairs, scale = similar_pair_share(prior), 2.0 * prior - 1.0
        alike, alone = similar.reshape(-1).float(), unlabeled.reshape(-1).float()
        psi: Any = self.loss.psi
        positive = pairs * psi(alike).mean() - (1.0 - prior) * psi(alone).mean()
        negative = prior * psi(-alone).mean() - pairs * psi(-alike).mean()
        return positive / scale, negative / scale

    def extra_repr(self) -> str:
        """Return the parameters as they are printed."""
        return f"{self.loss.name!r}, prior={self.prior:g}, correction={self.correction!r}"


def _non_negative(part: Tensor) -> Tensor:
    """Return the positive part, with the gradient of the absolute value.

    Where the part is negative, Kiryo et al. climb it until it is not.
    """
    return part.abs() + (torch.clamp(part, min=0.0) - part.abs()).detach()
