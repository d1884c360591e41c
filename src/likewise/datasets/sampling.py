"""Weak samples from a labeled pool: similar pairs, unlabeled rows and test rows.

This is how the experiments turn a benchmark into data for SU learning. It must not know where the
pool comes from, nor what is learned from the sample.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.datasets.arguments import RandomState, as_count, as_generator, as_prior
from likewise.datasets.pool import as_pool, draw_rows, one_per_row
from likewise.engines.rows import Table, take_rows
from likewise.statements.packing import pack

__all__ = ["SUSample", "sample_su"]


@dataclass(frozen=True, eq=False, repr=False)
class SUSample:
    """Similar pairs, unlabeled rows and labeled test rows, with the hidden labels beside them.

    Tables are of the same kind as the pool that they were drawn from.

    Attributes
    ----------
    similar : tuple of two tables of shape (n_similar, n_features)
        Left and right members; row ``i`` of both is pair ``i``.
    unlabeled : table of shape (n_unlabeled, n_features)
    X_test : table of shape (n_test, n_features)
    y_test : int64 array of shape (n_test,)
        Classes -1 and +1.
    y_similar : int64 array of shape (n_similar,)
        Hidden class of each pair; for evaluation only, a learner must not see it.
    y_unlabeled : int64 array of shape (n_unlabeled,)
        Hidden class of each unlabeled row; for evaluation only.
    prior : float
        The class prior that the rows were drawn with.

    Examples
    --------
    >>> from likewise.datasets import make_gaussians, sample_su
    >>> X, y = make_gaussians(2000, random_state=0)
    >>> sample = sample_su(X, y, 50, 100, prior=0.7, random_state=0)
    >>> left, right = sample.similar
    >>> left.shape, sample.unlabeled.shape
    ((50, 2), (100, 2))
    >>> X, y = sample.pack()
    >>> X.shape, y.shape
    ((200, 2), (200,))
    """

    similar: tuple[Table, Table]
    unlabeled: Table
    X_test: Table
    y_test: NDArray[np.int64]
    y_similar: NDArray[np.int64]
    y_unlabeled: NDArray[np.int64]
    prior: float

    def __repr__(self) -> str:
        return (
            f"SUSample(n_similar={self.y_similar.size}, n_unlabeled={self.y_unlabeled.size}, "
            f"n_test={self.y_test.size}, prior={self.prior:g})"
        )

    def pack(self) -> tuple[Table, NDArray[np.int64]]:
        """Return what an estimator's ``fit`` takes: one table and its weak labels.

        Returns
        -------
        X : table of shape (n_unlabeled + 2 * n_similar, n_features)
        y : int64 array of shape (n_unlabeled + 2 * n_similar,)
            0 for an unlabeled row, ``k`` on both rows of similar pair ``k``.
        """
        return pack(unlabeled=self.unlabeled, similar=self.similar)


def sample_su(
    X: Any,
    y: ArrayLike,
    n_similar: int,
    n_unlabeled: int,
    *,
    n_test: int = 0,
    prior: float = 0.7,
    random_state: RandomState = None,
) -> SUSample:
    r"""Draw similar pairs, unlabeled rows and test rows from a labeled pool.

    Rows are drawn without replacement: no row of the pool is used twice. Classes are drawn as in
    the model of Bao et al. (2018), Eqs. (2) and (3): with :math:`\pi` the prior, a pair is positive
    with probability :math:`\pi^2 / (\pi^2 + (1 - \pi)^2)`, an unlabeled or test row with
    probability :math:`\pi`. Class counts are therefore random, and a pool that is only just large
    enough may suffice for one random state and not for another.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        The pool: a numpy array, a pandas or polars frame, or a scipy sparse matrix.
    y : array-like of shape (n_rows,)
        True classes, -1 and +1; both must occur.
    n_similar : int
        Number of similar pairs.
    n_unlabeled : int
        Number of unlabeled rows.
    n_test : int, default=0
        Number of labeled test rows.
    prior : float, default=0.7
        Probability of class +1 in the sample, whatever its share in the pool.
    random_state : int, RandomState or Generator, optional
        Source of randomness; by default every call gives another draw.

    Returns
    -------
    SUSample

    Raises
    ------
    ValueError
        If `y` holds anything but the two classes -1 and +1, if a number is out of range, or if
        the pool has too few rows of a class; the message then says how many are missing.

    Examples
    --------
    >>> from likewise.datasets import make_gaussians, sample_su
    >>> X, y = make_gaussians(1000, prior=0.5, random_state=0)
    >>> sample = sample_su(X, y, n_similar=50, n_unlabeled=200, n_test=100, random_state=0)
    >>> sample
    SUSample(n_similar=50, n_unlabeled=200, n_test=100, prior=0.7)
    >>> sample.similar[0].shape, sample.unlabeled.shape
    ((50, 2), (200, 2))
    >>> X_weak, y_weak = sample.pack()
    >>> X_weak.shape, int(y_weak.max())
    ((300, 2), 50)
    """
    pool = as_pool(X)
    classes = _as_classes(y, pool.shape[0])
    n_similar = as_count(n_similar, "n_similar")
    n_unlabeled = as_count(n_unlabeled, "n_unlabeled")
    n_test = as_count(n_test, "n_test")
    prior = as_prior(prior)
    rng = as_generator(random_state)

    positive_pair = prior**2 / (prior**2 + (1 - prior) ** 2)
    y_similar = _draw_classes(rng, n_similar, positive_pair)
    y_unlabeled = _draw_classes(rng, n_unlabeled, prior)
    y_test = _draw_classes(rng, n_test, prior)

    wanted = np.concatenate([y_similar, y_similar, y_unlabeled, y_test])
    rows = draw_rows(rng, classes, wanted, {1: "+1", -1: "-1"})
    ends = np.cumsum([n_similar, n_similar, n_unlabeled])
    left, right, unlabeled, test = (take_rows(pool, part) for part in np.split(rows, ends))
    return SUSample(
        similar=(left, right),
        unlabeled=unlabeled,
        X_test=test,
        y_test=y_test,
        y_similar=y_similar,
        y_unlabeled=y_unlabeled,
        prior=prior,
    )


def _draw_classes(rng: np.random.Generator, n_draws: int, positive: float) -> NDArray[np.int64]:
    """Draw `n_draws` independent classes, +1 with probability `positive`."""
    return np.where(rng.random(n_draws) < positive, 1, -1).astype(np.int64)


def _as_classes(y: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Return the true classes as int64, or say what is wrong with them."""
    labels = one_per_row(y, n_rows)
    found = set(labels.tolist())
    if found != {-1, 1}:
        shown = ", ".join(sorted(map(repr, found))[:5]) + (", ..." if len(found) > 5 else "")
        raise ValueError(f"y must hold the two classes -1 and +1, but it holds: {shown}.")
    return labels.astype(np.int64)
