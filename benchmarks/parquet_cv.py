"""Cross-validation over Parquet files against a bare scan of them that only computes X'X."""

from pathlib import Path

import numpy as np
import pyarrow.dataset as ds

from benchmarks.measure import best_times, extra_resident, in_fresh_process
from benchmarks.parquet_files import written
from benchmarks.table import Limit, Row, Table, number, seconds
from likewise import SUClassifierCV
from likewise.engines import PairSource

_MEBIBYTE = 2**20


def measure(n_unlabeled: int, n_pairs: int, n_features: int, repeats: int) -> Table:
    """Time both on the same files, and weigh the fit in a process of its own."""
    with written(n_unlabeled, n_pairs, n_features) as (rows, pairs):
        size = sum(path.stat().st_size for path in (rows, pairs))
        best = best_times(
            {"fit": lambda: fit(rows, pairs), "scan": lambda: scan(rows, pairs)}, repeats
        )
        resident = in_fresh_process(resident_bytes, rows, pairs)
    return Table(
        "parquet_cv: cross-validation over files against a bare scan of them",
        "ratio or MiB",
        (
            Row(
                "time, squared, 5 folds and 3 alphas",
                seconds(best["fit"]),
                f"bare scan with X'X: {seconds(best['scan'])}",
                best["fit"] / best["scan"],
                Limit(highest=2),
            ),
            Row(
                "memory that the fit adds",
                f"{number(resident / _MEBIBYTE)} MiB",
                f"the files: {number(size / _MEBIBYTE)} MiB",
                resident / _MEBIBYTE,
                Limit(highest=1024),
            ),
        ),
        (
            f"{n_unlabeled:,} x {n_features} float32 rows and {n_pairs:,} pairs; best of {repeats} "
            "in one process, taking turns. The bare scan reads the same files with pyarrow's "
            "dataset scanner at its defaults, stacks each batch with numpy and adds up X.T @ X in "
            "single precision; the fit reads them twice, in double precision.",
        ),
    )


def fit(rows: Path, pairs: Path) -> None:
    SUClassifierCV("squared", prior=0.7).fit(PairSource(rows, pairs))


def scan(rows: Path, pairs: Path) -> None:
    for path in (rows, pairs):
        total: np.ndarray | float = 0.0
        for batch in ds.dataset(path).to_batches():
            X = np.column_stack([column.to_numpy() for column in batch.columns])
            total = total + X.T @ X


def resident_bytes(rows: Path, pairs: Path) -> int:
    """Return what a fit adds to the largest resident memory; meant for a fresh process."""
    return extra_resident(lambda: fit(rows, pairs))
