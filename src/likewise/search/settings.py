"""How to learn: folds, penalties, and how statements came about."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.beliefs.base import Likelihood
from likewise.beliefs.fresh import FreshLikelihood
from likewise.beliefs.table import TableLikelihood
from likewise.scores.maps import SPARSE
from likewise.statements.statements import Statements

__all__ = ["KINDS", "Settings", "check_pairing", "default_alphas", "default_pairing"]

_ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Penalties for a sample of `_USUAL_PAIRS` pairs."""
_USUAL_PAIRS = 500
_FEW_PAIRS = 20
"""With fewer pairs every other penalty is tried: they could not tell neighbours apart."""


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Attributes
    ----------
    cv : int or splitter
        Number of folds, or what deals rows to them.
    alphas : sequence of floats, or mapping from names of feature maps to such, optional
        By default what `default_alphas` says.
    n_classes : int
    pairing : str
        How statements came about, a name in `KINDS`.
    error_rate : float or None
        Probability that a statement is wrong; None to learn it.
    n_jobs : int or None
        Feature maps that are worked on side by side.
    """

    cv: Any = 5
    alphas: Sequence[float] | Mapping[str, Sequence[float]] | None = None
    n_classes: int = 2
    pairing: str = "random"
    error_rate: float | None = 0.0
    n_jobs: int | None = None

    def alphas_for(self, name: str, n_pairs: float) -> Sequence[float]:
        """Return the penalties to try with a feature map.

        Where columns have deviations of their own, the penalty is only what they are expected to be
        beforehand: one is enough.
        """
        if isinstance(self.alphas, Mapping):
            return self.alphas[name]
        if self.alphas:
            return self.alphas
        alphas = default_alphas(n_pairs)
        return alphas[len(alphas) // 2 :][:1] if name == SPARSE else alphas

    def likelihood(
        self, statements: Statements, known: NDArray[np.intp] | None = None
    ) -> Likelihood:
        """Return the likelihood of statements that came about this way."""
        return KINDS[self.pairing](statements, self, known)


def _fresh_or_table(
    statements: Statements, settings: Settings, known: NDArray[np.intp] | None
) -> Likelihood:
    """Return the likelihood of similar pairs that were found, or of fresh pairs."""
    if statements.is_fresh:
        return FreshLikelihood(statements, settings.n_classes, settings.pairing)
    return _about_table(statements, settings, known)


def _about_table(
    statements: Statements, settings: Settings, known: NDArray[np.intp] | None
) -> Likelihood:
    pairing: Any = settings.pairing
    return TableLikelihood(statements, settings.n_classes, pairing, settings.error_rate, known)


KINDS: dict[str, Callable[[Statements, Settings, NDArray[np.intp] | None], Likelihood]] = {
    "asked": _about_table,
    "random": _fresh_or_table,
    "free": _fresh_or_table,
}
"""How statements can have come about, and the likelihood of each kind."""


def check_pairing(pairing: str, error_rate: float | str, *, is_fresh: bool) -> None:
    """Raise unless statements of this form can have come about this way.

    Parameters
    ----------
    pairing : str
        "auto", or a name in `KINDS`.
    error_rate : float or "auto"
    is_fresh : bool
        Whether pairs are rows of their own, rather than statements about one table.
    """
    if pairing not in ("auto", *KINDS):
        raise ValueError(f"pairing must be one of {', '.join(['auto', *KINDS])}; got {pairing!r}.")
    if is_fresh and pairing == "asked":
        raise ValueError(
            "pairing='asked' is for statements about the rows of one table; these are fresh pairs. "
            "Pass row numbers to likewise.pack."
        )
    if is_fresh and error_rate != 0.0:
        raise ValueError(
            "error_rate is for statements about the rows of one table; these are fresh pairs. Pass "
            "row numbers to likewise.pack, or error_rate=0.0."
        )


def default_alphas(n_pairs: float) -> tuple[float, ...]:
    """Return penalties that suit a number of pairs: the noise they hold down falls with it."""
    factor = math.sqrt(_USUAL_PAIRS / n_pairs)
    alphas = _ALPHAS if n_pairs >= _FEW_PAIRS else _ALPHAS[::2]
    return tuple(alpha * factor for alpha in alphas)


def default_pairing(statements: Statements) -> str:
    """Return how statements came about, as far as these show it.

    Where some rows are said to differ, somebody was asked. Similar pairs alone were found, at
    random unless a test says otherwise. Fresh pairs were drawn at random.

    Parameters
    ----------
    statements : Statements
    """
    return "asked" if statements.n_dissimilar and not statements.is_fresh else "random"
