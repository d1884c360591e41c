"""Any classifier as a score: how it is fitted, read and refused."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from likewise.scores.models import check_learns, fit_to_probabilities, score_of

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(120, 2))
PROBABILITIES = 1.0 / (1.0 + np.exp(-2.0 * ROWS @ [[-1.0, 1.0], [1.0, -1.0]]))
ALL = np.arange(120)


def fitted(estimator: Any, weights: Any = PROBABILITIES) -> Any:
    return fit_to_probabilities(estimator, ROWS, ALL, weights, np.random.RandomState(0))


def test_a_fit_to_probabilities_has_their_log_odds() -> None:
    """Soft targets from a logistic model have that model as their optimum."""
    model = fitted(LogisticRegression(C=1e8, tol=1e-10, max_iter=1000))
    np.testing.assert_allclose(model.coef_[0], [2.0, -2.0], atol=0.01)
    np.testing.assert_allclose(model.intercept_, 0.0, atol=0.01)


def test_certain_rows_are_fitted_once_and_without_weights() -> None:
    labels = (PROBABILITIES[:, 1] > 0.5).astype(int)
    nearly = np.where(np.eye(2)[labels] == 1, 0.995, 0.005)
    expected = RandomForestClassifier(10, random_state=0).fit(ROWS, labels)
    found = fitted(RandomForestClassifier(10, random_state=0), nearly)
    np.testing.assert_array_equal(found.predict_proba(ROWS), expected.predict_proba(ROWS))


def test_no_class_is_left_out() -> None:
    weights = np.column_stack([np.full(120, 0.7), np.full(120, 0.3), np.zeros(120)])
    assert fitted(LogisticRegression(), weights).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        GridSearchCV(make_pipeline(StandardScaler(), DummyClassifier()), {}, cv=2),
    ],
)
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_last_step(estimator: Any, routing: bool) -> None:
    check_learns(estimator)
    with sklearn.config_context(enable_metadata_routing=routing):
        found = fitted(estimator, np.tile([0.8, 0.2], (120, 1)))
    assert found.predict_proba(ROWS).mean(axis=0)[0] == pytest.approx(0.8, abs=0.02)


def test_seeds_that_are_missing_are_set_and_others_kept() -> None:
    first, second = (fitted(RandomForestClassifier(3)) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(ROWS), second.predict_proba(ROWS))
    assert fitted(RandomForestClassifier(3, random_state=7)).random_state == 7


def test_scores_are_log_odds_or_log_probabilities() -> None:
    two = fitted(LogisticRegression())
    scores = score_of(two, 2, 120).transformer.transform(ROWS)
    p = two.predict_proba(ROWS) + 1 / 122
    np.testing.assert_allclose(scores[:, 0], np.log(p[:, 1] / p[:, 0]))
    three = fitted(LogisticRegression(), np.column_stack([PROBABILITIES / 2, np.full(120, 0.5)]))
    scores = score_of(three, 3, 10**9).transformer.transform(ROWS)
    np.testing.assert_allclose(np.exp(scores), three.predict_proba(ROWS), atol=1e-8)


def test_a_class_that_a_model_does_not_know_has_a_small_probability() -> None:
    model = LogisticRegression().fit(ROWS, 2 * (PROBABILITIES[:, 1] > 0.5))
    scores = score_of(model, 3, 97).transformer.transform(ROWS)
    np.testing.assert_allclose(np.exp(scores[:, 1]), 0.01 / 1.03, rtol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearSVC(), "no predict_proba"),
        (KNeighborsClassifier(), "takes no sample_weight"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "takes no sample_weight"),
        (LinearRegression(), "no predict_proba"),
        (KMeans(), "no predict_proba"),
        (HistGradientBoostingClassifier, "an object, not a class"),
        ("trees", "must be a scikit-learn classifier"),
    ],
)
def test_what_cannot_learn_is_refused_with_a_reason(estimator: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_learns(estimator)
