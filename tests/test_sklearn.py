"""What `likewise._sklearn` relies on in scikit-learn, and what is made of it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.exceptions import ScoringError, StopSearch
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here


def sample() -> Any:
    X, y = lw.datasets.make_gaussians(3000, separation=5, random_state=0)
    return lw.datasets.sample_su(X, y, 60, 120, n_test=100, prior=0.7, random_state=0)


def su() -> lw.SUClassifier:
    return lw.SUClassifier(prior=0.7)


def pair() -> lw.PairClassifier:
    return lw.PairClassifier(features="linear", alphas=[0.1], cv=2, random_state=0)


CLASSIFIERS = [(su, "su_risk_scorer"), (pair, "pair_log_likelihood_scorer")]


@pytest.mark.parametrize(("make", "scorer"), CLASSIFIERS)
@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc"])
def test_a_search_that_scores_weak_labels_as_classes_stops_and_names_the_scorer(
    make: Any, scorer: str, scoring: str | None
) -> None:
    X, y = sample().pack()
    clf = make_pipeline(StandardScaler(), make())
    with pytest.raises(StopSearch, match=scorer):
        cross_val_score(clf, X, y, cv=lw.PairKFold(2), scoring=scoring)


@pytest.mark.parametrize(("make", "scorer"), CLASSIFIERS)
def test_weak_labels_of_every_form_are_not_scored_as_classes(make: Any, scorer: str) -> None:
    X, y = sample().pack()
    clf = make().fit(X, y)
    table = np.random.default_rng(0).normal(size=(4, 2))
    vector = lw.pack(table, similar=[(0, 1)], dissimilar=[(2, 3)])[1]  # 1, 1, -1, -1
    matrix = lw.pack(table, similar=[(0, 1), (1, 2)])[1]
    for rows, labels in ((X, y), (table, vector), (table, matrix)):
        with pytest.raises(ScoringError, match=scorer):
            clf.score(rows, labels)
        with pytest.raises(ScoringError, match=scorer):
            get_scorer("accuracy")(clf, rows, labels)


@pytest.mark.parametrize(("make", "scorer"), CLASSIFIERS)
def test_classes_of_other_names_are_told_from_weak_labels(make: Any, scorer: str) -> None:
    drawn = sample()
    clf = make().fit(*drawn.pack())
    for other in (drawn.y_test == 1, np.where(drawn.y_test == 1, "yes", "no")):
        with pytest.raises(ScoringError, match=r"\(here -1, 1\).*name them.*known"):
            clf.score(drawn.X_test, other)
    with pytest.raises(ScoringError, match="y holds weak labels"):
        clf.score(*lw.pack(drawn.X_test, similar=[(0, 1), (1, 2)]))


def test_a_grid_search_with_error_score_raise_gets_an_ordinary_error() -> None:
    X, y = sample().pack()
    search = GridSearchCV(su(), {"alpha": [0.1]}, cv=lw.PairKFold(2), error_score="raise")
    with pytest.raises(ScoringError, match="su_risk_scorer"):
        search.fit(X, y)


@pytest.mark.parametrize(("make", "scorer"), CLASSIFIERS)
def test_scorers_that_know_weak_labels_are_left_alone(make: Any, scorer: str) -> None:
    X, y = sample().pack()
    by_metric = make_scorer(
        lambda labels, decision: lw.su_risk(labels, decision, prior=0.7).value,
        response_method="decision_function",
    )
    scoring = {"own": getattr(lw, scorer), "metric": by_metric}
    found = cross_validate(make(), X, y, cv=lw.PairKFold(2), scoring=scoring)
    assert np.isfinite(found["test_own"]).all()
    assert np.isfinite(found["test_metric"]).all()


@pytest.mark.parametrize(("make", "scorer"), CLASSIFIERS)
def test_true_classes_are_scored_by_any_scorer(make: Any, scorer: str) -> None:
    drawn = sample()
    clf = make().fit(*drawn.pack())
    accuracy = clf.score(drawn.X_test, drawn.y_test)
    assert get_scorer("accuracy")(clf, drawn.X_test, drawn.y_test) == accuracy
    assert get_scorer("roc_auc")(clf, drawn.X_test, drawn.y_test) > 0.8


def test_scorers_of_other_classifiers_do_not_reach_those_inside() -> None:
    drawn = sample()
    inner = su().fit(*drawn.pack())
    outer = LogisticRegression().fit(drawn.X_test, drawn.y_test)
    assert get_scorer("accuracy")(outer, drawn.X_test, drawn.y_test) > 0.8
    assert inner.predict(drawn.X_test).shape == (100,)


def test_private_names_of_scikit_learn_are_imported_in_one_module() -> None:
    private = re.compile(r"from sklearn[\w.]*\._|from sklearn[\w.]* import .*\b_\w")
    folder = Path(lw.__file__).parent
    found = [
        path.name
        for path in folder.rglob("*.py")
        if path.name != "_sklearn.py" and private.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
