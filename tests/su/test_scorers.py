"""The SU risk as a metric and as a score."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import likewise as lw
from likewise.datasets import SUSample
from likewise.su.rewrites import Rewrite
from likewise.su.risk import su_risk_of_decisions
from tests.su.draws import draw_pairs, draw_table

Draw = Callable[..., SUSample]


def test_su_risk_of_weak_labels_is_close_to_the_true_error(draw_waveform: Draw) -> None:
    train, fresh = (draw_waveform(2000, 2000, 0.7, seed) for seed in (1, 2))
    clf = LogisticRegression().fit(train.unlabeled, train.y_unlabeled)
    X, y = fresh.pack()
    estimate = lw.su_risk(y, clf.decision_function(X), prior=0.7)
    error = 1 - clf.score(fresh.X_test, fresh.y_test)
    assert abs(estimate.value - error) < 3 * estimate.standard_error + 0.02
    assert estimate.standard_error < 0.1


@pytest.mark.parametrize(
    ("y", "message"),
    [([0, 0], "at least one pair"), ([], "at least one pair")],
)
def test_su_risk_needs_pairs(y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lw.su_risk(np.array(y, dtype=int), np.ones(len(y)), prior=0.7)


def test_su_risk_needs_the_pairs_of_the_rewrite() -> None:
    with pytest.raises(ValueError, match="at least one dissimilar pair for rewrite='du'"):
        lw.su_risk([1, 1, 0], [1.0, 1.0, 1.0], prior=0.7, rewrite="du")


def test_su_risk_reads_both_forms_of_weak_labels() -> None:
    rows, _, alike, different, _ = draw_table(np.random.default_rng(0), 200, 150)
    table, y = lw.pack(rows, similar=alike, dissimilar=different)
    assert sp.issparse(y)
    decision = table[:, 0]
    found = lw.su_risk(y, decision, prior=0.7)
    left, right = decision[alike].T
    first, second = decision[different].T
    expected = su_risk_of_decisions(left, right, decision, prior=0.7, dissimilar=(first, second))
    assert found == expected
    once = np.unique(alike.ravel(), return_index=True)[0][:2]  # two rows as one statement
    _, vector = lw.pack(rows, similar=[tuple(once)])
    assert vector.ndim == 1
    expected = su_risk_of_decisions([decision[once[0]]], [decision[once[1]]], decision, prior=0.7)
    assert lw.su_risk(vector, decision, prior=0.7) == expected


def test_su_risk_compares_lengths() -> None:
    with pytest.raises(ValueError, match="decision has 1 values but y has 3"):
        lw.su_risk([1, 1, 0], [1.0], prior=0.7)


def test_the_scorer_is_minus_the_risk_and_finds_the_prior_in_a_pipeline(
    draw_waveform: Draw,
) -> None:
    X, y = draw_waveform().pack()
    clf = make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7)).fit(X, y)
    expected = -lw.su_risk(y, clf.decision_function(X), prior=0.7).value
    assert lw.su_risk_scorer(clf, X, y) == expected
    search = GridSearchCV(
        clf, {"suclassifier__alpha": [1.0]}, cv=lw.PairKFold(2), scoring=lw.su_risk_scorer
    ).fit(X, y)
    assert isinstance(lw.su_risk_scorer(search, X, y), float)


def test_the_scorer_takes_a_prior_for_classifiers_that_have_none(draw_waveform: Draw) -> None:
    sample = draw_waveform()
    X, y = sample.pack()
    clf = LinearSVC().fit(sample.X_test, sample.y_test)
    with pytest.raises(ValueError, match="LinearSVC has no prior_"):
        lw.su_risk_scorer(clf, X, y)
    assert partial(lw.su_risk_scorer, prior=0.7)(clf, X, y) > -0.5


def test_scores_work_in_scikit_learns_cross_validation(draw_waveform: Draw) -> None:
    X, y = draw_waveform().pack()
    scores = cross_val_score(
        lw.SUClassifier(prior=0.7), X, y, cv=lw.PairKFold(4), scoring=lw.su_risk_scorer
    )
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()


def test_the_scorer_uses_the_weights_of_pairs_that_were_learned_with() -> None:
    X, y = draw_pairs(np.random.default_rng(1), 80, 60).pack()
    clf = lw.SUClassifier(prior=0.7).fit(X, y)
    assert 0 < clf.su_share_ < 1
    for rewrite, fitted in (
        ("sdu", clf),
        ("sd", lw.SUClassifier(prior=0.7, rewrite="sd").fit(X, y)),
    ):
        weights = Rewrite.at(fitted.su_share_)
        decision = fitted.decision_function(X)
        expected = -lw.su_risk(y, decision, prior=0.7, rewrite=weights).value
        assert lw.su_risk_scorer(fitted, X, y) == expected, rewrite
    svm = LinearSVC().fit(X, np.where(X[:, 0] > 0.5, 1, -1))
    expected = -lw.su_risk(y, svm.decision_function(X), prior=0.7).value
    assert partial(lw.su_risk_scorer, prior=0.7)(svm, X, y) == expected
