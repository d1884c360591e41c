"""Statements about one table: `PairClassifier`, its memory, and one sweep of its beliefs."""

import os
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import best_times, extra_traced
from benchmarks.pair_fit import learn_from_labels
from benchmarks.table import Limit, Row, Table, number, seconds
from likewise import PairClassifier, pack
from likewise.beliefs.propagation import Edges, sweep_two_classes
from likewise.datasets import load, make_waveform

_ERROR_RATE = 0.1


def measure(n_rows: int, n_features: int, n_links: int, repeats: int) -> Table:
    """Time a full fit of 500 rows, a linear one of `n_rows`, and a sweep over `n_links`."""
    name, small = _full_fit(repeats)
    many = _linear_fit(n_rows, n_features, repeats)
    sweep = _sweep(n_links, repeats)
    return Table(
        "statements: answers about the rows of one table against their labels",
        "ratio",
        (
            Row(
                f"all choices made, 500 rows of {name} + 1,000 answers",
                seconds(small["ours"]),
                f"LogisticRegressionCV and a 2 x 4 grid of SVCs: {seconds(small['labels'])}",
                small["ours"] / small["labels"],
                Limit(highest=3),
            ),
            Row(
                f"linear, {n_rows:,} rows x {n_features} + {n_rows:,} answers",
                seconds(many["ours"]),
                f"LogisticRegression, newton-cholesky: {seconds(many['labels'])}",
                many["ours"] / many["labels"],
                Limit(highest=10),
            ),
            Row(
                "memory of that fit",
                f"{number(many['memory'] / 2**20)} MiB",
                f"the table: {number(many['table'] / 2**20)} MiB",
                many["memory"] / many["table"],
                Limit(highest=0.5),
            ),
            Row(
                f"one sweep over {n_links:,} statements about {n_links // 2:,} rows",
                seconds(sweep["ours"]),
                f"np.bincount with as many weights: {seconds(sweep['bincount'])}",
                sweep["ours"] / sweep["bincount"],
                Limit(highest=25),
            ),
        ),
        (
            f"Best of {repeats}, taking turns in one process; the competitors are given the true "
            "classes of all rows. Memory is what Python and numpy hold at most beyond the table "
            "and the weak labels.",
        ),
    )


def answered(
    classes: NDArray[Any], n_answers: int, random: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Return answers about random pairs of rows, as `pack` takes them."""
    left = random.integers(classes.size, size=n_answers)
    right = (left + random.integers(1, classes.size, size=n_answers)) % classes.size
    pairs, same = np.column_stack([left, right]), classes[left] == classes[right]
    return {"similar": pairs[same], "dissimilar": pairs[~same]}


def _full_fit(repeats: int) -> tuple[str, dict[str, float]]:
    random = np.random.default_rng(0)
    name, (rows, classes) = _small_table()
    chosen = random.permutation(len(rows))[:500]
    rows, classes = rows[chosen], classes[chosen]
    ours = partial(
        PairClassifier(random_state=0).fit, *pack(rows, **answered(classes, 1000, random))
    )
    labels = partial(learn_from_labels, rows, classes)
    return name, best_times({"ours": ours, "labels": labels}, repeats)


def _small_table() -> tuple[str, tuple[Any, Any]]:
    """Return rows and classes of magic where data can be loaded, else of the Waveform generator."""
    if "LIKEWISE_DATA" in os.environ:
        return "magic", load("magic", return_X_y=True)
    return "Waveform", make_waveform(10_000, prior=0.7, random_state=0)


def _linear_fit(n_rows: int, n_features: int, repeats: int) -> dict[str, float]:
    random = np.random.default_rng(0)
    classes = np.where(random.random(n_rows) < 0.6, 1, -1)
    rows = random.standard_normal((n_rows, n_features))
    rows[:, :10] += 0.25 * classes[:, None]
    X, y = pack(rows, **answered(classes, n_rows, random))
    ours = partial(PairClassifier(features="linear", random_state=0).fit, X, y)
    labels = partial(LogisticRegression(solver="newton-cholesky").fit, rows, classes)
    best: dict[str, float] = dict(best_times({"ours": ours, "labels": labels}, repeats))
    return {**best, "memory": float(extra_traced(ours)), "table": float(rows.nbytes)}


def _sweep(n_links: int, repeats: int) -> dict[str, float]:
    random = np.random.default_rng(0)
    n_rows = n_links // 2
    left, right = random.integers(n_rows, size=(2, n_links))
    edges = Edges(left, right, n_rows)
    is_similar = random.random(n_links) < 0.5
    on = np.tile(np.where(is_similar, 1.0 - _ERROR_RATE, _ERROR_RATE), (2, 1))
    off = 1.0 - on[0]
    field, odds = random.standard_normal(n_rows), random.standard_normal((2, n_links))
    return best_times(
        {
            "ours": partial(sweep_two_classes, field, edges, on, off, odds),
            "bincount": partial(np.bincount, edges.left, weights=odds[0], minlength=n_rows),
        },
        repeats,
    )
