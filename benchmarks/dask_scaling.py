"""The same fit on one and on two Dask workers, each with one thread."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, number, seconds
from likewise import SUClassifierCV
from likewise.engines import PairSource


def measure(n_unlabeled: int, n_pairs: int, n_features: int, repeats: int) -> Table:
    """Time a fit on rows that the workers make themselves, and compare the coefficients."""
    times, coefficients, memory = {}, {}, {}
    for n_workers in (1, 2):
        times[n_workers], coefficients[n_workers], memory[n_workers] = _on_workers(
            n_workers, n_unlabeled, n_pairs, n_features, repeats
        )
    apart = float(np.abs(coefficients[1] - coefficients[2]).max())
    return Table(
        "dask_scaling: one worker against two",
        "number",
        (
            Row(
                "squared, 5 folds: times faster with two workers",
                seconds(times[2]),
                f"one worker: {seconds(times[1])}",
                times[1] / times[2],
                Limit(lowest=1.5),
            ),
            Row(
                "largest difference of coefficients",
                "two workers",
                "one worker",
                apart,
                Limit(highest=1e-8),
            ),
            Row(
                "memory of a worker after the fits, MiB",
                f"{number(memory[2])} MiB",
                f"all rows: {number(8 * n_unlabeled * n_features / 2**20)} MiB",
                memory[2],
                Limit(highest=1024),
            ),
        ),
        (
            f"{n_unlabeled:,} x {n_features} rows and {n_pairs:,} pairs, drawn on the workers in "
            f"every pass; best of {repeats} after a warm-up.",
        ),
    )


def _on_workers(
    n_workers: int, n_unlabeled: int, n_pairs: int, n_features: int, repeats: int
) -> tuple[float, np.ndarray, float]:
    import dask.array
    import distributed

    da: Any = dask.array  # neither library is typed
    dd: Any = distributed
    with (
        dd.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        dd.Client(cluster) as client,
    ):
        random = da.random.default_rng(0)
        draw = partial(random.standard_normal, chunks=(100_000, n_features))
        left, right = draw((n_pairs, n_features)), draw((n_pairs, n_features))
        source = PairSource(draw((n_unlabeled, n_features)), (left + 0.3, right + 0.3))
        model = SUClassifierCV("squared", prior=0.7).fit(source)
        best = best_times({"fit": lambda: model.fit(source)}, repeats)["fit"]
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        memory = max(worker["metrics"]["memory"] for worker in workers) / 2**20
    return best, model.coef_, memory
