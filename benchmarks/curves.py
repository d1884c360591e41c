"""How the time of every learner grows with the number of rows and of columns, as pictures."""

from collections.abc import Callable
from functools import partial
from math import log
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import best_times
from benchmarks.table import Plot, Row, Table, seconds
from likewise import PairClassifier, SUClassifier, SUClassifierCV, pack
from likewise.datasets import make_gaussians, sample_su

_ALPHA = 1e-2
_PRIOR = 0.7
_N_COLUMNS = 20
"""Where rows grow."""

Fit = Callable[[Any, Any, Any], object]
"""Takes a packed table, its weak labels, and the true classes of its rows."""

_FITS: dict[str, Fit] = {
    "squared, 5 folds": lambda X, y, _: SUClassifierCV(prior=_PRIOR).fit(X, y),
    "logistic": lambda X, y, _: SUClassifier("logistic", prior=_PRIOR, alpha=_ALPHA).fit(X, y),
    "double hinge": lambda X, y, _: SUClassifier(
        "double_hinge", prior=_PRIOR, alpha=_ALPHA, tol=1e-6
    ).fit(X, y),
    "pair likelihood, linear": lambda X, y, _: PairClassifier(
        features="linear", alphas=[_ALPHA], pairing="random", random_state=0
    ).fit(X, y),
    "labeled logistic regression": lambda X, _, classes: LogisticRegression(
        C=1 / (_ALPHA * len(classes)), solver="newton-cholesky"
    ).fit(X, classes),
}


def measure(n_rows: int, n_columns: int, repeats: int) -> Table:
    """Time all fits on up to `n_rows` rows, and on a quarter of them with up to `n_columns`."""
    sizes = [n_rows // factor for factor in (8, 4, 2, 1)]
    widths = [n_columns // factor for factor in (8, 4, 2, 1)]
    by_rows = _times({size: _table(size, _N_COLUMNS) for size in sizes}, repeats)
    by_columns = _times({width: _table(n_rows // 4, width) for width in widths}, repeats)
    return Table(
        "curves: how time grows with rows and with columns",
        "exponent",
        (*_rows(by_rows, "rows"), *_rows(by_columns, "columns")),
        (
            f"Two Gaussian classes; four fifths of the rows are unlabeled, the rest in pairs; best "
            f"of {repeats} after a warm-up, taking turns. Rows grow at {_N_COLUMNS} columns, "
            f"columns at {n_rows // 4:,} rows. An exponent of 1 is growth in proportion. The last "
            "rival is scikit-learn's `newton-cholesky` on the same rows with their classes.",
        ),
        (
            Plot("growth_rows", "Time and number of rows", "rows", by_rows),
            Plot("growth_columns", "Time and number of columns", "columns", by_columns),
        ),
    )


def _times(tables: dict[int, Any], repeats: int) -> dict[str, dict[int, float]]:
    """Return the seconds of every fit on every table."""
    fits: dict[tuple[str, int], Callable[[], object]] = {
        (name, size): partial(fit, *table)
        for name, fit in _FITS.items()
        for size, table in tables.items()
    }
    for name in _FITS:
        fits[name, min(tables)]()  # the warm-up
    best = best_times(fits, repeats)
    return {name: {size: best[name, size] for size in tables} for name in _FITS}


def _rows(times: dict[str, dict[int, float]], what: str) -> list[Row]:
    rows = []
    for name, of_size in times.items():
        least, most = min(of_size), max(of_size)
        rows.append(
            Row(
                f"{name}: {what}",
                f"{most:,}: {seconds(of_size[most])}",
                f"{least:,}: {seconds(of_size[least])}",
                log(of_size[most] / of_size[least]) / log(most / least),
            )
        )
    return rows


def _table(n_rows: int, n_columns: int) -> tuple[Any, Any, Any]:
    """Return a packed table, its weak labels, and the classes of its rows."""
    n_pairs = n_rows // 10
    # A quarter more rows than are drawn, so that neither class runs short.
    size = n_rows * 5 // 4
    pool = make_gaussians(size, n_features=n_columns, separation=4.0, prior=_PRIOR, random_state=0)
    sample = sample_su(*pool, n_pairs, n_rows - 2 * n_pairs, prior=_PRIOR, random_state=0)
    classes = np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])
    return (*pack(sample.unlabeled, similar=sample.similar), classes)
