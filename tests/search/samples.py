"""Samples that tests of the search learn from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import likewise as lw
from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import FreshLikelihood, in_order
from likewise.scores.design import Design, column_moments
from likewise.search.sample import Sample
from likewise.statements.labels import read_labels
from likewise.statements.statements import Statements


def fresh(counts: Counts, n_classes: int = 2, pairing: str = "random") -> FreshLikelihood:
    """Return the likelihood of fresh pairs whose rows are in the order of the counts."""
    return FreshLikelihood(in_order(counts), n_classes, pairing)


def as_sample(rows: Any, likelihood: Likelihood) -> Sample:
    """Return rows with standardised columns and the statements about them."""
    return Sample(Design(rows, *column_moments(rows)), likelihood)


def statements_of(n_rows: int, similar: Any, dissimilar: Any = None) -> Statements:
    """Return statements about the rows of one table, by row numbers."""
    return read_labels(lw.pack(np.zeros((n_rows, 1)), similar=similar, dissimilar=dissimilar)[1])


def random_pairs(rng: np.random.Generator, n_rows: int, size: int) -> NDArray[np.intp]:
    """Return pairs of two different rows, rows put back: some are in several."""
    first = rng.integers(n_rows, size=size)
    return np.column_stack([first, (first + rng.integers(1, n_rows, size=size)) % n_rows])


def answered(
    rng: np.random.Generator, classes: NDArray[Any], size: int, error_rate: float = 0.0
) -> Statements:
    """Return answers about random pairs of the rows of one table."""
    pairs = random_pairs(rng, classes.size, size)
    alike = (classes[pairs[:, 0]] == classes[pairs[:, 1]]) ^ (rng.random(size) < error_rate)
    return statements_of(classes.size, pairs[alike], pairs[~alike])


def met(rng: np.random.Generator, classes: NDArray[Any], size: int) -> Statements:
    """Return random pairs of alike rows of one table."""
    pairs = random_pairs(rng, classes.size, 20 * size)
    pairs = pairs[classes[pairs[:, 0]] == classes[pairs[:, 1]]][:size]
    return statements_of(classes.size, pairs)


def two_gaussians(
    rng: np.random.Generator,
    n_rows: int,
    separation: float = 3.0,
    prior: float = 0.7,
    n_columns: int = 3,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return rows of two classes that differ in the first column, and their classes."""
    classes = (rng.random(n_rows) < prior).astype(np.intp)
    rows = rng.standard_normal((n_rows, n_columns))
    rows[:, 0] += separation * (classes - 0.5)
    return rows, classes


def bent(rng: np.random.Generator, n: int) -> tuple[FloatArray, Any]:
    """Two classes apart along a line and in their spread across it: each map sees one half."""

    def points(of_class: Any) -> FloatArray:
        along = rng.standard_normal(n) + np.where(of_class, 1.2, -1.2)
        across = rng.standard_normal((2, n)) * np.where(of_class, 0.5, 1.5)
        return np.column_stack([along, *across, *rng.standard_normal((6, n))])

    pairs, rows = rng.random((2, n)) < [[0.845], [0.7]]
    X, y = lw.pack(points(rows), similar=(points(pairs), points(pairs)))
    return X, y
