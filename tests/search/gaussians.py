"""Rows of two Gaussian classes in one dimension, whose class probabilities are known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts


@dataclass(frozen=True)
class Gaussians:
    """Two classes of unit deviation; class 1 has the higher mean and a share of `prior`."""

    separation: float = 2.0
    prior: float = 0.7

    @property
    def pair_share(self) -> float:
        """Share of class 1 among similar pairs that were formed at random."""
        return self.prior**2 / (self.prior**2 + (1 - self.prior) ** 2)

    def log_odds(self, x: FloatArray) -> FloatArray:
        """Log-odds of class 1."""
        return np.asarray(self.separation * x + np.log(self.prior / (1 - self.prior)))

    def draw(
        self, rng: np.random.Generator, counts: Counts, pair_share: float | None = None
    ) -> FloatArray:
        """Draw rows in the order of the counts."""
        share = self.pair_share if pair_share is None else pair_share
        alone = rng.random(counts.unlabeled) < self.prior
        pairs = rng.random(counts.similar) < share
        other = rng.random(counts.dissimilar) < 0.5
        labels = np.concatenate([alone, pairs, pairs, other, ~other])
        return np.asarray(self.separation * (labels - 0.5) + rng.standard_normal(counts.rows))

    def similar_information(self) -> float:
        """Mean log-density of similar pairs against two independent rows, by integration."""
        square = self.prior**2 + (1 - self.prior) ** 2
        return self._integrated(lambda agreement: agreement / square)

    def dissimilar_information(self) -> float:
        """The same of dissimilar pairs."""
        square = self.prior**2 + (1 - self.prior) ** 2
        return self._integrated(lambda agreement: (1 - agreement) / (1 - square))

    def _integrated(self, ratio_of: Callable[[FloatArray], FloatArray]) -> float:
        x, step = np.linspace(-8, 8, 801, retstep=True)
        eta, rows = expit(self.log_odds(x)), self.density(x, self.prior)
        agreement = np.outer(eta, eta) + np.outer(1 - eta, 1 - eta)
        ratio = ratio_of(agreement)
        return float((np.outer(rows, rows) * ratio * np.log(ratio)).sum() * step**2)

    def density(self, x: FloatArray, share: float) -> FloatArray:
        """Density of rows among which class 1 has a share."""
        means = self.separation / 2 * np.array([-1.0, 1.0])
        classes = np.exp(-0.5 * (x[:, None] - means) ** 2) / np.sqrt(2 * np.pi)
        return np.asarray(classes @ [1 - share, share])
