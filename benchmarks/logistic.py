"""The logistic SU fit in memory against labeled logistic regression on the same rows."""

from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds
from likewise import SUClassifier

_ALPHA = 1e-4
_PRIOR = 0.7


def measure(n_unlabeled: int, n_pairs: int, n_features: int, repeats: int) -> Table:
    """Time both on one array, of which the labeled fit gets the true classes."""
    random = np.random.default_rng(0)
    similar = _PRIOR**2 / (_PRIOR**2 + (1 - _PRIOR) ** 2)
    of_pairs = np.where(random.random(n_pairs) < similar, 1, -1)
    of_rows = np.where(random.random(n_unlabeled) < _PRIOR, 1, -1)
    classes = np.concatenate([of_rows, of_pairs, of_pairs])
    X = random.standard_normal((classes.size, n_features))
    X[:, :5] += 0.5 * classes[:, None]
    codes = np.arange(1, n_pairs + 1)
    y = np.concatenate([np.zeros(n_unlabeled, dtype=np.int64), codes, codes])
    model = SUClassifier("logistic", prior=_PRIOR, alpha=_ALPHA)
    labeled = LogisticRegression(C=1 / (_ALPHA * classes.size), solver="newton-cholesky")
    best = best_times(
        {"ours": partial(model.fit, X, y), "labeled": partial(labeled.fit, X, classes)}, repeats
    )
    return Table(
        "logistic: the SU fit in memory against labeled logistic regression",
        "ratio",
        (
            Row(
                f"{X.shape[0]:,} x {n_features}",
                f"{seconds(best['ours'])} ({model.n_passes_} passes)",
                f"newton-cholesky: {seconds(best['labeled'])}",
                best["ours"] / best["labeled"],
                Limit(highest=1.5),
            ),
        ),
        (
            f"`SUClassifier('logistic', alpha={_ALPHA:g})` to a relative gap of 1e-9 on "
            f"{n_unlabeled:,} unlabeled rows and {n_pairs:,} pairs, against scikit-learn's "
            "`LogisticRegression(solver='newton-cholesky')` at its default tolerance on the same "
            f"rows with their classes and the same penalty; best of {repeats}, taking turns.",
        ),
    )
