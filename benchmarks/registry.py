"""All benchmarks by name, in full and in quick size. A new one needs a file and an entry here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks import double_hinge, growth, import_time, pair_moments, squared_cv
from benchmarks.table import Table

__all__ = ["BENCHMARKS", "Benchmark"]


@dataclass(frozen=True)
class Benchmark:
    """The same measurement in two sizes."""

    full: Callable[[], Table]
    quick: Callable[[], Table]


BENCHMARKS = {
    "squared_cv": Benchmark(
        full=partial(
            squared_cv.measure, n_unlabeled=800_000, n_pairs=100_000, n_features=50, repeats=7
        ),
        quick=partial(
            squared_cv.measure, n_unlabeled=160_000, n_pairs=20_000, n_features=50, repeats=5
        ),
    ),
    "double_hinge": Benchmark(
        full=partial(double_hinge.measure, n_rows=500, alphas=(1e-1, 1e-4, 1e-7), repeats=5),
        quick=partial(double_hinge.measure, n_rows=500, alphas=(1e-4,), repeats=5),
    ),
    "growth": Benchmark(
        full=partial(growth.measure, n_rows=200_000, repeats=7),
        quick=partial(growth.measure, n_rows=60_000, repeats=5),
    ),
    "pair_moments": Benchmark(
        full=partial(pair_moments.measure, n_rows=1_000_000, n_features=50, repeats=3),
        quick=partial(pair_moments.measure, n_rows=100_000, n_features=50, repeats=3),
    ),
    "import_time": Benchmark(
        full=partial(import_time.measure, repeats=5),
        quick=partial(import_time.measure, repeats=3),
    ),
}
