"""Which columns matter, by pairs that a classifier did not learn from."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import likewise as lw


@pytest.fixture(scope="module")
def told() -> Any:
    """A frame whose first column tells the classes, and pairs."""
    X, y = lw.datasets.make_gaussians(4000, n_features=1, separation=3.0, random_state=0)
    noise = np.random.default_rng(0).standard_normal((4000, 2))
    table = np.column_stack([X, noise])
    sample = lw.datasets.sample_su(table, y, 150, 200, n_test=500, prior=0.7, random_state=0)
    rows, labels = sample.pack()
    return pd.DataFrame(rows, columns=["tells", "a", "b"]), labels, sample


def test_the_column_that_tells_the_classes_is_found(told: Any, capsys: Any) -> None:
    frame, y, _ = told
    clf = lw.SUClassifier(prior=0.7, alpha=0.1).fit(frame, y)
    found = lw.permutation_importance(clf, frame, y, cv=3, verbose=1, random_state=0)
    assert found.names == ("tells", "a", "b")
    assert found.unit == "accuracy"
    assert found.mean[0] > 0.1 > found.mean[1:].max()
    assert str(found).splitlines()[1].startswith("  tells")
    assert capsys.readouterr().out.count("fold") == 3
    assert found.to_dict()["columns"][0]["name"] == "tells"
    assert "<td>" in found._repr_html_()
    assert found.plot().get_xlabel() == found.unit


def test_other_classifiers_are_judged_as_they_are_by_any_splitter(told: Any) -> None:
    frame, y, sample = told
    clf = LogisticRegression().fit(
        pd.DataFrame(sample.X_test, columns=frame.columns), sample.y_test
    )
    splits = list(lw.PairKFold(3).split(frame, y))
    for cv in (lw.PairKFold(3), splits):
        found = lw.permutation_importance(clf, frame, y, cv=cv, random_state=0)
        assert found.unit == "nats per pair"
        assert found.drops.shape == (3, 3)
        assert found.mean.argmax() == 0


def test_rows_in_several_statements_are_judged_too() -> None:
    X, y = lw.datasets.make_gaussians(2000, n_features=1, separation=3.0, random_state=0)
    table = np.column_stack([X, np.random.default_rng(0).standard_normal(2000)])
    asked = lw.datasets.sample_statements(table, y, 200, 300, random_state=0)
    rows, matrix = asked.pack()
    assert sp.issparse(matrix)
    clf = lw.PairClassifier(features="linear", alphas=[0.1], cv=2, random_state=0)
    with pytest.raises(NotFittedError):
        lw.permutation_importance(clf, rows, matrix)
    clf.fit(rows, matrix)
    for cv in (3, KFold(3)):
        found = lw.permutation_importance(clf, rows, matrix, cv=cv, random_state=0)
        assert found.drops.shape == (3, 2)
        assert found.mean[0] > 0.1 > abs(found.mean[1])


def test_a_classifier_that_ranks_no_rows_needs_a_scorer(told: Any) -> None:
    class Bare:
        classes_ = np.array([-1, 1])

        def fit(self, X: Any, y: Any) -> "Bare":
            return self

        def predict(self, X: Any) -> Any:
            return np.where(np.asarray(X)[:, 0] > 0, 1, -1)

    frame, y, _ = told
    with pytest.raises(ValueError, match=r"pass scoring=\.\.\."):
        lw.permutation_importance(Bare(), frame, y)

    def score(clf: Any, X: Any, y: Any) -> float:
        return -lw.su_risk(y, clf.predict(X), prior=0.7).value

    found = lw.permutation_importance(Bare(), frame, y, scoring=score, cv=3, random_state=0)
    assert found.unit == "score"
    np.testing.assert_allclose(found.mean[1:], 0.0, atol=1e-12)
    assert found.mean[0] > 0.1
