"""Small datasets of every kind, and what must hold of whatever learns from them."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise import baselines
from tests.fuzz.checks import finite, refusals

__all__ = [
    "Dataset",
    "check_pair",
    "check_su",
    "draw_dataset",
    "fuzz_others",
    "fuzz_pair",
    "fuzz_su",
]

_CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]),
    "sparse": sp.csr_array,
}
_MOST_SECONDS = {"su": 5.0, "pair": 60.0, "others": 20.0}
"""Time of the processor that one case may take: far more than it does, but an end."""
_FLAT_END = 1e-4
"""How far probabilities may move with rounding: climbs end where the next step promises a relative
gain of 1e-9, and weights are then known to about the square root of it."""


@dataclass(frozen=True)
class Dataset:
    """Rows, and couples of them said to be alike or to differ."""

    X: Any
    similar: list[tuple[int, int]]
    dissimilar: list[tuple[int, int]]

    def packed(self, X: Any = None, *, swapped: bool = False) -> tuple[Any, Any]:
        """Return rows and weak labels; swapped, the members of every couple change places."""
        turn = -1 if swapped else 1
        statements = {
            name: [couple[::turn] for couple in couples]
            for name, couples in (("similar", self.similar), ("dissimilar", self.dissimilar))
            if couples
        }
        return lw.pack(self.X if X is None else X, **statements)

    def permuted(self, order: Any) -> "Dataset":
        """Return the same rows in another order."""
        place = np.argsort(order)
        moved = (
            [(int(place[a]), int(place[b])) for a, b in couples]
            for couples in (self.similar, self.dissimilar)
        )
        return Dataset(self.X[order], *moved)


def draw_dataset(draw: random.Random) -> Dataset:
    """Return a small dataset with something odd about it, more often than not."""
    rng = np.random.default_rng(draw.randrange(2**32))
    n_rows, n_columns = draw.randrange(2, 14), draw.choice((1, 1, 2, 3, 20))
    X = rng.normal(size=(n_rows, n_columns)) + 2.0 * (rng.random((n_rows, 1)) < 0.7)
    if draw.random() < 0.2:
        X = np.round(X)
    if draw.random() < 0.2:
        X[:, draw.randrange(n_columns)] = draw.choice((0.0, 1.0, 0.1, 1e9, -1e-9))
    if draw.random() < 0.15:
        X[:] = X[0]
    if draw.random() < 0.2:
        X[draw.randrange(n_rows)] = X[0]
    if draw.random() < 0.3:
        place = draw.randrange(n_columns)
        X[:, place] = X[:, place] * draw.choice((1e-150, 1e-30, 1e-8, 1e8, 1e30, 1e120))
    if draw.random() < 0.2:
        X = X + draw.choice((1e3, 1e6, 1.7e9, -1e12))
    if draw.random() < 0.03:
        X[0, 0] = draw.choice((np.nan, np.inf, 1e200, 1e300))
    couples = [tuple(sorted(draw.sample(range(n_rows), 2))) for _ in range(draw.randrange(1, 7))]
    kinds = [draw.random() < draw.choice((1.0, 0.6, 0.0)) for _ in couples]
    pairs: list[list[tuple[int, int]]] = [[], []]
    for (a, b), is_alike in zip(couples, kinds, strict=True):
        pairs[not is_alike].append((a, b))
    return Dataset(X, *pairs)


def fuzz_su(draw: random.Random, folder: Path) -> None:
    """Fit the paper's classifier to a small dataset."""
    check_su(draw_dataset(draw), draw, folder)


def check_su(data: Dataset, draw: random.Random, folder: Path) -> None:
    """Check what the paper's classifier makes of a dataset."""
    start = time.process_time()
    loss = draw.choice(("squared", "logistic", "double_hinge"))
    prior, alpha = draw.choice((0.7, 0.2, 0.51, 0.99)), draw.choice((1e-1, 1e-4, 1e-7))
    model: Any = lw.SUClassifier(
        loss, prior=prior, alpha=alpha, regularize_intercept=draw.random() < 0.7
    )
    if draw.random() < 0.3:
        model = lw.SUClassifierCV(loss, prior=prior, cv=2, alphas=(1e-1, 1e-3))
    if draw.random() < 0.6 and np.nan_to_num(np.abs(data.X)).max() < 1e140:  # its scaler squares
        model = make_pipeline(StandardScaler(), model)
    with refusals():
        decisions = _fitted(model, *data.packed()).decision_function(data.X)
        finite(decisions)
        assert set(np.unique(model.predict(data.X)).tolist()) <= {-1, 1}
        if draw.random() < 0.2:
            _check_saved(model, data.X, decisions, folder)
        if _gap_of(model) < 1e-8 and isinstance(
            model[-1] if _is_pipeline(model) else model, lw.SUClassifier
        ):
            _check_same_risk(draw, data, model, decisions)
    _check_time("su", start)


def _check_same_risk(draw: random.Random, data: Dataset, model: Any, decisions: Any) -> None:
    """Check that a convex fit does not depend on order, nor on what holds the rows."""
    size = max(1.0, float(np.abs(decisions).max()))
    own = clone(model)
    objective = _last(model).objective_
    kind = draw.randrange(3)
    if kind == 0:
        own.fit(*data.packed(swapped=True))
    elif kind == 1:
        order = np.random.default_rng(draw.randrange(100)).permutation(len(data.X))
        own.fit(*data.permuted(order).packed())
    else:
        name = draw.choice(tuple(_CONTAINERS))
        if name == "sparse" and _is_pipeline(model):
            return
        own.fit(*data.packed(_CONTAINERS[name](data.X)))
    if _gap_of(own) > 1e-8:
        return
    found = _last(own).objective_
    allowed = 1e-6 * max(1.0, abs(objective)) + _rounding(data, model)
    assert abs(found - objective) <= allowed, (kind, found, objective)
    # StandardScaler makes of a constant column of 1e39 one of 1e23 or of 0, as rounding has it.
    is_steady = not _is_pipeline(model) or float(np.abs(data.X).max()) < 1e12
    if is_steady and _gap_of(model) < 1e-12 and _gap_of(own) < 1e-12 and size < 1e4:
        np.testing.assert_allclose(_decide(own, data.X), decisions, atol=1e-2 * size)


