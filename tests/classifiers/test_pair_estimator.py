"""PairClassifier with a classifier that the user brings."""

import copy
import re
import warnings
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import likewise as lw
from likewise.datasets import StatementSample
from likewise.scores.encoding import gradient_boosting
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here
from tests.classifiers.quick import draw_table, draw_three, share_right

TREES = HistGradientBoostingClassifier(max_iter=20)


def boosted(**settings: Any) -> Any:
    return lw.PairClassifier(**{"estimator": TREES, "cv": 3, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def asked() -> StatementSample:
    return draw_table(200, 500)


@pytest.fixture(scope="module")
def fitted(asked: StatementSample) -> Any:
    return boosted().fit(*asked.pack())


def table_with_gaps(n_rows: int = 250, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return numbers and text, a tenth of it missing, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    colour = np.where(rng.random(n_rows) < 0.85, y, 1 - y)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows) + 2.0 * y,
            "colour": np.where(colour, "red", "blue").astype(object),
            "noise": rng.normal(size=n_rows),
        }
    )
    return table.mask(rng.random(table.shape) < 0.1), y


def answers(y: Any, count: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    left = rng.integers(len(y), size=count)
    right = (left + rng.integers(1, len(y), size=count)) % len(y)
    pairs = np.column_stack([left, right])
    same = y[left] == y[right]
    return pairs[same], pairs[~same]


# --- it learns --------------------------------------------------------------------------------


def test_it_is_as_good_as_the_same_classifier_with_labels(
    asked: StatementSample, fitted: Any
) -> None:
    labeled = clone(TREES).fit(asked.table, asked.y_table)
    by_labels = labeled.score(asked.X_test, asked.y_test)
    assert fitted.score(asked.X_test, asked.y_test) > by_labels - 0.01
    assert share_right(fitted.labels_, asked.y_table) > 0.99


def test_what_was_fitted_can_be_looked_at(asked: StatementSample, fitted: Any) -> None:
    assert type(fitted.estimator_) is HistGradientBoostingClassifier
    assert fitted.features_ == "HistGradientBoostingClassifier"
    assert fitted.alpha_ is None
    assert fitted.has_signal_
    assert fitted.pairing_ == "asked"
    assert fitted.history_.information[fitted.history_.best] == max(fitted.history_.information)
    assert "HistGradientBoostingClassifier" in str(fitted.selection_)
    low, high = fitted.prior_interval_
    assert low < np.mean(asked.y_table == 1) < high
    assert not hasattr(fitted, "coef_")


def test_probabilities_are_calibrated(asked: StatementSample, fitted: Any) -> None:
    p = fitted.predict_proba(asked.X_test)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    own = fitted.estimator_.predict_proba(asked.X_test)
    right = (asked.y_test == 1).astype(int)

    def loss(q: Any) -> float:
        return float(-np.log(np.clip(q[np.arange(len(q)), right], 1e-9, 1)).mean())

    flipped = own[:, ::-1]
    assert loss(p) <= min(loss(own), loss(flipped)) + 0.01


def test_wrong_answers_are_suspected() -> None:
    sample = draw_table(200, 900, error_rate=0.1)
    clf = boosted(error_rate="auto").fit(*sample.pack())
    assert abs(clf.error_rate_ - 0.1) < 0.03
    assert sample.wrong[clf.suspects_[:50]].mean() > 0.9
    assert share_right(clf.labels_, sample.y_table) > 0.98


def test_pairs_that_were_met_begin_at_our_own_scores() -> None:
    sample = draw_table(200, 200, "met")
    clf = lw.PairClassifier(
        estimator=GaussianNB(), features="linear", alphas=[0.03], cv=3, random_state=0
    ).fit(*sample.pack())
    assert clf.pairing_ == "random"
    assert clf.score(sample.X_test, sample.y_test) > 0.88
    assert len(clf.selection_.rows) == 2  # the start, and what came of it


def test_fresh_pairs_and_three_classes() -> None:
    X, y, X_test, y_test = draw_three(300, 0)
    clf = lw.PairClassifier(
        3, estimator=LogisticRegression(), features="linear", alphas=[0.03], cv=3, random_state=0
    ).fit(X, y)
    assert share_right(clf.predict(X_test), y_test) > 0.85
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    assert np.all(np.diff(clf.prior_) < 0)


def test_known_rows_name_the_classes(asked: StatementSample) -> None:
    known: list[str | None] = [None] * 200
    for row in range(6):
        known[row] = "yes" if asked.y_table[row] == 1 else "no"
    X, y = asked.pack()
    clf = boosted().fit(X, y, known=known)
    np.testing.assert_array_equal(clf.classes_, ["no", "yes"])
    found = clf.predict(asked.X_test) == "yes"
    assert np.mean(found == (asked.y_test == 1)) > 0.85


def test_noise_is_no_signal() -> None:
    sample = draw_table(200, 300)
    X = np.random.default_rng(0).normal(size=(200, 4))
    with pytest.warns(UserWarning, match="no signal"):
        clf = boosted().fit(*lw.pack(X, sample.similar, sample.dissimilar))
    assert len(set(clf.predict(X))) == 1


# --- rows reach it untouched ------------------------------------------------------------------


chooses_polars_columns = pytest.mark.skipif(
    sklearn.__version__.startswith("1.8."),
    reason="ColumnTransformer of scikit-learn 1.8 cannot choose columns of polars frames by name",
)


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pytest.param(pl.DataFrame, marks=chooses_polars_columns)]
)
def test_frames_with_gaps_and_categories_reach_a_pipeline(kind: Any) -> None:
    table, y = table_with_gaps()
    frame = pl.from_pandas(table) if kind is pl.DataFrame else table
    encode = ColumnTransformer(
        [("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"])],
        remainder="passthrough",
    )
    estimator = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=20))
    clf = boosted(estimator=estimator).fit(*lw.pack(frame, *answers(y, 600)))
    np.testing.assert_array_equal(clf.feature_names_in_, ["size", "colour", "noise"])
    assert share_right(clf.predict(frame), y) > 0.85
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[["colour", "size", "noise"]])


