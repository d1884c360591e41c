"""Fits on a device against one product of the rows on it, and against the engine in memory.

It needs torch with CUDA, numpy, scipy and scikit-learn only: ``python -m benchmarks.gpu`` prints it
where the rest of the benchmarks cannot run.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds

_PRIOR = 0.7
_ALPHA = 1e-4


def measure(n_unlabeled: int, n_pairs: int, n_features: int, repeats: int) -> Table:
    """Time fits of rows on the first CUDA device; without one, the table says so."""
    title = "gpu: fits on a device"
    if not _has_device():
        return Table(title, "ratio", (), ("No CUDA device was found, so nothing was measured.",))
    import torch

    rows, pairs = _rows(n_unlabeled, n_features, 0), _rows(2 * n_pairs, n_features, 1)
    on_device = [torch.from_numpy(array).cuda() for array in (rows, *np.split(pairs, 2))]
    fits = _device_fits(*on_device)
    product = f"one X.T @ X on the device, {n_unlabeled:,} x {n_features}, float32"
    best = best_times(
        {
            product: _synchronised(lambda: on_device[0].T @ on_device[0]),
            **{name: _synchronised(fit) for name, fit in fits.items()},
        },
        repeats,
    )
    host = best_times({"host": partial(_fit_host, rows, pairs)}, 1)["host"]
    return Table(
        title,
        "ratio",
        (
            Row(
                "squared, 5 folds",
                seconds(best["squared"]),
                f"{product}: {seconds(best[product])}",
                best["squared"] / best[product],
                Limit(highest=2),
            ),
            Row(
                "logistic, times faster than in memory",
                seconds(best["logistic"]),
                f"in memory: {seconds(host)}",
                host / best["logistic"],
                Limit(lowest=20),
            ),
        ),
        (
            f"{n_unlabeled:,} unlabeled rows and {n_pairs:,} pairs; best of {repeats} after a "
            f"warm-up. Device: {torch.cuda.get_device_name()}.",
        ),
    )


def _has_device() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def _device_fits(unlabeled: Any, left: Any, right: Any) -> dict[str, Callable[[], object]]:
    from likewise.classifiers import SUClassifier, SUClassifierCV
    from likewise.engines import PairSource

    source = PairSource(unlabeled, (left, right))
    return {
        "squared": lambda: SUClassifierCV("squared", prior=_PRIOR).fit(source),
        "logistic": lambda: SUClassifier("logistic", prior=_PRIOR, alpha=_ALPHA, tol=1e-6).fit(
            source
        ),
    }


def _fit_host(rows: Any, pairs: Any) -> None:
    from likewise.classifiers import SUClassifier

    codes = np.arange(1, len(pairs) // 2 + 1)
    y = np.concatenate([np.zeros(len(rows), dtype=np.int64), codes, codes])
    X = np.concatenate([rows, pairs])
    SUClassifier("logistic", prior=_PRIOR, alpha=_ALPHA, tol=1e-6).fit(X, y)


def _synchronised(action: Callable[[], object]) -> Callable[[], None]:
    """Warm an action up, and return it with a wait for the device behind."""
    import torch

    def run() -> None:
        action()
        torch.cuda.synchronize()

    run()
    return run


def _rows(n_rows: int, n_features: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n_rows, n_features), dtype=np.float32)
    half = n_rows // 2 if seed else n_rows
    classes = np.where(random.random(half) < (0.845 if seed else _PRIOR), 1, -1)
    rows[:, :5] += 0.5 * np.resize(classes, n_rows)[:, None]
    return rows


if __name__ == "__main__":
    table = measure(n_unlabeled=10_000_000, n_pairs=1_000_000, n_features=50, repeats=5)
    print(table.title, *("; ".join(row.cells) for row in table.rows), *table.notes, sep="\n")
