"""All benchmarks by name, in full and in quick size. A new one needs a file and an entry here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks import (
    asking,
    curves,
    dask_scaling,
    double_hinge,
    gpu,
    growth,
    import_time,
    kernel_mean,
    logistic,
    more_classes,
    nets,
    pair_fit,
    pair_moments,
    parquet_cv,
    squared_cv,
    statements,
)
from benchmarks.table import Table

__all__ = ["BENCHMARKS", "Benchmark"]

_TWO_CLASSES = ("gaussians", "waveform", "ringnorm", "threenorm")
"""Generators of two classes; pools of the paper come beside them."""


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
            squared_cv.measure, n_unlabeled=80_000, n_pairs=10_000, n_features=50, repeats=3
        ),
    ),
    "double_hinge": Benchmark(
        full=partial(double_hinge.measure, n_rows=500, alphas=(1e-1, 1e-4, 1e-7), repeats=5),
        quick=partial(double_hinge.measure, n_rows=250, alphas=(1e-4,), repeats=3),
    ),
    "growth": Benchmark(
        full=partial(growth.measure, n_rows=200_000, repeats=7),
        quick=partial(growth.measure, n_rows=20_000, repeats=3),
    ),
    "curves": Benchmark(
        full=partial(curves.measure, n_rows=400_000, n_columns=160, repeats=3),
        quick=partial(curves.measure, n_rows=20_000, n_columns=80, repeats=1),
    ),
    "pair_fit": Benchmark(
        full=partial(pair_fit.measure, n_rows=1_000_000, n_features=50, repeats=3),
        quick=partial(pair_fit.measure, n_rows=10_000, n_features=50, repeats=1),
    ),
    "statements": Benchmark(
        full=partial(
            statements.measure, n_rows=1_000_000, n_features=50, n_links=10_000_000, repeats=3
        ),
        quick=partial(statements.measure, n_rows=50_000, n_features=50, n_links=500_000, repeats=1),
    ),
    "kernel_mean": Benchmark(
        full=partial(kernel_mean.measure, shapes=((500, 500), (250, 1000)), repeats=3),
        quick=partial(kernel_mean.measure, shapes=((100, 100),), repeats=1),
    ),
    "pair_moments": Benchmark(
        full=partial(pair_moments.measure, n_rows=1_000_000, n_features=50, repeats=3),
        quick=partial(pair_moments.measure, n_rows=50_000, n_features=50, repeats=2),
    ),
    "parquet_cv": Benchmark(
        full=partial(
            parquet_cv.measure, n_unlabeled=10_000_000, n_pairs=1_000_000, n_features=50, repeats=3
        ),
        quick=partial(
            parquet_cv.measure, n_unlabeled=500_000, n_pairs=50_000, n_features=50, repeats=2
        ),
    ),
    "dask_scaling": Benchmark(
        full=partial(
            dask_scaling.measure,
            n_unlabeled=10_000_000,
            n_pairs=1_000_000,
            n_features=50,
            repeats=3,
        ),
        quick=partial(
            dask_scaling.measure, n_unlabeled=500_000, n_pairs=50_000, n_features=50, repeats=1
        ),
    ),
    "logistic": Benchmark(
        full=partial(
            logistic.measure, n_unlabeled=800_000, n_pairs=100_000, n_features=50, repeats=5
        ),
        quick=partial(
            logistic.measure, n_unlabeled=80_000, n_pairs=10_000, n_features=50, repeats=2
        ),
    ),
    "gpu": Benchmark(
        full=partial(
            gpu.measure,
            n_unlabeled=50_000_000,
            n_pairs=1_000_000,
            n_features=50,
            n_host=2_000_000,
            repeats=7,
        ),
        quick=partial(
            gpu.measure,
            n_unlabeled=5_000_000,
            n_pairs=100_000,
            n_features=50,
            n_host=200_000,
            repeats=5,
        ),
    ),
    "nets": Benchmark(
        full=partial(
            nets.measure, n_rows=20_000, n_features=784, width=512, n_pairs=5_000, repeats=5
        ),
        quick=partial(
            nets.measure, n_rows=4_000, n_features=64, width=128, n_pairs=1_000, repeats=2
        ),
    ),
    "asking": Benchmark(
        full=partial(
            asking.measure,
            n_rows=100_000,
            n_columns=50,
            n_answers=200,
            names=("magic", "spambase", "phoneme", "waveform"),
            draws=(110, 111, 112),
            judged=(110, 111, 112),
            n_judged=300,
            n_of_digits=600,
        ),
        quick=partial(
            asking.measure,
            n_rows=100_000,
            n_columns=50,
            n_answers=0,
            names=(),
            draws=(),
            judged=(),
            n_judged=0,
            n_of_digits=0,
        ),
    ),
    "more_classes": Benchmark(
        full=partial(
            more_classes.measure,
            n_statements=300,
            two=(*_TWO_CLASSES, "magic", "phoneme", "spambase"),
            three=("waveform", "wine"),
            draws=6,
        ),
        quick=partial(
            more_classes.measure, n_statements=300, two=_TWO_CLASSES[:1], three=("wine",), draws=1
        ),
    ),
    "import_time": Benchmark(
        full=partial(import_time.measure, repeats=5),
        quick=partial(import_time.measure, repeats=1),
    ),
}
