"""How often `fit` says that there are probably more classes: rightly, and where there are not."""

import warnings
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.datasets import load_wine

import likewise as lw
from benchmarks.table import Limit, Row, Table
from likewise.experiments.samples import pool
from likewise.search.class_count import is_one_more_likely

_PRIORS = (0.5, 0.7)
_ERROR_RATE = 0.05
"""Without it, answers about three classes contradict two, and `fit` stops."""


def measure(n_statements: int, two: Sequence[str], three: Sequence[str], draws: int) -> Table:
    """Fit two classes to statements about two, and about three."""
    rows, false = [], []
    for name in two:
        for kind in ("fresh", "asked"):
            found = [is_warned_of(two_classes(name, kind, i, n_statements)) for i in range(draws)]
            false += found
            rows.append(_row(f"two classes, {name}, {kind}", found))
    rows.append(_row("two classes, all", false, Limit(highest=0.05)))
    for name in three:
        for kind in ("met", "asked"):
            found = [is_warned_of(three_classes(name, kind, i, n_statements)) for i in range(draws)]
            rows.append(_row(f"three classes, {name}, {kind}", found))
    return Table(
        "more_classes: two classes are assumed, and `fit` warns of more",
        "share of fits",
        tuple(rows),
        (
            f"{n_statements} statements each: fresh similar pairs beside as many unlabeled rows, "
            "random answers about as many rows, or similar pairs met among them. Two classes "
            f"have a class prior of {' or '.join(map(str, _PRIORS))}. The limit is on false "
            "alarms.",
        ),
    )


def two_classes(name: str, kind: str, draw: int, n: int) -> Any:
    """Fit a classifier to statements about two classes."""
    X, y = pool(name)
    y = y if np.mean(y == 1) >= 0.5 else -y
    rng = np.random.default_rng([crc32(f"{name} {kind} {n}".encode()), draw])
    prior = _PRIORS[draw % len(_PRIORS)]
    if kind == "fresh":
        return _fitted(lw.datasets.sample_su(X, y, n, n, prior=prior, random_state=rng), draw)
    sample = lw.datasets.sample_statements(X, y, n, n, prior=prior, random_state=rng)
    return _fitted(sample, draw)


def three_classes(name: str, kind: Any, draw: int, n: int) -> Any:
    """Fit a classifier of two classes to statements about three."""
    rng = np.random.default_rng([crc32(f"{name} {kind} {n}".encode()), draw])
    if name == "wine":
        X, y = load_wine(return_X_y=True)
    else:
        X, y = lw.datasets.make_waveform(4 * n, n_classes=3, random_state=draw)
    sample = lw.datasets.sample_statements(
        X, y, min(n, len(y)), n, kind=kind, error_rate=0.0, random_state=rng
    )
    return _fitted(sample, draw, _ERROR_RATE if kind == "asked" else 0.0)


def is_warned_of(clf: Any) -> bool:
    """Tell whether `fit` warned of more classes."""
    return clf.class_count_ is not None and is_one_more_likely(clf.class_count_, clf.n_classes_)


def _fitted(sample: Any, seed: int, error_rate: float = 0.0) -> Any:
    X, y = sample.pack()
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.exceptions.LikewiseWarning)
        return lw.PairClassifier(error_rate=error_rate, random_state=seed).fit(X, y)


def _row(what: str, warned: Sequence[bool], limit: Limit | None = None) -> Row:
    counts = f"{sum(warned)} warnings", f"{len(warned)} fits"
    return Row(what, *counts, float(np.mean(warned)), limit)