def test_texts_are_rows_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    words = [["boat", "sea", "sail"], ["tree", "leaf", "moss"]]
    texts = pd.Series([" ".join(rng.choice(words[k], 4)) for k in y])
    X, labels = lw.pack(texts, *answers(y, 150))
    clf = boosted(estimator=make_pipeline(TfidfVectorizer(), LogisticRegression())).fit(X, labels)
    assert share_right(clf.predict(texts), y) > 0.95


def test_auto_takes_gradient_boosting_for_gaps_and_text() -> None:
    table, y = table_with_gaps()
    clf = boosted(estimator="auto").fit(*lw.pack(table, *answers(y, 600)))
    assert clf.features_ == "HistGradientBoostingClassifier"
    assert share_right(clf.predict(table), y) > 0.85


def test_a_report_tells_the_accuracy_on_gaps_and_text() -> None:
    table, y = table_with_gaps()
    trees = gradient_boosting().set_params(histgradientboostingclassifier__max_iter=10)
    packed = lw.pack(table, *answers(y, 600))
    clf = boosted(estimator=trees).fit(*packed)
    report = lw.label_free_report(clf, *packed, random_state=0)
    fresh, truth = table_with_gaps(1000, seed=1)
    low, high = report.accuracy.interval
    assert low - 0.02 < share_right(clf.predict(fresh), truth) < high + 0.02


def test_auto_keeps_our_scores_unless_trees_are_clearly_better() -> None:
    sample = draw_table(150, 300)
    settings: Any = {"features": "linear", "alphas": [0.1, 0.01], "cv": 3, "random_state": 0}
    own = lw.PairClassifier(**settings).fit(*sample.pack())
    auto = lw.PairClassifier(estimator="auto", **settings).fit(*sample.pack())
    assert auto.estimator_ is None
    expected = own.decision_function(sample.X_test)
    np.testing.assert_array_equal(auto.decision_function(sample.X_test), expected)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = ((X[:, 0] > 0) == (X[:, 1] > 0)).astype(int)
    corners = lw.PairClassifier(estimator="auto", **settings).fit(*lw.pack(X, *answers(y, 900)))
    assert corners.features_ == "HistGradientBoostingClassifier"
    assert share_right(corners.predict(X), y) > 0.95


# --- scikit-learn's manners -------------------------------------------------------------------


def test_it_is_cloned_copied_and_seeded(asked: StatementSample, fitted: Any) -> None:
    again = clone(fitted).fit(*asked.pack())
    np.testing.assert_array_equal(
        again.decision_function(asked.X_test), fitted.decision_function(asked.X_test)
    )
    loaded = copy.deepcopy(fitted)
    np.testing.assert_array_equal(loaded.predict(asked.X_test), fitted.predict(asked.X_test))
    assert clone(fitted).set_params(estimator__max_iter=7).estimator.max_iter == 7


def test_a_second_fit_forgets_the_first(asked: StatementSample, fitted: Any) -> None:
    clf = clone(fitted).fit(*asked.pack())
    clf.set_params(estimator=None, features="linear", alphas=[0.1]).fit(*asked.pack())
    assert clf.estimator_ is None
    assert not hasattr(clf, "history_")


