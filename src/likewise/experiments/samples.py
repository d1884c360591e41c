"""Where the rows of a trial come from: a pool, a weak sample of it, and features on one scale.

A sample is a function of the numbers that describe it. This module must not know of methods.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from time import perf_counter
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import list_datasets, load, make_gaussians, sample_su
from likewise.prior import KernelMeanPrior, PriorEstimate
from likewise.prior.scores import HeldOut, learn_scores
from likewise.search.learn import Learned
from likewise.search.rows import MemoryRows
from likewise.search.settings import Settings
from likewise.statements.labels import read_labels

__all__ = ["GENERATED", "Draw", "Task", "check_pools", "draw_task", "pool", "standardise"]

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int64]

GENERATED = ("gaussians", "ringnorm", "threenorm")
"""Pools that need no file."""

_SMALLEST_DEVIATION = 1e-9
_SERIES = 2
"""Which of the endless series of samples: methods were chosen by looking at another one."""


@dataclass(frozen=True)
class Draw:
    """The numbers that fix a sample.

    Attributes
    ----------
    dataset : str
    n_similar, n_unlabeled, n_test : int
        Numbers of pairs, of unlabeled rows, of test rows.
    prior : float
        Share of class +1 among unlabeled and test rows.
    trial : int
    """

    dataset: str
    n_similar: int
    n_unlabeled: int
    n_test: int
    prior: float
    trial: int

    def generator(self) -> np.random.Generator:
        """Return a source of randomness that no other draw has."""
        return np.random.default_rng([_SERIES, crc32(repr(self).encode()), self.trial])


@dataclass(frozen=True, eq=False)
class Task:
    """One sample as a method sees it: standardized by the mean and deviation of `X`.

    Attributes
    ----------
    X : array of shape (n_rows, n_features)
        Unlabeled rows, then left members, then right members of the pairs.
    y : int array of shape (n_rows,)
        Weak labels as `likewise.pack` makes them.
    X_test : array of shape (n_test, n_features)
        Rows to predict.
    hidden : int array of shape (n_rows,)
        True classes of the rows of `X`, for a method that shows what labels would give. Another
        method must not look.
    seed : int
        For the method's own random choices.
    """

    X: FloatArray
    y: Labels
    X_test: FloatArray
    hidden: Labels
    seed: int

    @property
    def unlabeled(self) -> FloatArray:
        """The unlabeled rows."""
        return np.asarray(self.X[self.y == 0])

    @cached_property
    def kernel_mean(self) -> tuple[dict[str, PriorEstimate], float]:
        """KM1 and KM2 of this sample with the seconds that they took; computed once."""
        start = perf_counter()
        estimates: dict[str, PriorEstimate] = KernelMeanPrior().fit(self.X, self.y).estimates_
        return estimates, perf_counter() - start

    @cached_property
    def pair_scores(self) -> tuple[tuple[Learned, HeldOut | None], float]:
        """Scores that prior estimators read the prior off, and the seconds to learn them."""
        start = perf_counter()
        rows = MemoryRows(self.X, read_labels(self.y))
        random_state = np.random.RandomState(self.seed)
        return learn_scores(rows, Settings(), random_state), perf_counter() - start


@lru_cache(maxsize=16)
def pool(dataset: str) -> tuple[NDArray[np.floating], Labels]:
    """Return all rows and classes that samples are drawn from; remembered.

    Parameters
    ----------
    dataset : str
        One of the twelve sets of the paper; "gaussians": two of them in five dimensions; or
        "ringnorm" and "threenorm" of Breiman (1996): a class inside another one, and one between
        the two halves of another one, in twenty dimensions.

    Returns
    -------
    X : array of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    """
    if dataset == "gaussians":
        return make_gaussians(20_000, n_features=5, separation=2.5, prior=0.5, random_state=0)
    if dataset in GENERATED:
        return _of_breiman(dataset, 20_000)
    return load(dataset, return_X_y=True)


def _of_breiman(name: str, n_rows: int) -> tuple[FloatArray, Labels]:
    """Draw one of the artificial problems of Breiman (1996), "Bias, variance, and arcing"."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], n_rows // 2)
    X = rng.standard_normal((n_rows, 20))
    shift = 2.0 / np.sqrt(20.0)
    if name == "ringnorm":
        X[y == 1] *= 2.0
        X[y == -1] += shift
    else:
        X[y == 1] += shift * rng.choice([-1.0, 1.0], size=(n_rows // 2, 1))
        X[y == -1] += shift * np.tile([1.0, -1.0], 10)
    return X, y


def check_pools(datasets: Iterable[str]) -> None:
    """Raise an error unless every set can be had, before anything is downloaded.

    Parameters
    ----------
    datasets : names
    """
    sources = {info.name: info.source for info in list_datasets()}
    at_hand = {"folder", "cache", "OpenML"}
    for name in sorted(datasets, key=lambda name: sources.get(name) in at_hand):
        if name in GENERATED:
            continue
        try:
            load(name)
        except ValueError as error:
            if name in sources:
                raise
            raise ValueError(f"{error} Here also: {', '.join(GENERATED)}.") from None


@lru_cache(maxsize=1)
def draw_task(draw: Draw) -> tuple[Task, Labels]:
    """Draw a sample; remembered, since the methods of a trial come one after the other.

    Parameters
    ----------
    draw : Draw

    Returns
    -------
    task : Task
    y_test : int array of shape (n_test,)
        True classes of the test rows.

    Examples
    --------
    >>> from likewise.experiments.samples import Draw, draw_task
    >>> task, y_test = draw_task(Draw("gaussians", 50, 60, 40, prior=0.7, trial=0))
    >>> task.X.shape, task.X_test.shape, y_test.shape
    ((160, 5), (40, 5), (40,))
    """
    sample = sample_su(
        *pool(draw.dataset),
        draw.n_similar,
        draw.n_unlabeled,
        n_test=draw.n_test,
        prior=draw.prior,
        random_state=draw.generator(),
    )
    X, y = sample.pack()
    hidden = np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])
    X, X_test = standardise(X, X, sample.X_test)
    return Task(X, y, X_test, hidden, draw.trial), sample.y_test


def standardise(training: NDArray[np.floating], *tables: NDArray[np.floating]) -> list[FloatArray]:
    """Put tables on the scale of the training rows; a column that does not vary there is centered.

    Parameters
    ----------
    training : array of shape (n_rows, n_features)
    *tables : arrays with the same columns

    Returns
    -------
    list of arrays

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.experiments.samples import standardise
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[4.0, 6.0]]))
    [array([[2., 1.]])]
    """
    rows = np.asarray(training, dtype=np.float64)
    deviation = rows.std(axis=0)
    scale = np.where(deviation < _SMALLEST_DEVIATION, 1.0, deviation)
    return [(np.asarray(table, dtype=np.float64) - rows.mean(axis=0)) / scale for table in tables]
