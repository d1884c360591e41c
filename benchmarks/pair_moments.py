"""The prior from pair moments against one product of the unlabeled rows with themselves."""

from functools import partial

import numpy as np

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds
from likewise import PairMomentPrior, pack

_PRIOR = 0.7


def measure(n_rows: int, n_features: int, repeats: int) -> Table:
    """Time the estimate from `n_rows` pairs and as many unlabeled rows."""
    random = np.random.default_rng(0)
    share = _PRIOR**2 / (_PRIOR**2 + (1 - _PRIOR) ** 2)
    pair_labels = np.where(random.random(n_rows) < share, 1, -1)
    row_labels = np.where(random.random(n_rows) < _PRIOR, 1, -1)
    left, right, unlabeled = (random.standard_normal((n_rows, n_features)) for _ in range(3))
    for table, labels in ((left, pair_labels), (right, pair_labels), (unlabeled, row_labels)):
        table[:, 0] += labels
    X, y = pack(unlabeled, similar=(left, right))
    estimator = PairMomentPrior(random_state=0)
    best = best_times(
        {
            "ours": partial(estimator.fit, X, y),
            "rows": lambda: unlabeled.T @ unlabeled,
            "all": lambda: X.T @ X,
        },
        repeats,
    )
    size = f"{n_rows:,} x {n_features}"
    return Table(
        "pair_moments: the class prior against one product of an array with itself",
        "ratio",
        (
            Row(
                "time",
                seconds(best["ours"]),
                f"X.T @ X of the unlabeled rows, {size}: {seconds(best['rows'])}",
                best["ours"] / best["rows"],
                Limit(highest=10),
            ),
            Row(
                "time",
                seconds(best["ours"]),
                f"X.T @ X of all rows, {3 * n_rows:,} x {n_features}: {seconds(best['all'])}",
                best["ours"] / best["all"],
            ),
        ),
        (
            f"`PairMomentPrior` on {n_rows:,} pairs and as many unlabeled rows, two Gaussians in "
            f"{n_features} features; best of {repeats}, taking turns. The prior is {_PRIOR:g}; "
            f"found: {estimator.estimate_}.",
        ),
    )
