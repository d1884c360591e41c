"""Two samples of rows in the space of a Gaussian kernel, of the width that sets them apart most.

This module knows nothing of classes, pairs or what the samples are compared for.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from likewise._types import FloatArray
from likewise.prior.simplex import DenseGram, FactoredGram, Gram

__all__ = [
    "Embedding",
    "TwoSamples",
    "embed_exactly",
    "embed_in_few_dimensions",
    "pivoted_cholesky",
]

_WIDTH_FACTORS = (0.1, 10**-0.5, 1.0, 10**0.5, 10.0)
_PIVOT_TOLERANCE = 1e-10
_BLOCK_ROWS = 1000


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Rows, each of them once, and how often each is in a mixture and in a component.

    Attributes
    ----------
    rows : array of shape (n_rows, n_features)
    in_mixture, in_component : arrays of shape (n_rows,)
        Counts.
    """

    rows: FloatArray
    in_mixture: FloatArray
    in_component: FloatArray

    @classmethod
    def stacked(cls, mixture: FloatArray, component: FloatArray) -> Self:
        """Take two tables for samples of rows of their own."""
        rows = np.concatenate([mixture, component]).astype(np.float64, copy=False)
        is_mixture = (np.arange(len(rows)) < len(mixture)).astype(np.float64)
        return cls(rows, is_mixture, 1.0 - is_mixture)

    def target(self, value: float) -> FloatArray:
        """Return the weights of ``value * mixture + (1 - value) * component``."""
        of_mixture = self.in_mixture * (value / self.in_mixture.sum())
        of_component = self.in_component * ((1.0 - value) / self.in_component.sum())
        return np.asarray(of_mixture + of_component)

    def contrast(self) -> FloatArray:
        """Return the weights of ``mixture - component``."""
        of_mixture = self.in_mixture * (1.0 / self.in_mixture.sum())
        return np.asarray(of_mixture - self.in_component * (1.0 / self.in_component.sum()))

    def smaller_size(self) -> float:
        """Return the effective sample size of the smaller sample.

        The square of the sum of counts over the sum of their squares: a row that is in a sample
        many times is still one row.
        """
        counts = (self.in_mixture, self.in_component)
        return float(min(count.sum() ** 2 / (count**2).sum() for count in counts))


@dataclass(frozen=True, eq=False)
class Embedding:
    """Two samples in the kernel's space.

    Attributes
    ----------
    samples : TwoSamples
    gram : Gram
        Kernel matrix of the rows.
    width : float
    width_factor : float
        `width` over the median distance of two rows.
    sample_distance : float
        Distance of the samples' means (maximum mean discrepancy).
    rank : int or None
        Columns of the factor of a low-rank kernel matrix.
    kernel_error : float
        Largest error that an entry of the kernel matrix can have.
    """

    samples: TwoSamples
    gram: Gram
    width: float
    width_factor: float
    sample_distance: float
    rank: int | None
    kernel_error: float


def embed_exactly(samples: TwoSamples) -> Embedding:
    """Embed two samples with the whole kernel matrix."""
    rows = samples.rows
    distances = _squared_distances(rows, rows)
    np.fill_diagonal(distances, 0.0)
    median = _positive_root_of_median(distances)
    contrast = samples.contrast()
    best, sample_distance = _best_width(_forms(distances, median, contrast, contrast))
    width = _WIDTH_FACTORS[best] * median
    distances /= -2.0 * width**2
    kernel = np.exp(distances, out=distances)
    return Embedding(
        samples, DenseGram(kernel), width, _WIDTH_FACTORS[best], sample_distance, None, 0.0
    )


