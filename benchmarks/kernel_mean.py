"""KM1 and KM2 together against the published procedure, restated with cvxopt for the tests."""

from functools import partial

from tests.prior.published_km import published_kappas
from threadpoolctl import threadpool_limits

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds
from likewise.datasets import make_waveform, sample_su
from likewise.prior import KernelMeanPrior

_PRIOR = 0.7


def measure(shapes: tuple[tuple[int, int], ...], repeats: int) -> Table:
    """Time both at numbers of pairs and unlabeled rows."""
    with threadpool_limits(1):
        rows = tuple(_compare(*shape, repeats) for shape in shapes)
    return Table(
        "kernel_mean: KM1 and KM2 together against the published procedure",
        "times faster",
        rows,
        (
            "Waveform, standardised columns. The published procedure solves one dense cone program "
            "for every point of the distance curve. One BLAS thread each; the published one is run "
            f"once, the best of {repeats} of ours counts.",
        ),
    )


def _compare(n_pairs: int, n_unlabeled: int, repeats: int) -> Row:
    pool = make_waveform(20_000, prior=_PRIOR, random_state=0)
    X, y = sample_su(*pool, n_pairs, n_unlabeled, prior=_PRIOR, random_state=0).pack()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = best_times({"ours": partial(KernelMeanPrior("km2").fit, X, y)}, repeats)["ours"]
    theirs = best_times(
        {"published": partial(published_kappas, X[y == 0], X[y != 0], accuracy=None)}, 1
    )["published"]
    return Row(
        f"{2 * n_pairs} members of pairs + {n_unlabeled} unlabeled rows",
        seconds(ours),
        f"published: {seconds(theirs)}",
        theirs / ours,
        Limit(lowest=30),
    )
