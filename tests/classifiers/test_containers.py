"""The same numbers give the same model, however they lie in memory and whatever holds them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likewise as lw
from likewise.prior import KernelMeanPrior
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here

NAMES = ["a", "b", "c"]
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.fixture(scope="module")
def sample() -> tuple[Any, dict[str, Any]]:
    X, classes = lw.datasets.make_gaussians(80, separation=2.0, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).standard_normal(80)])
    couples = [(i, (i + 7) % 80) for i in range(40)]
    same = [pair for pair in couples if classes[pair[0]] == classes[pair[1]]]
    different = [pair for pair in couples if classes[pair[0]] != classes[pair[1]]]
    return X, {"similar": same, "dissimilar": different}


def _decisions(X: Any, model: Any, statements: dict[str, Any]) -> Any:
    """Return the decision values of a model fitted to an ordinary array; once for each."""
    key = repr(model)
    if key not in _KEPT:
        _KEPT[key] = model.fit(*lw.pack(X, **statements)).decision_function(X)
    return _KEPT[key]


_KEPT: dict[str, Any] = {}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    "model",
    [
        lw.PairClassifier(random_state=0, cv=2),
        lw.SUClassifier("double_hinge", prior=0.7),
        lw.SUClassifierCV("squared", prior=0.7, cv=2, rewrite="su"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers(sample: tuple[Any, dict[str, Any]], container: str, model: Any) -> None:
    X, statements = sample
    held = CONTAINERS[container](X)
    expected = _decisions(X, model, statements)
    found = model.fit(*lw.pack(held, **statements)).decision_function(held)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("container", ["fortran", "polars"])
def test_priors(sample: tuple[Any, dict[str, Any]], container: str) -> None:
    X, statements = sample
    prior = KernelMeanPrior()
    held = CONTAINERS[container](X)
    expected = prior.fit(*lw.pack(X, **statements)).estimate_.value
    found = prior.fit(*lw.pack(held, **statements)).estimate_.value
    assert found == pytest.approx(expected, rel=1e-12)
