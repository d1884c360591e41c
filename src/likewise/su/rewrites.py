"""Rewrites: which means of rows the risk without labels is made of, and with which weights.

Every risk here needs ``E[y g(x)] / 2`` for some functions g: the features themselves, or the
decisions of a classifier. Rows of three kinds have means that are linear in the two class means,

    unlabeled rows                 pi mu+ + (1 - pi) mu-
    members of similar pairs       (pi^2 mu+ + (1 - pi)^2 mu-) / pi_s
    members of dissimilar pairs    (mu+ + mu-) / 2

so two of them determine it. With ``pi_d = 2 pi (1 - pi)``, the unlabeled mean is ``pi_s`` times the
similar one plus ``pi_d`` times the dissimilar one; all unbiased weights are therefore on one line,

    similar: t pi_s / d,   dissimilar: -(1 - t) pi_d / d,   unlabeled: (1/2 - t) / d,   d = 2 pi - 1

with SU of the paper at t = 1, DU at t = 0 and SD halfway. A rewrite says which t. Nothing here
knows of rows, losses or solvers.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from likewise._types import FloatArray
from likewise.engines.base import Part

__all__ = [
    "DU",
    "REWRITES",
    "SD",
    "SDU",
    "SU",
    "Rewrite",
    "Spreads",
    "Weights",
    "check_prior",
    "choose_rewrite",
    "least_variance_share",
    "similar_pair_share",
]


def check_prior(prior: float) -> float:
    """Return `prior` if the risk exists for it; raise a ValueError that says why if not.

    Examples
    --------
    >>> from likewise.su.risk import check_prior
    >>> check_prior(0.7)
    0.7
    """
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior must lie strictly between 0 and 1; got {prior!r}.")
    if prior == 0.5:
        raise ValueError(
            "prior=0.5 is the one value at which the SU risk does not exist (it divides by "
            "2 * prior - 1); with equally large classes the means of pairs do not tell them apart."
        )
    return prior


def similar_pair_share(prior: float) -> float:
    """Return ``pi_s``, the probability that two independent rows are of one class.

    Examples
    --------
    >>> from likewise.su.risk import similar_pair_share
    >>> round(similar_pair_share(0.7), 2)
    0.58
    """
    return prior**2 + (1.0 - prior) ** 2


class Weights(NamedTuple):
    """Weights of the three means in ``E[y g(x)] / 2``."""

    unlabeled: float
    similar: float
    dissimilar: float

    def combine(
        self, unlabeled: ArrayLike, similar: ArrayLike | None, dissimilar: ArrayLike | None
    ) -> FloatArray:
        """Return the weighted sum of means; one that has no weight may be None."""
        total = np.asarray(self.unlabeled * np.asarray(unlabeled, dtype=np.float64))
        for weight, mean in ((self.similar, similar), (self.dissimilar, dissimilar)):
            if weight:
                total = total + weight * np.asarray(mean, dtype=np.float64)
        return total


class Spreads(NamedTuple):
    """Variances of the three means, in one unit; pairs count as units, since members depend."""

    unlabeled: float
    similar: float
    dissimilar: float


@dataclass(frozen=True)
class Rewrite:
    """One unbiased way to write ``E[y g(x)] / 2`` as a weighted sum of means.

    Attributes
    ----------
    name : str
    parts : tuple of "similar" and "dissimilar"
        The kinds of pairs that it needs; unlabeled rows are there always.
    share : float, or callable
        The place t on the line from DU (0) to SU (1), or a function of the prior and of the
        `Spreads` of the three means that finds it.

    Examples
    --------
    >>> from likewise.su.rewrites import SU
    >>> SU.weights(0.75)
    Weights(unlabeled=-1.0, similar=1.25, dissimilar=0.0)
    """

    name: str
    parts: tuple[Part, ...]
    share: float | Callable[[float, Spreads], float]

    @classmethod
    def at(cls, share: float) -> "Rewrite":
        """Return the rewrite at a given place of the line."""
        for rewrite in (SU, DU):
            if share == rewrite.share:
                return rewrite
        return cls("sdu", ("similar", "dissimilar"), share)

    @property
    def needs_spreads(self) -> bool:
        """Whether the weights depend on the rows."""
        return callable(self.share)

    def settle(self, prior: float, spreads: Spreads | None) -> "Rewrite":
        """Return this rewrite with its place on the line found."""
        return replace(self, share=self.place(prior, spreads))

    def place(self, prior: float, spreads: Spreads | None) -> float:
        """Return t, the place on the line; spreads are needed where it depends on the rows."""
        if not callable(self.share):
            return self.share
        if spreads is None:
            raise ValueError(f"The weights of the rewrite {self.name!r} depend on the rows.")
        return float(self.share(check_prior(prior), spreads))

    def weights(self, prior: float, spreads: Spreads | None = None) -> Weights:
        """Return the weights of the three means at a prior."""
        difference, similar = 2.0 * check_prior(prior) - 1.0, similar_pair_share(prior)
        place = self.place(prior, spreads)
        return Weights(
            unlabeled=(0.5 - place) / difference,
            similar=place * similar / difference,
            dissimilar=(place - 1.0) * (1.0 - similar) / difference,
        )


def least_variance_share(prior: float, spreads: Spreads) -> float:
    """Return the t in [0, 1] at which the weighted sum of means has the least variance.

    For independent means ``d^2`` times the variance is ``t^2 pi_s^2 V_S + (1 - t)^2 pi_d^2 V_D +
    (t - 1/2)^2 V_U``. With statements about one table the means share rows; where that matters,
    every t gives nearly the same sum (see ``docs/math.md``).

    Parameters
    ----------
    prior : float
    spreads : Spreads

    Returns
    -------
    float
        1/2 where no mean varies.
    """
    of_similar = similar_pair_share(prior) ** 2 * spreads.similar
    of_dissimilar = (1.0 - similar_pair_share(prior)) ** 2 * spreads.dissimilar
    total = of_similar + of_dissimilar + spreads.unlabeled
    return (of_dissimilar + 0.5 * spreads.unlabeled) / total if total > 0 else 0.5


SU = Rewrite("su", ("similar",), 1.0)
DU = Rewrite("du", ("dissimilar",), 0.0)
SD = Rewrite("sd", ("similar", "dissimilar"), 0.5)
SDU = Rewrite("sdu", ("similar", "dissimilar"), least_variance_share)

REWRITES = {rewrite.name: rewrite for rewrite in (SU, DU, SD, SDU)}


def choose_rewrite(rewrite: str | Rewrite, parts: Collection[Part], who: str) -> Rewrite:
    """Return the rewrite to use, given the kinds of pairs that there are.

    Parameters
    ----------
    rewrite : {"auto", "su", "du", "sd", "sdu"} or Rewrite
        "auto" uses all pairs: SU, DU, or SDU where there are both kinds.
    parts : collection of "similar" and "dissimilar"
        Kinds of pairs that there are.
    who : str
        Who needs them, for the messages.

    Returns
    -------
    Rewrite
    """
    if not parts:
        raise ValueError(f"{who} needs at least one pair, but there is none.")
    if rewrite == "auto":
        return next(r for r in (SU, DU, SDU) if set(r.parts) == set(parts))
    found = REWRITES[rewrite] if isinstance(rewrite, str) else rewrite
    for part in found.parts:
        if part not in parts:
            raise ValueError(
                f"{who} needs at least one {part} pair for rewrite={found.name!r}, but there is "
                "none."
            )
    return found
