"""Cross-validation with the squared loss against one ``X.T @ X`` of the same array."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import best_times, extra_resident, extra_traced, in_fresh_process
from benchmarks.table import Limit, Row, Table, number, seconds
from likewise import SUClassifierCV

Weak = tuple[NDArray[np.float64], NDArray[np.int64]]

_ALPHAS = (1e-1, 1e-4, 1e-7)
_FOLDS = 5
_METERS = {"tracemalloc": extra_traced, "resident": extra_resident}
_MEBIBYTE = 2**20


def measure(n_unlabeled: int, n_pairs: int, n_features: int, repeats: int) -> Table:
    """Time the fit, and weigh what it holds beyond the array, for rows in order and shuffled."""
    shape = (n_unlabeled, n_pairs, n_features)
    X, packed = _rows(*shape, shuffled=False)
    _, shuffled = _rows(*shape, shuffled=True)
    fits = {"packed rows": packed, "shuffled rows": shuffled}
    product = f"one X.T @ X, {X.shape[0]:,} x {X.shape[1]}"
    best = best_times(
        {
            product: lambda: X.T @ X,
            **{name: partial(_fit, (X, y)) for name, y in fits.items()},
        },
        repeats,
    )
    speed = [
        Row(
            f"time, {name}",
            seconds(best[name]),
            f"{product}: {seconds(best[product])}",
            best[name] / best[product],
            Limit(highest=6),
        )
        for name in fits
    ]
    memory = []
    for name in fits:
        for meter in _METERS:
            extra = in_fresh_process(extra_bytes, shape, name == "shuffled rows", meter)
            memory.append(
                Row(
                    f"extra memory ({meter}), {name}",
                    f"{number(extra / _MEBIBYTE)} MiB",
                    f"the array: {number(X.nbytes / _MEBIBYTE)} MiB",
                    extra / X.nbytes,
                    Limit(highest=0.5),
                )
            )
    return Table(
        "squared_cv: cross-validation against one product of the array with itself",
        "ratio",
        (*speed, *memory),
        (
            f"`SUClassifierCV(loss='squared')`, {_FOLDS} folds and {len(_ALPHAS)} alphas, on "
            f"{n_unlabeled:,} unlabeled rows and {n_pairs:,} pairs of float64 normal features; "
            f"best of {repeats} in one process, taking turns. The aim for time is 3.",
            "Shuffled: the weak labels stand in random order over the same array. Memory is "
            "that of a fresh process for each row: what Python and numpy allocate (tracemalloc), "
            "and the rise of the largest resident memory (resident).",
        ),
    )


def extra_bytes(shape: tuple[int, int, int], shuffled: bool, meter: str) -> int:
    """Return what a fit holds beyond the array; meant for a fresh process."""
    _fit(_rows(1000, 100, 5, shuffled=False))  # loads what is imported on first use
    weak = _rows(*shape, shuffled=shuffled)
    return _METERS[meter](partial(_fit, weak))


def _fit(weak: Weak) -> None:
    SUClassifierCV(loss="squared", prior=0.7, alphas=_ALPHAS, cv=_FOLDS).fit(*weak)


def _rows(n_unlabeled: int, n_pairs: int, n_features: int, *, shuffled: bool) -> Weak:
    random = np.random.default_rng(0)
    X = random.standard_normal((n_unlabeled + 2 * n_pairs, n_features))
    codes = np.arange(1, n_pairs + 1)
    y = np.concatenate([np.zeros(n_unlabeled, dtype=np.int64), codes, codes])
    return X, random.permutation(y) if shuffled else y
