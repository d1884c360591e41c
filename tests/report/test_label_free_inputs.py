"""Accuracy without labels, of tables of every kind, pipelines with encoders, odd classifiers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.datasets import SUSample, make_gaussians, sample_su
from likewise.report.predictions import reference_rows
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here

Predictions = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module")
def sample() -> SUSample:
    pool = make_gaussians(6000, n_features=3, separation=2.5, random_state=0)
    return sample_su(*pool, 300, 300, n_test=1000, prior=0.7, random_state=0)


def learner() -> lw.SUClassifier:
    return lw.SUClassifier("squared", prior=0.7, alpha=0.1)


def with_categories(X: np.ndarray) -> pd.DataFrame:
    """The first column as words, the others as numbers."""
    words = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    return pd.DataFrame({"cat": words, "b": X[:, 1], "c": X[:, 2]})


def with_gaps(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[::7, 0] = np.nan
    return X


def encoder(**options: Any) -> Any:
    return make_column_transformer((OneHotEncoder(**options), ["cat"]), remainder="passthrough")


@pytest.mark.slow
@pytest.mark.parametrize("same_pairs", [True, False])
def test_a_pipeline_with_an_encoder_is_judged_on_a_frame_with_words(
    sample: SUSample, same_pairs: bool
) -> None:
    X, y = sample.pack()
    words = with_categories(X)
    clf = make_pipeline(encoder(), lw.PairClassifier(features="linear", random_state=0))
    clf.fit(words, y)
    found = lw.label_free_report(
        clf, words, y, trained_on_same_pairs=same_pairs, random_state=0
    ).accuracy
    truth = clf.score(with_categories(sample.X_test), sample.y_test)
    assert found.value == pytest.approx(truth, abs=0.06)


@pytest.mark.slow
def test_a_pipeline_that_fills_gaps_is_judged_on_rows_with_gaps(sample: SUSample) -> None:
    X, y = sample.pack()
    clf = make_pipeline(SimpleImputer(), learner()).fit(with_gaps(X), y)
    found = lw.label_free_report(clf, with_gaps(X), y, random_state=0)
    assert found.cross_fitted
    low, high = found.accuracy.interval
    score = clf.score(with_gaps(sample.X_test), sample.y_test)
    error = np.sqrt(score * (1.0 - score) / sample.y_test.size)  # of the score itself
    assert low - error < score < high + error


@pytest.mark.slow
def test_a_pipeline_fitted_on_labels_is_judged_as_its_last_step_on_encoded_rows(
    sample: SUSample,
) -> None:
    X, y = sample.pack()
    words = with_categories(X)
    clf = fit_plain(with_categories(sample.X_test), sample.y_test)
    found = lw.label_free_report(clf, words, y, random_state=0)
    assert not found.cross_fitted
    expected = lw.label_free_report(clf[-1], clf[0].transform(words), y, random_state=0)
    assert found.to_dict() == expected.to_dict()


def fit_plain(X: pd.DataFrame, y: np.ndarray) -> Any:
    return make_pipeline(encoder(), LogisticRegression()).fit(X, y)


def fit_nested(X: pd.DataFrame, y: np.ndarray) -> Any:
    front = make_pipeline(encoder(), "passthrough")
    return make_pipeline("passthrough", make_pipeline(front, LogisticRegression())).fit(X, y)


def fit_search(X: pd.DataFrame, y: np.ndarray) -> Any:
    clf = make_pipeline(encoder(), LogisticRegression())
    return GridSearchCV(clf, {"logisticregression__C": [1.0, 2.0]}, cv=2).fit(X, y)


def fit_search_at_the_end(X: pd.DataFrame, y: np.ndarray) -> Any:
    return make_pipeline("passthrough", fit_search(X, y)).fit(X, y)


def fit_selection(X: pd.DataFrame, y: np.ndarray) -> Any:
    return make_pipeline(encoder(), SelectKBest(k=1), LogisticRegression()).fit(X, y)


@pytest.mark.parametrize(
    "fit", [fit_plain, fit_nested, fit_search, fit_search_at_the_end, fit_selection]
)
def test_the_first_numbers_that_steps_make_are_thereference_rows(
    sample: SUSample, fit: Callable[[pd.DataFrame, np.ndarray], Any]
) -> None:
    """A step that drops columns comes after them."""
    X = with_categories(sample.X_test)
    found = reference_rows(fit(X, sample.y_test), X)
    np.testing.assert_array_equal(found, encoder().fit_transform(X))


def test_numbers_are_the_reference_rows_as_they_are(sample: SUSample) -> None:
    clf = make_pipeline(StandardScaler(), SelectKBest(k=1), LogisticRegression())
    clf.fit(sample.X_test, sample.y_test)
    np.testing.assert_array_equal(reference_rows(clf, sample.X_test), sample.X_test)


def test_steps_see_the_columns_by_name_where_they_were_fitted_so(sample: SUSample) -> None:
    X = with_categories(sample.X_test)
    X.loc[::5, "b"] = np.nan
    fill = make_column_transformer((SimpleImputer(), ["remainder__b"]), remainder="passthrough")
    with sklearn.config_context(transform_output="pandas"):
        clf = make_pipeline(encoder(sparse_output=False), fill, LogisticRegression())
        found = reference_rows(clf.fit(X, sample.y_test), X)
    assert isinstance(found, np.ndarray)
    assert found.shape == (len(X), 5)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(
    ("change", "clf", "words"),
    [
        # Scikit-learn 1.8 notices only when it multiplies.
        (with_categories, LogisticRegression(), "could not convert string|can't multiply sequence"),
        (with_gaps, LogisticRegression(), "contains NaN"),
        (with_gaps, make_pipeline(StandardScaler(), LogisticRegression()), "contains NaN"),
        (with_gaps, Pipeline([("only", LogisticRegression())]), "contains NaN"),
    ],
)
def test_a_classifier_that_cannot_take_the_rows_says_so_itself(
    sample: SUSample, change: Callable[[np.ndarray], Any], clf: Any, words: str
) -> None:
    X, y = sample.pack()
    clf.fit(sample.X_test, sample.y_test)
    with pytest.raises((TypeError, ValueError), match=words):
        lw.label_free_report(clf, change(X), y, random_state=0)


@pytest.mark.slow
def test_gaps_are_filled_for_the_reference_score_alone(sample: SUSample) -> None:
    X, y = sample.pack()
    with_nan = with_gaps(X)
    clf = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    X_test, y_test = with_gaps(sample.X_test), sample.y_test
    clf.fit(X_test[:500], y_test[:500])
    assert np.isfinite(reference_rows(clf, with_nan)).all()
    report = lw.label_free_report(clf, with_nan, y, random_state=0)
    low, high = report.accuracy.interval
    assert low - 0.03 < clf.score(X_test[500:], y_test[500:]) < high + 0.03


def test_rows_that_are_no_table_are_named() -> None:
    texts = np.array(["a", "b"] * 30)
    with pytest.raises(ValueError, match="must be a table of numbers and categories"):
        reference_rows(LogisticRegression(), texts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
def test_sparse_tables_of_every_kind_and_lists_get_the_report_of_arrays(sample: SUSample) -> None:
    X, y = sample.pack()
    clf = learner().fit(X, y)
    expected = lw.label_free_report(clf, X, y, random_state=0)
    for make in (np.ndarray.tolist, sp.coo_matrix, sp.dia_matrix, sp.bsr_array):
        found = lw.label_free_report(clf, make(X), y, random_state=0)
        assert found.cross_fitted
        np.testing.assert_allclose(found.to_frame(), expected.to_frame(), err_msg=str(make))


def test_lists_and_polars_frames_with_words_get_the_report_of_pandas_frames(
    sample: SUSample,
) -> None:
    X, y = sample.pack()
    words = with_categories(X)
    by_place, by_name = (
        make_column_transformer((OneHotEncoder(), first), (StandardScaler(), others))
        for first, others in (([0], [1, 2]), (["cat"], ["b", "c"]))
    )
    # By places: scikit-learn 1.8 does not find columns of polars frames by their names.
    listed, expected, framed = (
        lw.label_free_report(make_pipeline(encode, learner()).fit(X, y), X, y, random_state=0)
        for encode, X in (
            (by_place, words.to_numpy().tolist()),
            (by_name, words),
            (clone(by_place), pl.from_pandas(words)),
        )
    )
    assert listed.to_dict() == expected.to_dict() == framed.to_dict()


class Odd:
    """Predict by the sign of the first column, in an odd form."""

    def __init__(self, form: Callable[[Predictions], Any]) -> None:
        self.form = form

    def predict(self, X: np.ndarray) -> Any:
        return self.form(np.where(X[:, 0] > 0, 1.0, -1.0))


def first_replaced(value: Any, dtype: Any) -> Callable[[Predictions], Predictions]:
    def form(predicted: Predictions) -> Predictions:
        replaced = predicted.astype(dtype)
        replaced[:3] = value
        return replaced

    return form


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [lambda found: found[:, None], lambda found: pd.DataFrame({"class": found})],
    ids=["column", "frame"],
)
def test_predictions_in_a_column_are_predictions(
    sample: SUSample, form: Callable[[Predictions], Any]
) -> None:
    found = lw.label_free_report(Odd(form), *sample.pack(), random_state=0)
    expected = lw.label_free_report(Odd(lambda found: found), *sample.pack(), random_state=0)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (lambda found: found[1:], r"shape \(899,\); one class .* each of the 900 rows"),
        (lambda found: np.column_stack([found, found]), r"shape \(900, 2\)"),
        (lambda found: None, r"shape \(\)"),
        (first_replaced(np.nan, float), "NaN or None for 3 rows; one class"),
        (first_replaced(np.nan, object), "NaN or None for 3 rows"),
        (first_replaced(None, object), "NaN or None for 3 rows"),
        (first_replaced(pd.NA, object), "NaN or None for 3 rows"),
    ],
)
def test_predictions_that_are_not_one_class_per_row_are_named(
    sample: SUSample, form: Callable[[Predictions], Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        lw.label_free_report(Odd(form), *sample.pack(), random_state=0)


def test_more_classes_than_rows_cannot_be_judged(sample: SUSample) -> None:
    clf: Any = Odd(lambda found: found)
    clf.classes_ = np.arange(10_000)
    with pytest.raises(ValueError, match=r"10,00\d classes, more than .* rows .* \(900\)"):
        lw.label_free_report(clf, *sample.pack(), random_state=0)


def test_the_prior_of_fresh_pairs_is_no_surer_than_the_posterior_over_all_priors(
    sample: SUSample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bootstrap of few pairs alone held the truth in 80 of 100 samples for 90."""
    intervals = np.array([[0.1, 0.45], [0.55, 0.9]])
    monkeypatch.setattr(
        "likewise.report.label_free.calibrated",
        lambda learned, level: SimpleNamespace(intervals=intervals),
    )
    for sign, low, high in ((1, 0.55, 0.9), (-1, 0.1, 0.45)):
        clf = LogisticRegression().fit(sample.X_test, sign * sample.y_test)
        found = lw.label_free_report(clf, *sample.pack(), random_state=0).prior
        assert found.interval == pytest.approx((low, high))
        assert low < found.value < high
