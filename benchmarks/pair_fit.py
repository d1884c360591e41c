"""`PairClassifier` with defaults, and on many rows, against learning from labels."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds
from likewise import PairClassifier, pack
from likewise.datasets import make_waveform, sample_su

_PRIOR = 0.7


def measure(n_rows: int, n_features: int, repeats: int) -> Table:
    """Time a full fit at 500 pairs and rows, and a linear one at `n_rows` pairs and rows."""
    small, many = _full_fit(repeats), _linear_fit(n_rows, n_features, repeats)
    fewer = _linear_fit(n_rows // 10, n_features, repeats, solver="lbfgs")
    return Table(
        "pair_fit: `PairClassifier` against learning the same rows from labels",
        "ratio",
        (
            Row(
                "all choices made, 500 pairs + 500 rows, Waveform",
                seconds(small["ours"]),
                f"LogisticRegressionCV and a 2 x 4 grid of SVCs: {seconds(small['rivals'])}",
                small["ours"] / small["rivals"],
                Limit(highest=3),
            ),
            Row(
                f"linear, {n_rows // 10:,} pairs + {n_rows // 10:,} rows x {n_features}",
                seconds(fewer["ours"]),
                f"LogisticRegression: {seconds(fewer['rival'])}",
                fewer["ours"] / fewer["rival"],
                Limit(highest=20),
            ),
            Row(
                f"linear, {n_rows:,} pairs + {n_rows:,} rows x {n_features}",
                seconds(many["ours"]),
                f"LogisticRegression, newton-cholesky: {seconds(many['rival'])}",
                many["ours"] / many["rival"],
                Limit(highest=6),
            ),
        ),
        (f"Best of {repeats}, taking turns; the rivals are given the true classes.",),
    )


def _full_fit(repeats: int) -> dict[str, float]:
    pool = make_waveform(10_000, prior=_PRIOR, random_state=0)
    sample = sample_su(*pool, 500, 500, prior=_PRIOR, random_state=0)
    X, y = sample.pack()
    classes = np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])
    ours = partial(PairClassifier(random_state=0).fit, X, y)
    return best_times({"ours": ours, "rivals": partial(learn_from_labels, X, classes)}, repeats)


def learn_from_labels(X: Any, classes: Any) -> None:
    """Choose a linear model and one of a 2 x 4 grid of SVCs, by the classes of the rows."""
    d = X.shape[1]
    grid = {"svc__C": [0.3, 1.0, 3.0, 10.0], "svc__gamma": [0.3 / d, 1.0 / d]}
    make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            max_iter=1000, l1_ratios=(0.0,), scoring="accuracy", use_legacy_attributes=False
        ),
    ).fit(X, classes)
    GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(X, classes)


def _linear_fit(
    n_rows: int, n_features: int, repeats: int, solver: str = "newton-cholesky"
) -> dict[str, float]:
    random = np.random.default_rng(0)
    share = _PRIOR**2 / (_PRIOR**2 + (1 - _PRIOR) ** 2)
    pairs = np.where(random.random(n_rows) < share, 1, -1)
    rows = np.where(random.random(n_rows) < _PRIOR, 1, -1)

    def draw(classes: Any) -> Any:
        table = random.standard_normal((n_rows, n_features))
        table[:, :10] += 0.35 * classes[:, None]
        return table

    X, y = pack(draw(rows), similar=(draw(pairs), draw(pairs)))
    classes = np.concatenate([rows, pairs, pairs])
    return best_times(
        {
            "ours": partial(PairClassifier(features="linear", random_state=0).fit, X, y),
            "rival": partial(LogisticRegression(solver=solver).fit, X, classes),
        },
        repeats,
    )
