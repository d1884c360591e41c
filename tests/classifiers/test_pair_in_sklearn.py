"""PairClassifier as part of scikit-learn: tables, pipelines, searches, bad input."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import likewise as lw
from likewise.datasets import SUSample
from likewise.io import Features, Model, load_model, save_model
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here
from tests.classifiers.quick import draw_three, quick
from tests.search.samples import bent

SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
Draw = Callable[..., SUSample]


@pytest.mark.parametrize(
    "transformer",
    [
        PolynomialFeatures(2, include_bias=False),
        make_pipeline(StandardScaler(), Nystroem(gamma=0.02, n_components=40, random_state=0)),
    ],
)
def test_a_transformer_can_make_the_features(draw_waveform: Draw, transformer: Any) -> None:
    sample = draw_waveform(300, 300)
    clf = quick(features=transformer).fit(*sample.pack())
    assert clf.features_ == type(transformer).__name__
    assert clf.score(sample.X_test, sample.y_test) > 0.8
    assert clf.feature_map_.transformer is not transformer


@pytest.mark.parametrize(
    ("container", "features"),
    [
        (sp.csr_matrix, "linear"),
        pytest.param(sp.csc_array, "rbf", marks=pytest.mark.slow),
        (np.asfortranarray, "linear"),
    ],
)
def test_sparse_and_column_major_rows_give_the_dense_fit(
    draw_waveform: Draw, container: Callable[[np.ndarray], Any], features: str
) -> None:
    X, y = draw_waveform(150, 150).pack()
    X = X * (np.abs(X) > 1)
    dense = quick(features=features, alphas=[0.03]).fit(X, y)
    other = quick(features=features, alphas=[0.03]).fit(container(X), y)
    np.testing.assert_allclose(
        other.decision_function(container(X)), dense.decision_function(X), atol=0.02
    )
    assert other.prior_ == pytest.approx(dense.prior_, abs=1e-3)


def test_float32_rows_give_nearly_the_float64_fit(draw_waveform: Draw) -> None:
    X, y = draw_waveform(150, 150).pack()
    double, single = (quick().fit(table, y) for table in (X, X.astype(np.float32)))
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_lend_their_column_names(draw_waveform: Draw, frame: Any) -> None:
    if frame is pl.DataFrame and not hasattr(frame, "__dataframe__") and SKLEARN < (1, 9):
        pytest.skip("scikit-learn 1.8 reads names through a protocol that polars gave up")
    sample = draw_waveform(150, 150)
    names = [f"t{k}" for k in range(21)]

    def table(rows: np.ndarray) -> Any:
        return frame({name: rows[:, k] for k, name in enumerate(names)})

    left, right = sample.similar
    X, y = lw.pack(table(sample.unlabeled), similar=(table(left), table(right)))
    clf = quick().fit(X, y)
    np.testing.assert_array_equal(clf.feature_names_in_, names)
    plain = quick().fit(*sample.pack())
    np.testing.assert_allclose(clf.coef_, plain.coef_)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table(sample.X_test)[names[::-1]])


def test_it_works_in_a_pipeline_and_a_grid_search_over_features(rng: np.random.Generator) -> None:
    labels = np.where(rng.random((2, 150)) < [[0.8], [0.67]], 1.0, 3.0)

    def ring(radius: np.ndarray) -> np.ndarray:
        points = rng.standard_normal((radius.size, 2))
        points *= (radius / np.linalg.norm(points, axis=1))[:, None]
        return np.asarray(points + 0.2 * rng.standard_normal(points.shape))

    X, y = lw.pack(ring(labels[1]), similar=(ring(labels[0]), ring(labels[0])))
    pipeline = make_pipeline(StandardScaler(), quick(alphas=[0.03], cv=2, pairing="random"))
    search = GridSearchCV(
        pipeline,
        {"pairclassifier__features": ["linear", "rbf"]},
        cv=lw.PairKFold(2),
        scoring=lw.pair_log_likelihood_scorer,
    )
    with pytest.warns(UserWarning, match="no signal"):  # of the linear fits
        search.fit(X, y)
    assert search.best_params_ == {"pairclassifier__features": "rbf"}
    assert search.best_score_ > 0.1
    assert search.predict(X).shape == (len(y),)


def test_the_same_seed_gives_the_same_fit_and_leaves_input_alone(draw_waveform: Draw) -> None:
    X, y = draw_waveform(100, 100).pack()
    X_before, y_before = X.copy(), y.copy()
    first = lw.PairClassifier(alphas=[0.1], pairing="random", cv=2, random_state=3).fit(X, y)
    again = clone(first).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
    assert first.prior_ == again.prior_
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


@pytest.mark.slow
def test_two_jobs_give_the_fit_of_one(draw_waveform: Draw) -> None:
    X, y = draw_waveform(60, 60).pack()
    one, two = (
        lw.PairClassifier(alphas=[0.1], pairing="random", cv=2, random_state=0, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.selection_ == two.selection_


def test_a_sum_over_features_can_be_fitted_again_without_trying_all(
    rng: np.random.Generator,
) -> None:
    X, y = bent(rng, 300)
    how: dict[str, Any] = {"pairing": "random", "cv": 4, "random_state": 0}
    clf = lw.PairClassifier(alphas=[0.1, 0.01], **how).fit(X, y)
    assert clf.alpha_ is None
    assert " + " in clf.features_
    parts = [row for row in clf.selection_.rows if row.weight and not row.chosen]
    alphas = {part.features: [part.alpha] for part in parts}
    again = lw.PairClassifier(alphas=alphas, **how).fit(X, y)
    assert {row.features for row in again.selection_.rows if row.alpha} == set(alphas)
    assert set(again.features_.split(" + ")) == set(clf.features_.split(" + "))
    assert np.mean(again.predict(X) == clf.predict(X)) > 0.97


@pytest.mark.parametrize("n_columns", [1, 2])
def test_features_that_are_named_are_tried_on_any_table(
    draw_waveform: Draw, n_columns: int
) -> None:
    """So that a sum can be fitted again where a column is missing."""
    X, y = draw_waveform(200, 200).pack()
    alphas = {"linear": [0.1], "rbf 0.9 pc": [0.1]}
    clf = lw.PairClassifier(alphas=alphas, pairing="random", cv=3, random_state=0).fit(
        X[:, 9 : 9 + n_columns], y
    )
    assert {row.features for row in clf.selection_.rows if row.alpha} == set(alphas)


@pytest.mark.slow
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_sum_takes_no_notice_of_what_transformers_are_to_return(
    rng: np.random.Generator, container: Any, output: str
) -> None:
    X, y = bent(rng, 300)
    clf = lw.PairClassifier(alphas=[0.1, 0.01], pairing="random", cv=4, random_state=0).fit(
        container(X), y
    )
    assert " + " in clf.features_
    with sklearn.config_context(transform_output=output):
        again = clone(clf).fit(container(X), y)
        np.testing.assert_allclose(
            again.decision_function(container(X)), clf.decision_function(container(X)), rtol=1e-6
        )


@pytest.mark.parametrize("alphas", [{}, {"linear": [0.1], "cubic": [0.1]}, {1: [0.1]}])
def test_penalties_for_features_that_are_not_tried_are_named(
    draw_waveform: Draw, alphas: dict[str, list[float]]
) -> None:
    with pytest.raises(ValueError, match=r"kind of features.*\(linear, rbf 0\.9"):
        lw.PairClassifier(alphas=alphas).fit(*draw_waveform(30, 30).pack())


def test_the_order_of_rows_hardly_matters(draw_waveform: Draw, rng: np.random.Generator) -> None:
    sample = draw_waveform(300, 300)
    X, y = sample.pack()
    order = rng.permutation(len(y))
    how: dict[str, Any] = {"alphas": [0.03], "cv": 3}
    plain, shuffled = quick(**how).fit(X, y), quick(**how).fit(X[order], y[order])
    agree = plain.predict(sample.X_test) == shuffled.predict(sample.X_test)
    assert agree.mean() > 0.95


def test_the_html_repr_names_the_estimator() -> None:
    assert "PairClassifier" in lw.PairClassifier()._repr_html_()


@pytest.mark.parametrize(
    ("features", "n_classes"), [pytest.param("auto", 2, marks=pytest.mark.slow), ("linear", 3)]
)
def test_a_saved_model_predicts_as_before(tmp_path: Path, features: str, n_classes: int) -> None:
    X, y, X_test, _ = draw_three(100, 0)
    clf = quick(features=features, alphas=[0.03], n_classes=n_classes, cv=3, pairing="random")
    clf.fit(X, y)
    save_model(tmp_path / "model.skops", Model(clf, Features(("a", "b", "c")), "id"))
    again = load_model(tmp_path / "model.skops").estimator
    np.testing.assert_array_equal(again.predict_proba(X_test), clf.predict_proba(X_test))
    assert str(again.selection_) == str(clf.selection_)
    assert again.pair_information_.value == clf.pair_information_.value
    np.testing.assert_array_equal(again.prior_interval_, clf.prior_interval_)


def test_what_was_tried_and_how_much_the_pairs_tell_can_be_read(draw_waveform: Draw) -> None:
    clf = quick().fit(*draw_waveform(300, 300).pack())
    assert "<- chosen" in str(clf.selection_)
    assert clf.alpha_ in (0.1, 0.01)
    assert clf.features_ == "linear"
    assert 0.05 < clf.pair_information_.value < np.log(2)
    assert clf.pair_information_.p_value(99, random_state=0) == 0.01


def test_weights_of_an_earlier_linear_fit_are_gone(draw_waveform: Draw) -> None:
    X, y = draw_waveform(60, 60).pack()
    clf = lw.PairClassifier(
        features="linear", alphas=[0.1], pairing="random", cv=2, random_state=0
    ).fit(X, y)
    assert clf.coef_.shape == (1, 21)
    clf.set_params(features="rbf").fit(X, y)
    assert not hasattr(clf, "coef_")
    assert not hasattr(clf, "intercept_")


def test_parameters_that_are_set_after_the_fit_change_no_prediction(draw_waveform: Draw) -> None:
    X, y = draw_waveform(150, 150).pack()
    clf = lw.PairClassifier(features="linear", alphas=[0.1], random_state=0).fit(X, y)
    before = clf.predict(X)
    np.testing.assert_array_equal(clf.set_params(n_classes=3).predict(X), before)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("row", [3, 31, 60])
def test_values_that_are_not_finite_are_refused(
    draw_waveform: Draw, value: float, name: str, row: int
) -> None:
    X, y = draw_waveform(20, 30).pack()
    X[row, 5] = value
    with pytest.raises(ValueError, match=f"contains {name}"):
        quick().fit(X, y)


def test_a_split_pair_is_answered_with_pairkfold(draw_waveform: Draw) -> None:
    X, y = draw_waveform(20, 30).pack()
    with pytest.raises(ValueError, match=r"Pair 20 is split.*PairKFold"):
        quick().fit(X[:-1], y[:-1])


def test_missing_kinds_of_rows_are_named() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        quick().fit(np.eye(4), np.zeros(4, dtype=int))
    with pytest.raises(ValueError, match="looks like class labels"):
        quick().fit(np.eye(6), np.array([1, -1, 1, -1, 1, -1]))


def test_fewer_pairs_than_folds_are_refused(draw_waveform: Draw) -> None:
    X, y = draw_waveform(4, 30).pack()
    with pytest.raises(ValueError, match="n_splits=5"):
        quick().fit(X, y)
    with pytest.raises(ValueError, match="n_splits=5"):
        quick().fit(*draw_waveform(30, 4).pack())


@pytest.mark.parametrize(
    "alphas",
    [
        [],
        [0.0],
        [-1.0, 1.0],
        [np.nan],
        [np.inf],
        {"linear": [0.0]},
        {"linear": None},
        {"linear": "x"},
    ],
)
def test_penalties_that_are_none_are_named(draw_waveform: Draw, alphas: Any) -> None:
    with pytest.raises(ValueError, match="alphas must be positive finite numbers"):
        quick(alphas=alphas).fit(*draw_waveform(20, 30).pack())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_classes", 1),
        ("features", "cubic"),
        ("alphas", "many"),
        ("positive", "smaller"),
        ("cv", 1),
        ("calibrate", "yes"),
    ],
)
def test_bad_settings_are_named(draw_waveform: Draw, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        quick(**{name: value}).fit(*draw_waveform(20, 30).pack())


def test_a_pairing_that_there_is_not_is_named(draw_waveform: Draw) -> None:
    with pytest.raises(ValueError, match=r"pairing must be one of auto, asked.*got 'odd'"):
        quick(pairing="odd").fit(*draw_waveform(20, 30).pack())


def test_scoring_on_weak_labels_is_refused(draw_waveform: Draw) -> None:
    X, y = draw_waveform(60, 60).pack()
    with pytest.raises(ValueError, match="weak labels"):
        quick(pairing="random", alphas=[0.1]).fit(X, y).score(X, y)


@pytest.mark.parametrize(
    ("scale", "words"), [(1e160, "too large"), (1e-300, "column 0.*too small")]
)
def test_values_that_cannot_be_squared_are_named(
    draw_waveform: Draw, scale: float, words: str
) -> None:
    X, y = draw_waveform(60, 60).pack()
    with pytest.raises(ValueError, match=words):
        lw.PairClassifier().fit(scale * X, y)
    with pytest.raises(ValueError, match=words):
        lw.estimate_prior(scale * X, y)
