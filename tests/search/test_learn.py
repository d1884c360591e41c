"""Feature maps and penalties, chosen on held-out statements."""

from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import likewise as lw
from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts
from likewise.scores.features import RadialFeatures
from likewise.scores.maps import SPARSE, FeatureMap, feature_maps
from likewise.search import learn as module
from likewise.search.learn import Learned, learn, standard_error
from likewise.search.rows import MemoryRows, counts_of
from likewise.search.settings import Settings, default_pairing
from likewise.statements.labels import read_labels
from likewise.statements.statements import Statements
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, bent, met, two_gaussians


def draw(counts: Counts, seed: int = 0) -> tuple[FloatArray, Any]:
    """Two Gaussians in the first of three columns, packed."""
    rng = np.random.default_rng(seed)
    signal = Gaussians(3.0, 0.7).draw(rng, counts)
    rows = np.column_stack([signal, rng.standard_normal((counts.rows, 2))])
    pairs = np.arange(1, counts.similar + 1)
    others = -np.arange(1, counts.dissimilar + 1)
    alone = np.zeros(counts.unlabeled, dtype=int)
    return rows, np.concatenate([alone, pairs, pairs, others, others])


def rings(rng: np.random.Generator, n: int) -> tuple[FloatArray, Any]:
    """Two rings that no line separates, packed."""

    def points(radius: FloatArray) -> FloatArray:
        angle = rng.uniform(0, 2 * np.pi, n)
        flat = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
        return np.asarray(flat + 0.2 * rng.standard_normal(flat.shape))

    pairs, rows = np.where(rng.random((2, n)) < [[0.845], [0.7]], 1.0, 3.0)
    X, y = lw.pack(points(rows), similar=(points(pairs), points(pairs)))
    return X, y


def learned(X: Any, y: Any, features: Any = "linear", **settings: Any) -> Learned:
    return learned_from(X, read_labels(y), features, **settings)


def learned_from(
    X: Any, statements: Statements, features: Any = "linear", known: Any = None, **settings: Any
) -> Learned:
    maps = feature_maps(features, X.shape[1], np.random.RandomState(0))
    settings = {"cv": 4, "pairing": default_pairing(statements), **settings}
    source = MemoryRows(X, statements)
    return learn(source, maps, Settings(**settings), np.random.RandomState(0), known)


def test_the_best_entry_of_the_selection_is_chosen() -> None:
    found = learned(*draw(Counts(100, 100)), alphas=[0.3, 0.03])
    rows = found.selection.rows
    (chosen,) = [row for row in rows if row.chosen]
    assert chosen.information == max(row.information for row in rows)
    assert chosen.alpha == found.candidate.alpha
    assert found.has_signal


def test_the_selection_is_a_table() -> None:
    selection = learned(*draw(Counts(60, 60)), alphas=[0.3, 0.03]).selection
    lines = str(selection).splitlines()
    assert lines[0].split() == ["features", "alpha", "held-out", "nats", "s.e.", "weight"]
    assert len(lines) == 3
    assert sum("<- chosen" in line for line in lines) == 1
    table = selection.to_dict()
    assert table["alpha"] == [0.3, 0.03]
    assert table["features"] == ["linear", "linear"]
    assert table["chosen"].count(True) == 1
    assert table["weight"] == [float(chosen) for chosen in table["chosen"]]


def test_a_sum_over_feature_maps_is_one_line_of_the_selection(rng: np.random.Generator) -> None:
    found = learned(*bent(rng, 300), features="auto", alphas=[0.1, 0.01])
    (chosen,) = [row for row in found.selection.rows if row.chosen]
    parts = [row for row in found.selection.rows if row.weight and not row.chosen]
    assert chosen.alpha is None
    assert found.candidate.alpha is None
    assert {part.features for part in parts} == set(chosen.features.split(" + "))
    assert found.features.name == chosen.features
    assert sum(part.weight for part in parts) == pytest.approx(1.0)
    assert chosen.information > max(part.information for part in parts)
    assert f"{parts[0].weight:.2f}" in str(found.selection)


