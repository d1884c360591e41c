"""Statements about a table that is read block by block: few passes, and the same weights."""

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.beliefs.table import TableLikelihood
from likewise.engines import MemoryEngine, base
from likewise.scores.maps import FeatureMap
from likewise.search import learn, streamed
from likewise.search.climb import climb
from likewise.search.rows import MemoryRows
from likewise.search.sample import Sample
from likewise.search.streamed import StreamedRows, TableScores, minimise_table
from likewise.statements.statements import Statements
from tests.search.samples import answered, met

N_ROWS = 3000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 6 * 130)


def draw(rng: np.random.Generator, n_classes: int = 2) -> tuple[FloatArray, Any]:
    """Return rows in columns of different units, and their classes."""
    classes = rng.choice(n_classes, size=N_ROWS, p=[0.3, 0.7] if n_classes == 2 else None)
    rows = rng.normal(size=(N_ROWS, 6)) + rng.normal(size=(n_classes, 6))[classes]
    return rows * np.array([1, 10, 0.1, 1, 3, 1]) + np.array([0, 50, 0, 2, 0, 0]), classes


def scores_of(rows: FloatArray, transformer: Any = None) -> TableScores:
    features, _ = FeatureMap.fit("some", transformer, rows)
    return TableScores(MemoryEngine.of_unlabeled(rows), features)


@pytest.mark.parametrize("transformer", [None, PCA(3)], ids=["linear", "transformer"])
def test_sums_over_blocks_are_those_of_rows_in_memory(
    rng: np.random.Generator, transformer: Any
) -> None:
    rows, _ = draw(rng)
    scores = scores_of(rows, transformer)
    design = scores.features.design(rows)
    weights, values = rng.normal(size=(design.n_features + 1, 2)), rng.normal(size=(N_ROWS, 2))
    np.testing.assert_allclose(scores.decide(weights), design.decide(weights), atol=1e-10)
    np.testing.assert_allclose(scores.pull(values), design.pull(values), atol=1e-8)
    sums, products = scores.pull_with_products(values)
    np.testing.assert_allclose(sums, design.pull(values), atol=1e-8)
    bordered = np.column_stack([design.dense(), np.ones(N_ROWS)])
    squares = np.sum(values**2, axis=1)[:, None]
    np.testing.assert_allclose(products, bordered.T @ (bordered * squares), atol=1e-7)
    assert scores.engine.n_passes == 3


def kinds(rng: np.random.Generator, kind: str) -> tuple[FloatArray, Likelihood]:
    rows, classes = draw(rng, 3 if kind == "three classes" else 2)
    if kind == "met":
        return rows, TableLikelihood(met(rng, classes, 1500), 2, "random")
    if kind == "some wrong":
        statements = answered(rng, classes, 4000, error_rate=0.1)
        return rows, TableLikelihood(statements, 2, "asked", 0.1)
    statements = answered(rng, classes, 800 if kind == "few answers" else 3000)
    return rows, TableLikelihood(statements, 3 if kind == "three classes" else 2, "asked")


@pytest.mark.parametrize("kind", ["answers", "few answers", "some wrong", "met", "three classes"])
def test_few_passes_lead_to_the_optimum_of_all_rows(rng: np.random.Generator, kind: str) -> None:
    rows, likelihood = kinds(rng, kind)
    scores = scores_of(rows)
    sample = Sample(scores.features.design(rows), likelihood)
    m = 3 if kind == "three classes" else 1
    first = rng.normal(size=(7, m))
    best = climb(sample, 0.01, first)
    for _ in range(3):  # one climb stops early
        best = climb(sample, 0.01, best.weights)
    nearby = best.weights + 0.05 * rng.normal(size=best.weights.shape)
    found = minimise_table(scores, likelihood, 0.01, nearby)
    assert found.converged
    assert scores.engine.n_passes <= 18
    weights, expected = found.weights.copy(), best.weights.copy()
    if m > 1:  # nothing says what all intercepts have in common
        weights[-1] -= weights[-1].mean()
        expected[-1] -= expected[-1].mean()
    np.testing.assert_allclose(weights, expected, atol=3e-3)
    again = climb(sample, 0.01, found.weights)
    assert again.objective >= best.objective - 1e-6


def test_a_start_far_away_needs_more_steps_than_there_are(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, likelihood = kinds(rng, "answers")
    monkeypatch.setattr(streamed, "_MOST_STEPS", 1)
    found = minimise_table(scores_of(rows), likelihood, 1e-4, np.full((7, 1), 0.1))
    assert not found.converged
    assert found.promise > 0


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "_SELECTION_SIZE", 200)
    monkeypatch.setattr(learn, "_SAMPLE_SIZE", 600)


@pytest.mark.usefixtures("few_are_many")
def test_a_search_that_ends_too_early_says_so(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, classes = draw(rng)
    monkeypatch.setattr(streamed, "_MOST_STEPS", 0)
    statements = answered(rng, classes, 4000)
    y = labels_of(statements)
    clf = lw.PairClassifier(features="linear", alphas=[0.01], cv=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="was not minimized"):
        clf.fit(rows, y)


def labels_of(statements: Statements) -> Any:
    pairs = statements.members.reshape(-1, 2)
    same = statements.is_similar
    return lw.pack(np.zeros((statements.n_rows, 1)), pairs[same], pairs[~same])[1]


@pytest.mark.parametrize("keeps_rows", [True, False])
@pytest.mark.parametrize("size", [300, N_ROWS])
def test_the_rows_of_a_sample_are_those_of_a_table_in_memory(
    rng: np.random.Generator, keeps_rows: bool, size: int
) -> None:
    rows, classes = draw(rng)
    statements = answered(rng, classes, 2000)
    engine = MemoryEngine.of_unlabeled(rows)
    source, expected = StreamedRows(engine, statements), MemoryRows(rows, statements)
    assert source.n_pairs == expected.n_pairs
    here, there = (one.sample(size, keeps_rows=keeps_rows) for one in (source, expected))
    np.testing.assert_array_equal(here.rows, there.rows)
    np.testing.assert_array_equal(here.statements.members, there.statements.members)
    assert here.is_whole == there.is_whole == (size == N_ROWS)
    assert source.n_passes == (0 if here.is_whole else 1)  # this engine hands out rows as they are


def test_a_value_that_is_not_finite_is_named(rng: np.random.Generator) -> None:
    rows, classes = draw(rng)
    rows[17, 2] = np.nan
    source = StreamedRows(MemoryEngine.of_unlabeled(rows), answered(rng, classes, 2000))
    with pytest.raises(ValueError, match="NaN, first at unlabeled row 17, column 2"):
        source.sample(N_ROWS, keeps_rows=True)
    features = scores_of(np.nan_to_num(rows)).features
    with pytest.raises(ValueError, match="NaN, first at unlabeled row 17, column 2"):
        TableScores(MemoryEngine.of_unlabeled(rows), features).decide(np.ones((7, 1)))
