"""Rows of another engine with every column shifted and scaled, and how to find shift and scale."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.engines.arrays import like
from likewise.engines.base import Block, Engine, Kernel, Part, Sums, ValuedKernel

__all__ = ["Moments", "ScaledEngine"]


class ScaledEngine(Engine):
    """The rows of an engine as ``(x - shift) / scale``.

    Parameters
    ----------
    engine : Engine
    shift, scale : arrays of shape (n_features,)
    """

    def __init__(self, engine: Engine, shift: FloatArray, scale: FloatArray) -> None:
        self._engine = engine
        self._shift = shift
        self._scale = scale

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._engine.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they have any."""
        return self._engine.feature_names

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""
        return self._engine.count(part)

    def statements(self) -> dict[Part, NDArray[np.intp]] | None:
        """Return the pairs of each kind as row numbers, if they name unlabeled rows."""
        return self._engine.statements()

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        return self._engine._sum_over(part, self._after_scaling(kernel))

    def _sum_over_with(self, values: NDArray[Any], kernel: ValuedKernel) -> Sums:
        return self._engine._sum_over_with(
            values, partial(_scale_both, kernel, self._shift, self._scale)
        )

    def _sum_over_parts(self, kernels: Mapping[Part, Kernel], *, frugal: bool) -> dict[Part, Sums]:
        """Sum over each part; scaled rows are copies."""
        scaled = {part: self._after_scaling(kernel) for part, kernel in kernels.items()}
        return self._engine._sum_over_parts(scaled, frugal=False)

    def _after_scaling(self, kernel: Kernel) -> Kernel:
        return partial(_scale_then, kernel, self._shift, self._scale)


def _scale_then(kernel: Kernel, shift: FloatArray, scale: FloatArray, block: Block) -> Sums:
    return kernel(_scaled(block, shift, scale))


def _scale_both(
    kernel: ValuedKernel, shift: FloatArray, scale: FloatArray, block: Block, values: Any
) -> Sums:
    return kernel(_scaled(block, shift, scale), values)


def _scaled(block: Block, shift: FloatArray, scale: FloatArray) -> Block:
    tables = ((rows - like(rows, shift)) / like(rows, scale) for rows in block.tables)
    return Block(tuple(tables), block.start)


class Moments:
    """Mean and standard deviation of every column, from parts of the rows.

    Variances are added up around the mean of each part, so that large means cost no digits.

    Parameters
    ----------
    parts : list of (n_rows, means, squared deviations)
        As `of_rows` returns them.
    """

    def __init__(self, parts: list[tuple[int, FloatArray, FloatArray]]) -> None:
        counts = np.array([count for count, _, _ in parts])[:, None]
        means = np.array([mean for _, mean, _ in parts])
        self.count = int(counts.sum())
        with np.errstate(over="ignore", invalid="ignore"):  # who asks looks at the result
            self.mean: FloatArray = (counts * means).sum(axis=0) / self.count
            within = np.sum([squares for _, _, squares in parts], axis=0)
            between = (counts * (means - self.mean) ** 2).sum(axis=0)
            self.variance: FloatArray = (within + between) / self.count

    @property
    def scale(self) -> FloatArray:
        """The standard deviation; one for a column that is constant but for rounding."""
        noise = (self.count * np.finfo(np.float64).eps * self.mean) ** 2
        return np.where(self.variance > noise, np.sqrt(self.variance), 1.0)

    @staticmethod
    def of_rows(rows: Any) -> tuple[int, FloatArray, FloatArray]:
        """Return the number of rows, their mean, and the squared deviations from it summed up."""
        with np.errstate(over="ignore", invalid="ignore"):  # who asks looks at the result
            mean = rows.mean(axis=0)
            return rows.shape[0], mean, ((rows - mean) ** 2).sum(axis=0)