def embed_in_few_dimensions(samples: TwoSamples, median_rows: int, max_rank: int) -> Embedding:
    """Embed two samples with a low-rank factor of the kernel matrix and its exact diagonal.

    Parameters
    ----------
    samples : TwoSamples
    median_rows : int
        How many evenly spaced rows the median distance is taken over.
    max_rank : int
        Most columns of the factor.

    Returns
    -------
    Embedding
    """
    rows = samples.rows
    few = rows[np.linspace(0, rows.shape[0] - 1, median_rows).astype(np.intp)]
    distances = _squared_distances(few, few)
    np.fill_diagonal(distances, 0.0)
    median = _positive_root_of_median(distances)
    del distances
    contrast = samples.contrast()
    best, sample_distance = _best_width(_contrast_norms(rows, contrast, median))
    width = _WIDTH_FACTORS[best] * median
    factor, residual = pivoted_cholesky(rows, width, max_rank)
    return Embedding(
        samples,
        FactoredGram(factor, residual),
        width,
        _WIDTH_FACTORS[best],
        sample_distance,
        factor.shape[1],
        float(residual.max()),
    )


def _squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    distances = left @ (-2.0 * right.T)
    distances += np.einsum("ij,ij->i", left, left)[:, None]
    distances += np.einsum("ij,ij->i", right, right)[None, :]
    return np.maximum(distances, 0.0, out=distances)


def _positive_root_of_median(squared_distances: FloatArray) -> float:
    """Return the median distance over all ordered pairs of rows, a row with itself included."""
    median = sqrt(float(np.median(squared_distances)))
    if not median > 0.0:
        raise ValueError(
            "At least half of all distances between rows are zero, so the kernel has no width: "
            "too many rows are alike, or all features are constant."
        )
    return median


def _forms(
    squared_distances: FloatArray, median: float, left: FloatArray, right: FloatArray
) -> FloatArray:
    """Return ``left' K right`` for each width, from small to large, by powers of the widest K."""
    kernel = squared_distances / (-2.0 * (_WIDTH_FACTORS[-1] * median) ** 2)
    np.exp(kernel, out=kernel)
    power = np.empty_like(kernel)
    forms = [float(left @ (kernel @ right))]
    for _ in _WIDTH_FACTORS[1:]:  # the kernel of a width is the tenth power of the next larger one
        np.multiply(kernel, kernel, out=power)
        np.multiply(power, power, out=power)
        power *= kernel
        np.multiply(power, power, out=kernel)
        forms.append(float(left @ (kernel @ right)))
    return np.array(forms[::-1])


def _contrast_norms(rows: FloatArray, contrast: FloatArray, median: float) -> FloatArray:
    """Return ``contrast' K contrast`` for each width, block by block."""
    norms = np.zeros(len(_WIDTH_FACTORS))
    starts = range(0, rows.shape[0], _BLOCK_ROWS)
    for i in starts:
        upper = slice(i, i + _BLOCK_ROWS)
        for j in range(i, rows.shape[0], _BLOCK_ROWS):
            right = slice(j, j + _BLOCK_ROWS)
            distances = _squared_distances(rows[upper], rows[right])
            times = 1.0 if i == j else 2.0
            norms += times * _forms(distances, median, contrast[upper], contrast[right])
    return norms


def _best_width(squared_norms: FloatArray) -> tuple[int, float]:
    best = int(np.argmax(squared_norms))
    if not squared_norms[best] > 1e-12:
        raise ValueError(
            "The unlabeled rows and the members of the pairs are the same rows, so there is no "
            "mixture to take apart."
        )
    return best, sqrt(float(squared_norms[best]))


def pivoted_cholesky(
    rows: FloatArray, width: float, max_rank: int
) -> tuple[FloatArray, FloatArray]:
    """Return a factor of the kernel matrix and what it leaves of the diagonal."""
    n = rows.shape[0]
    factor = np.zeros((n, min(max_rank, n)), order="F")
    residual = np.ones(n)
    rank = 0
    while rank < factor.shape[1]:
        pivot = int(np.argmax(residual))
        if residual[pivot] <= _PIVOT_TOLERANCE:
            break
        column = _squared_distances(rows, rows[pivot : pivot + 1])[:, 0]
        column = np.exp(column / (-2.0 * width**2)) - factor[:, :rank] @ factor[pivot, :rank]
        column /= sqrt(residual[pivot])
        factor[:, rank] = column
        residual = np.maximum(residual - column**2, 0.0)
        residual[pivot] = 0.0
        rank += 1
    return np.ascontiguousarray(factor[:, :rank]), residual