REFUSED = {
    **dict.fromkeys(
        [
            "ClassifierChain",
            "FixedThresholdClassifier",
            "GaussianProcessClassifier",
            "KNeighborsClassifier",
            "LabelPropagation",
            "LabelSpreading",
            "LinearDiscriminantAnalysis",
            "NearestCentroid",
            "OneVsRestClassifier",
            "QuadraticDiscriminantAnalysis",
            "RadiusNeighborsClassifier",
            "SelfTrainingClassifier",
            "TunedThresholdClassifierCV",
        ],
        "takes no sample_weight",
    ),
    **dict.fromkeys(
        [
            "LinearSVC",
            "NuSVC",
            "OneVsOneClassifier",
            "OutputCodeClassifier",
            "PassiveAggressiveClassifier",
            "Perceptron",
            "RidgeClassifier",
            "RidgeClassifierCV",
            "SGDClassifier",
            "SVC",
            "StackingClassifier",
        ],
        "no predict_proba",
    ),
    "CategoricalNB": "cannot predict rows that it was not fitted to",
    "MultiOutputClassifier": "at least two dimensions",
}
"""Classifiers of scikit-learn, as they come, that cannot learn from statements, and why."""


def every_classifier() -> list[Any]:
    """Return scikit-learn's classifiers, small, some around logistic regression."""
    with warnings.catch_warnings(action="ignore"):  # of what is deprecated
        return [_made(cls) for _, cls in all_estimators(type_filter="classifier")]


FEW = {"n_estimators": 5, "max_iter": 20, "Cs": 2}
"""Trees and steps that show whether a classifier can learn."""


def _made(cls: Any) -> Any:
    inner = LogisticRegression()
    if cls is VotingClassifier:
        return VotingClassifier([("a", inner), ("b", GaussianNB())], voting="soft")
    if cls is StackingClassifier:
        return StackingClassifier([("a", inner), ("b", GaussianNB())])
    takes = signature(cls).parameters
    few = {name: value for name, value in FEW.items() if name in takes}
    return cls(estimator=inner, **few) if "estimator" in takes else cls(**few)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", every_classifier(), ids=lambda one: type(one).__name__)
def test_every_classifier_of_scikit_learn_learns_or_is_refused_with_a_reason(
    estimator: Any,
) -> None:
    sample = draw_table(60, 150)
    X, y = sample.pack()
    clf = lw.PairClassifier(estimator=estimator, cv=2, random_state=0)
    if type(estimator).__name__ in REFUSED:
        with pytest.raises((TypeError, ValueError), match=REFUSED[type(estimator).__name__]):
            clf.fit(np.abs(X), y)
        return
    clf.fit(np.abs(X), y)
    assert clf.predict_proba(np.abs(X)).shape == (60, 2)


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (SVC(), "SVC has no predict_proba"),
        (FixedThresholdClassifier(LogisticRegression()), "takes no sample_weight"),
        (DecisionTreeClassifier, "pass DecisionTreeClassifier()"),
    ],
)
def test_what_cannot_learn_is_refused(estimator: Any, reason: str, asked: StatementSample) -> None:
    with pytest.raises(TypeError, match=re.escape(reason)):
        boosted(estimator=estimator).fit(*asked.pack())


def test_a_support_vector_machine_learns_once_it_is_calibrated(asked: StatementSample) -> None:
    clf = boosted(estimator=CalibratedClassifierCV(SVC(), cv=2), cv=2).fit(*asked.pack())
    assert clf.score(asked.X_test, asked.y_test) > 0.88


# --- files ------------------------------------------------------------------------------------


def test_trees_come_back_from_a_file(asked: StatementSample, fitted: Any, tmp_path: Path) -> None:
    lw.save(fitted, tmp_path / "model.skops")
    loaded = lw.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(
        loaded.predict_proba(asked.X_test), fitted.predict_proba(asked.X_test)
    )
    assert not hasattr(loaded, "labels_")


def test_other_types_are_loaded_when_trusted_by_name(
    asked: StatementSample, tmp_path: Path
) -> None:
    forest = RandomForestClassifier(5, max_depth=3)
    clf = boosted(estimator=forest, cv=2).fit(*asked.pack())
    lw.save(clf, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"trust them by name.*sklearn\.tree\._tree\.Tree"):
        lw.load(tmp_path / "model.skops")
    types = (
        "sklearn.ensemble._forest.RandomForestClassifier",
        "sklearn.tree._classes.DecisionTreeClassifier",
        "sklearn.tree._tree.Tree",
    )
    loaded = lw.load(tmp_path / "model.skops", trusted=types)
    np.testing.assert_array_equal(loaded.predict(asked.X_test), clf.predict(asked.X_test))


@pytest.mark.parametrize(
    ("field", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 99), ("value", np.inf)]
)
def test_forged_trees_are_not_saved(
    asked: StatementSample, fitted: Any, tmp_path: Path, field: str, value: Any
) -> None:
    forged = copy.deepcopy(fitted)
    forged.estimator_._predictors[0][0].nodes[field][0] = value
    with pytest.raises(ValueError, match="trees that do not hang together"):
        lw.save(forged, tmp_path / "model.skops")
