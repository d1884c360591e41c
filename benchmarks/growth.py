"""How the time of the iterative solvers grows with the number of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds
from likewise import SUClassifier
from likewise.datasets import SUSample, make_waveform, sample_su

_ALPHA = 1e-4
_N_FEATURES = 20
_PRIOR = 0.7


def measure(n_rows: int, repeats: int) -> Table:
    """Time the fit on `n_rows` rows and on half of them, for both losses."""
    samples = {size: _sample(size) for size in (n_rows // 2, n_rows)}
    rows = [row for loss in ("logistic", "double_hinge") for row in _grow(loss, samples, repeats)]
    return Table(
        "growth: time when the number of rows doubles",
        "ratio",
        tuple(rows),
        (
            f"`SUClassifier(alpha={_ALPHA:g})` on waveform rows with {_N_FEATURES} features, four "
            "fifths of them unlabeled and the rest in pairs; best of "
            f"{repeats} after a warm-up, both sizes taking turns. Passes: iterations of the "
            "solver, whose number differs a little from sample to sample.",
            "For scale: scikit-learn's `LogisticRegression(solver='newton-cholesky')` on as many "
            "rows with their true labels and the same penalty, at its default tolerance; ours "
            "goes to a relative duality gap of 1e-10.",
        ),
    )


def _grow(loss: str, samples: dict[int, SUSample], repeats: int) -> list[Row]:
    half, full = samples
    fits: dict[int | str, Callable[[], SUClassifier]] = {
        size: partial(_fit, loss, *sample.pack()) for size, sample in samples.items()
    }
    passes = {size: fit().n_iter_ for size, fit in fits.items()}  # the warm-up
    labeled = partial(_fit_labeled, *_reveal(samples[full]))
    labeled()
    best = best_times({**fits, "labeled": labeled}, repeats)

    def told(size: int) -> str:
        return f"{size:,} rows: {seconds(best[size])} ({passes[size]} passes)"

    return [
        Row(
            f"{loss}, twice the rows",
            told(full),
            told(half),
            best[full] / best[half],
            Limit(1.7, 2.4),
        ),
        Row(
            f"{loss}, twice the rows, per pass",
            seconds(best[full] / passes[full]),
            seconds(best[half] / passes[half]),
            best[full] / passes[full] / (best[half] / passes[half]),
        ),
        Row(
            f"{loss}, for scale",
            told(full),
            f"labeled logistic regression: {seconds(best['labeled'])}",
            best[full] / best["labeled"],
        ),
    ]


def _fit(loss: str, X: Any, y: Any) -> SUClassifier:
    model = SUClassifier(loss, prior=_PRIOR, alpha=_ALPHA)
    model.fit(X, y)
    return model


def _fit_labeled(X: Any, y: Any) -> None:
    LogisticRegression(C=1 / (_ALPHA * len(y)), solver="newton-cholesky").fit(X, y)


def _sample(n_rows: int) -> SUSample:
    n_pairs = n_rows // 10
    # A quarter more rows than are drawn, so that neither class runs short.
    X, y = make_waveform(n_rows * 5 // 4, prior=_PRIOR, random_state=0)
    return sample_su(
        X[:, :_N_FEATURES], y, n_pairs, n_rows - 2 * n_pairs, prior=_PRIOR, random_state=0
    )


def _reveal(sample: SUSample) -> tuple[Any, Any]:
    """Return all rows of a sample with their hidden classes."""
    X, _ = sample.pack()
    return X, np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])
