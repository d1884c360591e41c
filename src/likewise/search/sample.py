"""Rows as scores see them, with the statements about them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, Likelihood, log_probabilities
from likewise.scores.design import Design

__all__ = ["Sample"]


@dataclass(frozen=True)
class Sample:
    """What a score is learned from.

    Attributes
    ----------
    design : Design
    likelihood : Likelihood
        Of statements about the design's rows.
    """

    design: Design
    likelihood: Likelihood

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.likelihood.n_classes

    @property
    def population(self) -> Design:
        """Rows that stand for all rows there could be."""
        return self.design.take(self.likelihood.population)

    def among(self, chosen: NDArray[np.bool_]) -> "Sample":
        """Return the rows that a mask keeps, with the statements about them."""
        return Sample(self.design.take(chosen), self.likelihood.among(chosen))

    def evaluate(
        self, scores: FloatArray, near: Beliefs | None = None
    ) -> tuple[Beliefs, FloatArray]:
        """Return what the statements imply by scores, and the gradient of the value in them.

        Parameters
        ----------
        scores : array of shape (n_rows, m)
            One column for two classes, one per class for more.
        near : Beliefs, optional
            Of nearby scores.
        """
        found = self.likelihood.evaluate(log_probabilities(scores), near)
        return found, found.gradient[:, 1:] if scores.shape[1] == 1 else found.gradient