def test_one_feature_map_more_than_two_classes_or_many_rows_are_not_summed(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = bent(rng, 150)
    one = learned(X, y, features="linear", alphas=[0.1, 0.01])
    three = learned(X, y, features="auto", alphas=[0.1], n_classes=3, cv=2)
    monkeypatch.setattr(module, "_SELECTION_SIZE", 50)
    many = learned(X, y, features="auto", alphas=[0.1])
    for found in (one, three, many):
        assert all(row.alpha for row in found.selection.rows)


def test_standard_errors_of_the_selection_are_those_over_folds() -> None:
    found = learned(*draw(Counts(60, 60)), alphas=[0.1])
    evidence = found.candidate.evidence
    expected = evidence.std(ddof=1) * 2 / 60  # four folds
    assert found.selection.rows[0].standard_error == pytest.approx(expected)
    assert standard_error(found.candidate) == pytest.approx(expected)


def test_rings_need_radial_features(rng: np.random.Generator) -> None:
    found = learned(*rings(rng, 150), features="auto", alphas=[0.1, 0.01])
    assert found.features.name.startswith("rbf")
    tried = {row.features for row in found.selection.rows if row.alpha}
    assert tried == {"linear", "linear sparse", "rbf 0.9", "rbf 0.5"}


def test_columns_have_penalties_of_their_own_where_pairs_are_fresh_and_few(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = bent(rng, 150)
    few = learned(X, y, features="auto", alphas=[0.1], cv=2)
    free = learned(X, y, features="auto", alphas=[0.1], cv=2, pairing="free")
    three = learned(X, y, features="auto", alphas=[0.1], cv=2, n_classes=3)
    monkeypatch.setattr(module, "_SELECTION_SIZE", 50)
    many = learned(X, y, features="auto", alphas=[0.1], cv=2)
    assert SPARSE in few.selection.to_dict()["features"]
    for found in (free, three, many):
        assert SPARSE not in found.selection.to_dict()["features"]


def test_noise_has_no_signal(rng: np.random.Generator) -> None:
    X, y = lw.pack(rng.normal(size=(100, 3)), similar=tuple(rng.normal(size=(2, 100, 3))))
    assert not learned(X, y, alphas=[1.0, 0.1]).has_signal


def test_row_order_changes_neither_counts_nor_what_is_learned(rng: np.random.Generator) -> None:
    X, y = draw(Counts(150, 120, 60))
    order = rng.permutation(len(y))
    plain, shuffled = learned(X, y, alphas=[0.1]), learned(X[order], y[order], alphas=[0.1])
    for one in (plain, shuffled):
        assert counts_of(one.some.statements) == Counts(150, 120, 60)
    scores = plain.scores(X), shuffled.scores(X)
    assert np.corrcoef(scores[0][:, 0], scores[1][:, 0])[0, 1] > 0.99


def test_scores_of_other_rows_are_those_of_the_chosen_features(rng: np.random.Generator) -> None:
    X, y = draw(Counts(100, 100))
    found = learned(X, y, features=PolynomialFeatures(2, include_bias=False), alphas=[0.1])
    assert found.features.name == "PolynomialFeatures"
    new = rng.normal(size=(7, 3))
    made = found.features.transformer.transform(new)
    weights = found.candidate.weights
    expected = (made - found.features.mean) / found.features.scale @ weights[:-1] + weights[-1]
    np.testing.assert_allclose(found.scores(new), expected, atol=1e-10)


@pytest.mark.slow
def test_working_side_by_side_changes_nothing(rng: np.random.Generator) -> None:
    X, y = rings(rng, 40)
    one, two = (learned(X, y, features="rbf", alphas=[0.1], n_jobs=n_jobs) for n_jobs in (None, 2))
    assert one.selection == two.selection
    np.testing.assert_array_equal(one.candidate.scores, two.candidate.scores)


# --- many rows --------------------------------------------------------------------------------


def alike(found: Learned, other: Learned, rows: FloatArray) -> float:
    """Return how alike the scores of two models are, whichever class is which."""
    return float(abs(np.corrcoef(found.scores(rows)[:, 0], other.scores(rows)[:, 0])[0, 1]))


def test_many_fresh_pairs_are_selected_on_in_part_and_learned_from_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = draw(Counts(400, 500, 100))
    monkeypatch.setattr(module, "_SELECTION_SIZE", 100)
    found = learned(X, y)
    assert counts_of(found.some.statements) == Counts(400, 500, 100)
    assert found.candidate.scores.shape == (len(y), 1)
    assert found.folds.shape == (len(y),)
    # Penalties fall with the number of pairs: 200 to choose on, 600 to learn from.
    (chosen,) = [row for row in found.selection.rows if row.chosen]
    assert found.candidate.alpha == pytest.approx(chosen.alpha / np.sqrt(3))
    given = learned(X, y, alphas=[0.1])
    assert given.candidate.alpha == 0.1
    monkeypatch.setattr(module, "_SELECTION_SIZE", 10_000)
    assert alike(given, learned(X, y, alphas=[0.1]), X) > 0.999


@pytest.mark.parametrize("sample_size", [150, 100_000])
@pytest.mark.parametrize("pairing", ["asked", "random"])
def test_so_are_many_statements_about_one_table(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator, pairing: str, sample_size: int
) -> None:
    X, classes = two_gaussians(rng, 1200)
    statements = answered(rng, classes, 900) if pairing == "asked" else met(rng, classes, 600)
    settings = {"alphas": [0.03], "pairing": pairing}
    whole = learned_from(X, statements, **settings)
    monkeypatch.setattr(module, "_SELECTION_SIZE", 100)
    monkeypatch.setattr(module, "_SAMPLE_SIZE", sample_size)
    found = learned_from(X, statements, **settings)
    assert found.has_signal
    assert found.some.is_whole == (sample_size > 1200)
    # Wherever it was chosen and judged, the model is that of all rows; columns are scaled by those
    # that it was chosen on, so that the penalty is not quite the same.
    assert alike(found, whole, X) > 0.9999
    np.testing.assert_allclose(found.scores(X), whole.scores(X), rtol=0.1, atol=0.2)


def test_rows_that_are_known_are_known_in_a_part_too(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    X, classes = two_gaussians(rng, 900)
    known = np.where(np.arange(900) % 9 == 0, 1 - classes, -1)
    monkeypatch.setattr(module, "_SELECTION_SIZE", 100)
    monkeypatch.setattr(module, "_SAMPLE_SIZE", 200)
    found = learned_from(X, answered(rng, classes, 600), alphas=[0.03], known=known)
    assert found.likelihood.is_named
    assert np.mean((found.scores(X)[:, 0] > 0) == (classes == 0)) > 0.9


def test_radial_features_of_many_rows_are_learned_from_a_sample(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    X, y = rings(rng, 300)
    monkeypatch.setattr(module, "_SELECTION_SIZE", 60)
    monkeypatch.setattr(module, "_SAMPLE_SIZE", 120)
    found = learned(X, y, features="rbf", alphas=[0.03])
    assert not found.some.is_whole
    assert found.has_signal
    assert found.scores(X).shape == (900, 1)


# --- one table --------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [answered, met])
def test_noise_about_one_table_has_no_signal(rng: np.random.Generator, state: Any) -> None:
    """The rows' classes follow from the statements, and say nothing of other rows."""
    for _ in range(3):
        X, classes = rng.standard_normal((120, 4)), rng.random(120) < 0.6
        found = learned_from(X, state(rng, classes, 240), alphas=[0.3, 0.03])
        assert not found.has_signal


@pytest.mark.parametrize("state", [answered, met])
def test_classes_of_one_table_have_a_signal(rng: np.random.Generator, state: Any) -> None:
    X, classes = two_gaussians(rng, 200)
    found = learned_from(X, state(rng, classes, 200), alphas=[0.1, 0.01])
    assert found.has_signal
    assert np.mean((found.scores(X)[:, 0] > 0) == classes) > 0.85


@pytest.mark.parametrize(
    ("features", "names"),
    [
        ("linear", ["linear"]),
        ("rbf", ["rbf 0.9", "rbf 0.5", "rbf 0.9 pc"]),
        ("auto", ["linear", "rbf 0.9", "rbf 0.5", "rbf 0.9 pc", "linear sparse"]),
        (StandardScaler(), ["StandardScaler"]),
    ],
)
def test_features_are_named(features: Any, names: list[str]) -> None:
    maps = feature_maps(features, 4, np.random.RandomState(0))
    assert [name for name, _ in maps] == names
    assert all(transformer is not features for _, transformer in maps)


def test_wide_sparse_tables_are_not_made_dense_for_a_kernel() -> None:
    maps = feature_maps("auto", 5000, np.random.RandomState(0), is_sparse_table=True)
    assert maps == [("linear", None)]


def test_radial_features_are_left_as_they_are_and_others_standardised(
    rng: np.random.Generator,
) -> None:
    rows = rng.normal(5.0, 3.0, size=(50, 2))
    radial, design = FeatureMap.fit("rbf 0.5", RadialFeatures(random_state=0), rows)
    np.testing.assert_array_equal(radial.scale, 1.0)
    np.testing.assert_array_equal(design.rows, radial.design(rows).rows)
    own, design = FeatureMap.fit("StandardScaler", StandardScaler(with_std=False), rows)
    np.testing.assert_allclose(own.scale, rows.std(axis=0))
    np.testing.assert_allclose(design.dense().std(axis=0), 1.0)
