"""Wide tables: the minimiser in the span of the rows is that over all columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import likewise as lw
import likewise.classifiers.su as classifiers
import likewise.su.objective as objectives
from likewise.engines import kernels


@pytest.fixture
def wide(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return 40 rows of 90 columns and pairs of them."""
    rows = rng.standard_normal((40, 90)) + np.repeat([[1.0], [0.0]], [28, 12], axis=0)
    similar = [(i, i + 1) for i in range(0, 26, 2)] + [(28, 29), (30, 31)]
    dissimilar = [(i, i + 4) for i in (24, 25, 26, 27)] + [(10, 35), (11, 36)]
    return lw.pack(rows, similar=similar, dissimilar=dissimilar)


@pytest.fixture
def over_all_columns(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what turns the way through the span off."""

    def turn_off() -> None:
        for module in (objectives, classifiers):
            monkeypatch.setattr(module, "is_wide", lambda engine: False)

    return turn_off


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("rewrite", ["su", "sdu"])
def test_weights_are_those_over_all_columns(
    wide: tuple[Any, Any], over_all_columns: Callable[[], None], loss: str, free: bool, rewrite: str
) -> None:
    X, y = wide
    model = lw.SUClassifier(
        loss, prior=0.7, alpha=0.1, rewrite=rewrite, regularize_intercept=not free, tol=1e-12
    )
    found = model.fit(X, y)
    coef, intercept, objective = found.coef_, found.intercept_, found.objective_
    assert found.duality_gap_ <= 1e-9
    of_sparse = model.fit(sp.csr_array(X), y).coef_
    over_all_columns()
    whole = model.fit(X, y)
    np.testing.assert_allclose(coef, whole.coef_, atol=1e-5)
    np.testing.assert_allclose(intercept, whole.intercept_, atol=1e-5)
    assert objective == pytest.approx(whole.objective_, rel=1e-8)
    np.testing.assert_allclose(of_sparse, coef, atol=1e-7)


def test_cross_validation_of_a_wide_table_is_that_over_all_columns(
    wide: tuple[Any, Any], over_all_columns: Callable[[], None]
) -> None:
    model = lw.SUClassifierCV(prior=0.7, cv=2, alphas=(1.0, 0.01))
    found = model.fit(*wide).cv_results_["mean_test_score"]
    over_all_columns()
    np.testing.assert_allclose(model.fit(*wide).cv_results_["mean_test_score"], found)


def test_systems_have_the_size_of_the_rows(
    wide: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = np.linalg.solve
    sizes = []

    def solve(a: Any, b: Any) -> Any:
        sizes.append(np.shape(a)[-1])
        return solved(a, b)

    monkeypatch.setattr(np.linalg, "solve", solve)
    lw.SUClassifierCV(prior=0.7, cv=2).fit(*wide)
    assert sizes
    assert max(sizes) <= 42


def test_outer_products_of_all_columns_are_not_made(
    wide: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def recorded(rows: Any, counts: Any) -> Any:
        sizes.append(rows.shape[1])
        return kernels.gram(rows, counts)

    monkeypatch.setattr(objectives, "block_gram", recorded)
    model = lw.SUClassifierCV(prior=0.7, cv=2, alphas=(1.0, 0.01)).fit(*wide)
    assert model.coef_.shape == (1, 90)
    assert sizes
    assert max(sizes) <= 41


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
def test_a_column_of_a_huge_scale_drowns_no_other_whatever_the_order_of_rows(loss: str) -> None:
    rows = np.array([[1e100, 0.0, 0.0, 0.0], [1e9, 0.0, 0.0, 1.0]])
    model = lw.SUClassifier(loss, prior=0.7, alpha=1e-4)
    found = [model.fit(*lw.pack(X, dissimilar=[(0, 1)])).objective_ for X in (rows, rows[::-1])]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_directions_that_rounding_made_get_no_weight(rng: np.random.Generator) -> None:
    rows = np.tile(rng.standard_normal(20) - 1e12, (8, 1))
    pairs = {"similar": [(0, 1), (2, 3), (4, 6)], "dissimilar": [(0, 2), (1, 5), (6, 7)]}
    model = lw.SUClassifier("logistic", prior=0.99, alpha=1e-7).fit(*lw.pack(rows, **pairs))
    # All rows are one: the weights that decide on it are along it.
    assert np.abs(model.coef_).max() < 1e-9