def _rounding(data: Dataset, model: Any) -> float:
    """Return how far the order of sums over rows can move an objective.

    Means of the columns are off by rounding, in another way in another order; and so are the
    variances that weigh similar against dissimilar pairs, by more where the mean is far from zero.
    """
    weights, rounding = np.abs(_last(model).coef_[0]), 1e-15 * len(data.X)
    rows = model[0].transform(data.X) if _is_pipeline(model) else data.X
    if _is_pipeline(model):
        weights = weights / model[0].scale_
    moved = 10.0 * rounding * float(np.abs(data.X).max(axis=0) @ weights)
    found = moved / abs(2.0 * float(_last(model).prior_) - 1.0)
    if data.similar and data.dissimilar:
        varies = rows.std(axis=0) > 0
        ratios = (np.abs(rows).max(axis=0)[varies] / rows.std(axis=0)[varies]) ** 2
        found += rounding * float(ratios.max(initial=0.0)) * abs(float(_last(model).objective_))
    return found


def fuzz_pair(draw: random.Random, folder: Path) -> None:
    """Fit our own classifier to a small dataset; linear scores, which are quick."""
    check_pair(draw_dataset(draw), draw, folder)


def check_pair(data: Dataset, draw: random.Random, folder: Path) -> None:
    """Check what our own classifier makes of a dataset."""
    start = time.process_time()
    model = lw.PairClassifier(
        draw.choice((2, 2, 2, 3)),
        features="linear",
        alphas=(1.0, 0.01),
        cv=2,
        pairing=draw.choice(("auto", "auto", "asked", "random", "free")),
        error_rate=draw.choice((0.0, 0.0, 0.1, "auto")),
        random_state=0,
    )
    with refusals():
        X, y = data.packed()
        model.fit(X, y)
        found = model.predict_proba(data.X)
        finite(found, model.prior_, model.prior_interval_, model.row_proba_, model.weights_)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
        np.testing.assert_allclose(model.row_proba_.sum(axis=1), 1.0, atol=1e-9)
        assert 0.0 <= np.min(model.prior_) <= np.max(model.prior_) <= 1.0
        if draw.random() < 0.3:
            _check_saved(model, data.X, model.decision_function(data.X), folder)
        if draw.random() < 0.3:
            name = draw.choice(("fortran", "list", "pandas", "polars"))
            held = _CONTAINERS[name](data.X)
            own = clone(model).fit(*data.packed(held)).predict_proba(held)
            np.testing.assert_allclose(own, found, atol=1e-9, err_msg=name)
        elif draw.random() < 0.3 and np.abs(data.X).max() < 1e6:
            own = clone(model).fit(*data.packed(4.0 * data.X)).predict_proba(4.0 * data.X)
            np.testing.assert_allclose(own, found, atol=_FLAT_END, err_msg="scaled by four")
        elif draw.random() < 0.2:
            own = clone(model).fit(*data.packed(swapped=True)).predict_proba(data.X)
            np.testing.assert_allclose(own, found, atol=_FLAT_END, err_msg="members swapped")
        elif draw.random() < 0.05:
            own = clone(model).set_params(n_jobs=2).fit(X, y).predict_proba(data.X)
            np.testing.assert_allclose(own, found, atol=1e-9, err_msg="n_jobs")
    _check_time("pair", start)


def fuzz_others(draw: random.Random, folder: Path) -> None:
    """Fit a baseline, or estimate a prior."""
    start = time.process_time()
    data = draw_dataset(draw)
    seeded: dict[str, Any] = {"random_state": 0}
    models: list[Any] = [
        baselines.KMeansBaseline(**seeded),
        baselines.ITML(max_iter=20, **seeded),
        baselines.PCKMeans(**seeded),
        baselines.MPCKMeans(**seeded),
        lw.KernelMeanPrior("km1"),
        lw.KernelMeanPrior("km2"),
    ]
    model = draw.choice(models)
    with refusals():
        model.fit(*data.packed())
        if hasattr(model, "estimate_"):
            finite(model.estimate_.value)
            assert 0.0 <= model.estimate_.value <= 1.0
        else:
            labels = model.predict(data.X)
            assert set(np.unique(labels).tolist()) <= {-1, 1}
            if hasattr(model, "decision_function"):
                finite(model.decision_function(data.X))
    _check_time("others", start)


def _fitted(model: Any, X: Any, y: Any) -> Any:
    return model.fit(X, y)


def _is_pipeline(model: Any) -> bool:
    return hasattr(model, "steps")


def _last(model: Any) -> Any:
    return model[-1] if _is_pipeline(model) else model


def _gap_of(model: Any) -> float:
    return float(_last(model).duality_gap_)


def _decide(model: Any, X: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    return model.decision_function(X if names is None else pd.DataFrame(X, columns=names))


def _check_saved(model: Any, X: Any, decisions: Any, folder: Path) -> None:
    """Check that a model that was saved and loaded decides as before."""
    path = folder / "saved.skops"
    lw.save(model, path)
    np.testing.assert_array_equal(lw.load(path).decision_function(X), decisions)


def _check_time(kind: str, start: float) -> None:
    taken = time.process_time() - start
    assert taken < _MOST_SECONDS[kind], f"took {taken:.1f} s of the processor"
