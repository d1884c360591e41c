"""SUClassifier and SUClassifierCV with dissimilar pairs, and with statements about one table."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit

import likewise as lw
from likewise.su.rewrites import REWRITES, SD, Rewrite
from tests.su.draws import Drawn, draw_pairs, draw_table

LOSSES = ["squared", "logistic", "double_hinge"]
ESTIMATORS = [lw.SUClassifier, lw.SUClassifierCV]
ALPHAS = [1e-1, 1e-3]


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw_pairs(np.random.default_rng(0), 103, 87, 211)


@pytest.fixture(scope="module")
def asked() -> tuple[Any, Any]:
    """One table of 300 rows, about 4 statements a row: most rows hang together."""
    rows, _, alike, different, _ = draw_table(np.random.default_rng(1), 300, 600)
    return lw.pack(rows, similar=alike, dissimilar=different)


@pytest.fixture(scope="module")
def once() -> tuple[Any, Any]:
    """One table whose rows are in at most one statement each."""
    rows, classes, *_ = draw_table(np.random.default_rng(2), 300, 1)
    pairs = np.random.default_rng(3).permutation(300)[:240].reshape(120, 2)
    alike = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    return lw.pack(rows, similar=pairs[alike], dissimilar=pairs[~alike])


def by_hand(estimator: Any, X: Any, y: Any, cv: Any) -> np.ndarray:
    """Scores of every split and alpha by fitting and scoring slices."""
    return np.array(
        [
            [
                lw.su_risk_scorer(
                    clone(estimator).set_params(alpha=alpha).fit(X[train], y[train]),
                    X[test],
                    y[test],
                )
                for alpha in ALPHAS
            ]
            for train, test in cv.split(X, y)
        ]
    )


def scores_of(clf: Any, n_splits: int) -> np.ndarray:
    return np.array([clf.cv_results_[f"split{k}_test_score"] for k in range(n_splits)])


@pytest.mark.parametrize("rewrite", list(REWRITES))
@pytest.mark.parametrize("loss", LOSSES)
def test_no_nearby_weights_have_a_lower_regularised_risk(
    drawn: Drawn, loss: str, rewrite: str
) -> None:
    X, y = drawn.pack()
    X = X / X.std(axis=0)
    clf = lw.SUClassifier(loss, prior=0.7, alpha=0.01, rewrite=rewrite).fit(X, y)
    settled = Rewrite.at(clf.su_share_)

    def objective(weights: np.ndarray) -> float:
        decision = X @ weights[:-1] + weights[-1]
        risk = lw.su_risk(y, decision, prior=0.7, loss=loss, rewrite=settled).value
        return float(risk + 0.01 / 2 * weights @ weights)

    best = np.append(clf.coef_, clf.intercept_)
    assert clf.objective_ == pytest.approx(objective(best))
    for step in np.random.default_rng(0).standard_normal((20, best.size)):
        assert objective(best + 1e-3 * step) > clf.objective_


@pytest.mark.parametrize("rewrite", list(REWRITES))
def test_every_rewrite_learns(rewrite: str) -> None:
    rng = np.random.default_rng(4)
    drawn, test = draw_pairs(rng, 1500, 1500, 3000), draw_pairs(rng, 1, 2000, 1)
    clf = lw.SUClassifierCV(prior=0.7, rewrite=rewrite).fit(*drawn.pack())
    assert test.dissimilar is not None
    # Of two rows that differ, the one in class +1 has the larger decision value, nearly always.
    first, second = (clf.decision_function(side) for side in test.dissimilar)
    expected = np.sign((test.dissimilar[0] - test.dissimilar[1]) @ [10.0, -0.5, 0.0])
    assert np.mean(np.sign(first - second) == expected) > 0.9
    share = {"su": 1.0, "du": 0.0, "sd": 0.5}.get(rewrite)
    assert share is None or clf.su_share_ == share


def test_only_pairs_that_differ_are_enough_and_auto_takes_all(drawn: Drawn) -> None:
    X, y = lw.pack(drawn.unlabeled, dissimilar=drawn.dissimilar)
    for estimator in ESTIMATORS:
        auto, named = (estimator(prior=0.7, rewrite=r).fit(X, y) for r in ("auto", "du"))
        np.testing.assert_array_equal(auto.coef_, named.coef_)
        assert auto.su_share_ == 0.0
        auto, named = (estimator(prior=0.7, rewrite=r).fit(*drawn.pack()) for r in ("auto", "sdu"))
        np.testing.assert_array_equal(auto.coef_, named.coef_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pairs_that_are_left_out_change_nothing(drawn: Drawn, estimator: Any) -> None:
    both, similar = (
        estimator(prior=0.7, rewrite="su").fit(X, y)
        for X, y in (drawn.pack(), lw.pack(drawn.unlabeled, similar=drawn.similar))
    )
    np.testing.assert_allclose(both.coef_, similar.coef_, rtol=1e-12)
    assert both.n_passes_ == similar.n_passes_


def test_a_rewrite_of_ones_own_can_be_learned_with(drawn: Drawn) -> None:
    own = Rewrite("own", ("similar", "dissimilar"), lambda prior, spreads: prior)
    clf = clone(lw.SUClassifier(prior=0.7, rewrite=own)).fit(*drawn.pack())
    assert clf.su_share_ == 0.7
    halves = (lw.SUClassifier(prior=0.7, rewrite=r).fit(*drawn.pack()) for r in ("sd", SD))
    np.testing.assert_array_equal(*(clf.coef_ for clf in halves))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_missing_pairs_and_unknown_rewrites_are_named(drawn: Drawn, estimator: Any) -> None:
    X, y = lw.pack(drawn.unlabeled, similar=drawn.similar)
    with pytest.raises(ValueError, match=r"Classifier.* needs at least one dissimilar pair"):
        estimator(prior=0.7, rewrite="sd").fit(X, y)
    with pytest.raises(ValueError, match="'rewrite' parameter"):
        estimator(prior=0.7, rewrite="ud").fit(X, y)
    with pytest.raises(ValueError, match=r"prior=0\.5"):
        estimator(prior=0.5).fit(*drawn.pack())


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("cv", [lw.PairKFold(4), lw.PairKFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_cross_validation_with_both_kinds_equals_refitting_by_hand(
    drawn: Drawn, rng: np.random.Generator, loss: str, cv: Any, shuffled: bool
) -> None:
    X, y = drawn.pack()
    order = rng.permutation(len(y)) if shuffled else slice(None)
    X, y = X[order] / X.std(axis=0), y[order]
    expected = by_hand(lw.SUClassifier(loss, prior=0.7), X, y, cv)
    clf = lw.SUClassifierCV(loss, prior=0.7, alphas=ALPHAS, cv=cv).fit(X, y)
    np.testing.assert_allclose(scores_of(clf, 4), expected, atol=1e-12)
    listed = clone(clf).set_params(cv=list(cv.split(X, y))).fit(X, y)
    np.testing.assert_allclose(scores_of(listed, 4), expected, atol=1e-12)


@pytest.mark.parametrize("table", ["asked", "once"])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_table_is_cross_validated_as_its_slices_are(
    table: str, loss: str, request: pytest.FixtureRequest
) -> None:
    X, y = request.getfixturevalue(table)
    assert sp.issparse(y) == (table == "asked")
    X = X / X.std(axis=0)
    cv = lw.PairKFold(3)
    clf = lw.SUClassifierCV(loss, prior=0.7, alphas=ALPHAS, cv=cv).fit(X, y)
    search = GridSearchCV(
        lw.SUClassifier(loss, prior=0.7), {"alpha": ALPHAS}, cv=cv, scoring=lw.su_risk_scorer
    ).fit(X, y)
    np.testing.assert_allclose(
        clf.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-12
    )
    np.testing.assert_allclose(clf.coef_, search.best_estimator_.coef_, rtol=1e-6, atol=1e-9)
    assert clf.alpha_ == search.best_params_["alpha"]


def test_the_members_of_statements_and_all_rows_are_what_is_averaged() -> None:
    rows, _, alike, _, _ = draw_table(np.random.default_rng(5), 80, 90)
    clf = lw.SUClassifier(prior=0.7).fit(*lw.pack(rows, similar=alike))
    left, right = rows[alike[:, 0]], rows[alike[:, 1]]
    fresh = lw.SUClassifier(prior=0.7).fit(*lw.pack(rows, similar=(left, right)))
    np.testing.assert_allclose(clf.coef_, fresh.coef_, rtol=1e-9)


def test_groups_are_chains_of_pairs(once: tuple[Any, Any]) -> None:
    rows = once[0]
    group, chain = (
        lw.SUClassifierCV(prior=0.7, cv=2).fit(*lw.pack(rows, similar=similar))
        for similar in (
            [(0, 1, 2), (3, 4), (5, 6, 7, 8), (9, 10)],
            [(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (7, 8), (9, 10)],
        )
    )
    np.testing.assert_allclose(group.coef_, chain.coef_, rtol=1e-12)


def test_sparse_rows_and_frames_with_statements_give_the_dense_fit(asked: tuple[Any, Any]) -> None:
    X, y = asked
    dense = lw.SUClassifierCV(prior=0.7, cv=3).fit(X, y)
    for other in (sp.csr_matrix(X), pd.DataFrame(X, columns=["a", "b", "c"])):
        clf = lw.SUClassifierCV(prior=0.7, cv=3).fit(other, y)
        np.testing.assert_allclose(clf.coef_, dense.coef_, rtol=1e-8)
        assert clf.su_share_ == pytest.approx(dense.su_share_)


def test_any_splitter_may_split_statements_about_one_table_but_no_fresh_pairs(
    asked: tuple[Any, Any], drawn: Drawn
) -> None:
    X, y = asked
    clf = lw.SUClassifierCV(prior=0.7, alphas=ALPHAS, cv=KFold(3)).fit(X, y)
    expected = by_hand(lw.SUClassifier(prior=0.7), X, y, KFold(3))
    np.testing.assert_allclose(scores_of(clf, 3), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"split a pair.*PairKFold"):
        lw.SUClassifierCV(prior=0.7, cv=ShuffleSplit(2, random_state=0)).fit(*drawn.pack())


def test_folds_without_pairs_of_a_kind_are_named(once: tuple[Any, Any], drawn: Drawn) -> None:
    rows = once[0]
    X, y = lw.pack(rows, similar=[(0, 1), (2, 3), (4, 5)], dissimilar=[(6, 7)])
    with pytest.raises(ValueError, match=r"A fold needs at least one dissimilar pair.*rewrite="):
        lw.SUClassifierCV(prior=0.7, cv=3).fit(X, y)
    assert lw.SUClassifierCV(prior=0.7, cv=3, rewrite="su").fit(X, y).su_share_ == 1.0
    few = lw.pack(drawn.unlabeled, drawn.similar, tuple(s[:3] for s in drawn.dissimilar or ()))
    with pytest.raises(ValueError, match="at least 5 dissimilar pairs, but there are only 3"):
        lw.SUClassifierCV(prior=0.7).fit(*few)
    halves = [(np.arange(150), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    with pytest.raises(ValueError, match="A validation split needs at least one similar pair"):
        lw.SUClassifierCV(prior=0.7, cv=halves).fit(X, y)


def test_all_pairs_beat_similar_pairs_alone() -> None:
    rng = np.random.default_rng(6)
    reached = {"su": [], "sdu": []}  # type: dict[str, list[float]]
    for _ in range(20):
        rows, classes, alike, different, _ = draw_table(rng, 400, 300)
        X, y = lw.pack(rows / rows.std(axis=0), similar=alike, dissimilar=different)
        for rewrite, found in reached.items():
            clf = lw.SUClassifier(prior=0.7, alpha=1e-2, rewrite=rewrite).fit(X, y)
            found.append(clf.score(X, classes))
    assert np.mean(reached["sdu"]) > np.mean(reached["su"]) + 0.01
