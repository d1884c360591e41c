"""SUClassifier and SUClassifierCV."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import base
from likewise.su.losses import MarginLoss

SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
LOSSES = ["squared", "logistic", "double_hinge"]
Draw = Callable[..., SUSample]


def papers_closed_form(
    similar: np.ndarray, unlabeled: np.ndarray, prior: float, alpha: float
) -> np.ndarray:
    """The analytic solution of the paper's Section 2.5, with a constant feature for the bias."""
    X_s, X_u = (np.column_stack([X, np.ones(len(X))]) for X in (similar, unlabeled))
    n_s, n_u = len(X_s) // 2, len(X_u)
    pi_s = prior**2 + (1 - prior) ** 2
    right = pi_s / n_s * X_s.sum(axis=0) - X_u.sum(axis=0) / n_u
    matrix = X_u.T @ X_u + 2 * alpha * n_u * np.eye(X_u.shape[1])
    return np.asarray(n_u / (2 * prior - 1) * np.linalg.solve(matrix, right))


@pytest.mark.parametrize("prior", [0.2, 0.7])
@pytest.mark.parametrize("alpha", [1e-1, 1e-4, 1e-7])
def test_squared_loss_gives_the_papers_closed_form(
    draw_waveform: Draw, prior: float, alpha: float
) -> None:
    sample = draw_waveform()
    clf = lw.SUClassifier("squared", prior=prior, alpha=alpha).fit(*sample.pack())
    expected = papers_closed_form(np.vstack(sample.similar), sample.unlabeled, prior, alpha)
    np.testing.assert_allclose(np.append(clf.coef_, clf.intercept_), expected, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularize", [True, False])
def test_no_nearby_weights_have_a_lower_regularised_su_risk(
    draw_waveform: Draw, rng: np.random.Generator, loss: str, regularize: bool
) -> None:
    X, y = draw_waveform().pack()
    clf = lw.SUClassifier(loss, prior=0.7, alpha=0.01, regularize_intercept=regularize).fit(X, y)
    best = np.append(clf.coef_, clf.intercept_)

    def objective(weights: np.ndarray) -> float:
        decision = X @ weights[:-1] + weights[-1]
        penalised = weights if regularize else weights[:-1]
        risk = lw.su_risk(y, decision, prior=0.7, loss=loss).value
        return float(risk + 0.01 / 2 * penalised @ penalised)

    assert clf.objective_ == pytest.approx(objective(best))
    for step in rng.standard_normal((20, best.size)):
        assert objective(best + 1e-3 * step) > clf.objective_
    assert clf.duality_gap_ <= 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [0.1, 0.3, 0.7, 0.9])
def test_with_many_pairs_it_comes_near_the_labeled_fit(
    draw_waveform: Draw, loss: str, prior: float
) -> None:
    sample = draw_waveform(2000, 2000, prior, 3)
    clf = lw.SUClassifierCV(loss, prior=prior).fit(*sample.pack())
    labeled = LogisticRegression(max_iter=2000).fit(sample.unlabeled, sample.y_unlabeled)
    reached = clf.score(sample.X_test, sample.y_test)
    assert reached > labeled.score(sample.X_test, sample.y_test) - 0.07


@pytest.mark.parametrize("loss", LOSSES)
def test_the_prior_says_which_class_is_positive(draw_waveform: Draw, loss: str) -> None:
    sample = draw_waveform(1000, 1000)
    X, y = sample.pack()
    clf, mirrored = (lw.SUClassifier(loss, prior=p, alpha=0.1).fit(X, y) for p in (0.7, 0.3))
    np.testing.assert_allclose(clf.coef_, -mirrored.coef_, rtol=1e-5, atol=1e-8)
    assert clf.score(sample.X_test, sample.y_test) > 0.75


@pytest.mark.parametrize("regularize", [True, False])
@pytest.mark.parametrize("shuffled", [False, True])
def test_fast_cross_validation_equals_refitting_by_hand(
    draw_waveform: Draw, rng: np.random.Generator, regularize: bool, shuffled: bool
) -> None:
    X, y = draw_waveform(103, 98).pack()
    if shuffled:
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
    alphas = [1.0, 1e-1, 1e-4, 1e-7]
    cv = lw.PairKFold(5)
    clf = lw.SUClassifierCV(prior=0.7, alphas=alphas, regularize_intercept=regularize).fit(X, y)
    by_hand = np.array(
        [
            [
                -lw.su_risk(
                    y[test],
                    lw.SUClassifier(prior=0.7, alpha=alpha, regularize_intercept=regularize)
                    .fit(X[train], y[train])
                    .decision_function(X[test]),
                    prior=0.7,
                ).value
                for alpha in alphas
            ]
            for train, test in cv.split(X, y)
        ]
    )
    found = np.array([clf.cv_results_[f"split{k}_test_score"] for k in range(5)])
    np.testing.assert_allclose(found, by_hand, atol=1e-12)
    np.testing.assert_allclose(clf.cv_results_["mean_test_score"], by_hand.mean(axis=0))
    best = int(np.argmax(by_hand.mean(axis=0)))
    assert clf.alpha_ == alphas[best]
    assert clf.best_score_ == clf.cv_results_["mean_test_score"].max()
    assert clf.cv_results_["rank_test_score"][best] == 1
    refit = lw.SUClassifier(prior=0.7, alpha=clf.alpha_, regularize_intercept=regularize)
    np.testing.assert_allclose(clf.coef_, refit.fit(X, y).coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "double_hinge"])
def test_cross_validation_chooses_what_grid_search_chooses(draw_waveform: Draw, loss: str) -> None:
    X, y = draw_waveform(150, 150).pack()
    alphas = [1e-1, 1e-3]
    cv = lw.PairKFold(3)
    clf = lw.SUClassifierCV(loss, prior=0.7, alphas=alphas, cv=cv).fit(X, y)
    search = GridSearchCV(
        lw.SUClassifier(loss, prior=0.7), {"alpha": alphas}, cv=cv, scoring=lw.su_risk_scorer
    ).fit(X, y)
    np.testing.assert_allclose(
        clf.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )
    assert clf.alpha_ == search.best_params_["alpha"]
    np.testing.assert_allclose(clf.coef_, search.best_estimator_.coef_)


def test_any_splitter_that_keeps_pairs_together_is_accepted(draw_waveform: Draw) -> None:
    X, y = draw_waveform(60, 60).pack()
    folds = lw.PairKFold(4).assign(y)
    clf, predefined, listed = (
        lw.SUClassifierCV(prior=0.7, cv=cv).fit(X, y)
        for cv in (4, PredefinedSplit(folds), list(lw.PairKFold(4).split(X, y)))
    )
    for other in (predefined, listed):
        np.testing.assert_allclose(
            clf.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )
        np.testing.assert_allclose(clf.coef_, other.coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="PairKFold"):
        lw.SUClassifierCV(prior=0.7, cv=ShuffleSplit(2, random_state=0)).fit(X, y)


def test_a_researchers_pipeline_with_a_grid_search_runs(draw_waveform: Draw) -> None:
    sample = draw_waveform(400, 400)
    X, y = sample.pack()
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(),
            Nystroem(gamma=0.02, n_components=60, random_state=0),
            lw.SUClassifier(prior=0.7),
        ),
        {"suclassifier__loss": ["squared", "logistic"], "suclassifier__alpha": [1e-1, 1e-3]},
        cv=lw.PairKFold(3),
        scoring=lw.su_risk_scorer,
    ).fit(X, y)
    assert search.score(X, y) == lw.su_risk_scorer(search, X, y)
    assert search.best_estimator_.score(sample.X_test, sample.y_test) > 0.75


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, np.asfortranarray])
def test_sparse_and_column_major_rows_give_the_dense_fit(
    draw_waveform: Draw, loss: str, container: Callable[[np.ndarray], Any]
) -> None:
    X, y = draw_waveform(60, 80).pack()
    X = X * (np.abs(X) > 1)
    dense = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(X, y)
    other = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(container(X), y)
    np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        other.decision_function(container(X)), dense.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_lend_their_column_names(draw_waveform: Draw, frame: Any) -> None:
    if frame is pl.DataFrame and not hasattr(frame, "__dataframe__") and SKLEARN < (1, 9):
        pytest.skip("scikit-learn 1.8 reads names through a protocol that polars gave up")
    sample = draw_waveform(50, 60)
    names = [f"t{k}" for k in range(21)]
    table = {name: sample.unlabeled[:, k] for k, name in enumerate(names)}
    X, y = lw.pack(frame(table), similar=[(2 * i, 2 * i + 1) for i in range(20)])
    clf = lw.SUClassifierCV(prior=0.7).fit(X, y)
    np.testing.assert_array_equal(clf.feature_names_in_, names)
    assert clf.predict(X).shape == (len(y),)
    reordered = frame({name: table[name] for name in reversed(names)})
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(reordered)


@pytest.mark.parametrize("loss", LOSSES)
def test_row_order_and_block_size_do_not_matter(
    draw_waveform: Draw, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    X, y = draw_waveform(60, 80).pack()
    whole = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(X, y)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 200)
    order = rng.permutation(len(y))
    blocks = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(X[order], y[order])
    np.testing.assert_allclose(blocks.coef_, whole.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_rows_give_nearly_the_float64_fit(draw_waveform: Draw, loss: str) -> None:
    X, y = draw_waveform(100, 120).pack()
    double = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(X, y)
    single = lw.SUClassifier(loss, prior=0.7, alpha=0.01).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_columns_and_a_single_pair_work(loss: str) -> None:
    rng = np.random.default_rng(0)
    U = np.column_stack([rng.standard_normal(40), np.full(40, 7.0), np.zeros(40)])
    X, y = lw.pack(U, similar=[(0, 1)])
    clf = lw.SUClassifier(loss, prior=0.8, alpha=0.1).fit(X, y)
    assert np.isfinite(clf.coef_).all()
    assert clf.coef_[0, 2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_rows_and_pairs_of_both_kinds_give_numbers(loss: str) -> None:
    X, y = lw.pack(np.full((10, 2), 1.5), similar=[(0, 1), (2, 3)], dissimilar=[(4, 5), (6, 7)])
    clf = lw.SUClassifier(loss, prior=0.7, alpha=0.1).fit(X, y)
    assert np.isfinite([*clf.coef_[0], *clf.decision_function(X), clf.su_share_]).all()


def test_a_loss_of_ones_own_can_be_learned_with(draw_waveform: Draw) -> None:
    smooth = MarginLoss(
        name="pseudo_huber",
        psi=lambda m: (np.sqrt(m**2 + 1) - m) / 2,
        psi_derivative=lambda m: (m / np.sqrt(m**2 + 1) - 1) / 2,
        psi_curvature=lambda m: (m**2 + 1) ** -1.5 / 2,
    )
    sample = draw_waveform(1000, 1000)
    clf = clone(lw.SUClassifier(smooth, prior=0.7, alpha=0.01)).fit(*sample.pack())
    assert clf.score(sample.X_test, sample.y_test) > 0.8


@pytest.mark.parametrize("loss", ["logistic", "double_hinge"])
def test_stopping_early_warns_with_what_to_change(draw_waveform: Draw, loss: str) -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter, alpha or tol, or scale"):
        lw.SUClassifier(loss, prior=0.7, max_iter=2).fit(*draw_waveform().pack())


@pytest.mark.parametrize("estimator", [lw.SUClassifier, lw.SUClassifierCV])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": 0.5}, r"prior=0\.5"),
        ({"prior": 0.0}, "'prior' parameter"),
        ({"prior": 1.0}, "'prior' parameter"),
        ({"prior": -0.1}, "'prior' parameter"),
        ({"prior": "big"}, "'prior' parameter"),
        ({"prior": 0.7, "loss": "hinge"}, "'loss' parameter"),
        ({"prior": 0.7, "loss": "zero_one"}, "'loss' parameter"),
        ({"prior": 0.7, "tol": 0.0}, "'tol' parameter"),
        ({"prior": 0.7, "max_iter": 0}, "'max_iter' parameter"),
    ],
)
def test_bad_parameters_are_named(
    draw_waveform: Draw, estimator: Any, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(*draw_waveform(20, 20).pack())


@pytest.mark.parametrize("alphas", [[], [0.0], [-1.0], [np.nan], [np.inf, 1.0]])
def test_bad_alphas_are_named(draw_waveform: Draw, alphas: list[float]) -> None:
    with pytest.raises(ValueError, match="alphas must be positive"):
        lw.SUClassifierCV(prior=0.7, alphas=alphas).fit(*draw_waveform(20, 20).pack())
    with pytest.raises(ValueError, match="'alpha' parameter"):
        lw.SUClassifier(prior=0.7, alpha=-1.0).fit(*draw_waveform(20, 20).pack())


@pytest.mark.parametrize("estimator", [lw.SUClassifier, lw.SUClassifierCV])
class TestBadRows:
    """What only weak labels can get wrong, in both estimators."""

    @pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
    @pytest.mark.parametrize("kind", ["unlabeled", "left", "right"])
    @pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
    def test_values_that_are_not_finite_are_located(
        self,
        draw_waveform: Draw,
        estimator: Any,
        value: float,
        name: str,
        kind: str,
        container: Any,
    ) -> None:
        X, y = draw_waveform(20, 30).pack()
        row = {"unlabeled": 3, "left": 31, "right": 60}[kind]
        X[row, 5] = value
        with pytest.raises(ValueError, match=f"contains {name}.*row {row}, column 5"):
            estimator(prior=0.7).fit(container(X), y)

    def test_values_too_large_to_sum_are_told_apart(
        self, draw_waveform: Draw, estimator: Any
    ) -> None:
        X, y = draw_waveform(20, 30).pack()
        X[:30, 0] = 1e308
        with pytest.raises(ValueError, match="too large"):
            estimator(prior=0.7).fit(X, y)

    def test_a_split_pair_is_answered_with_pairkfold(
        self, draw_waveform: Draw, estimator: Any
    ) -> None:
        X, y = draw_waveform(20, 30).pack()
        with pytest.raises(ValueError, match=r"Pair 20 is split.*PairKFold"):
            estimator(prior=0.7).fit(X[:-1], y[:-1])

    def test_missing_pairs_are_named(self, estimator: Any) -> None:
        with pytest.raises(ValueError, match="at least one pair"):
            estimator(prior=0.7).fit(np.eye(4), np.zeros(4, dtype=int))

    def test_class_labels_and_lengths_are_noticed(self, estimator: Any) -> None:
        with pytest.raises(ValueError, match="looks like class labels"):
            estimator(prior=0.7).fit(np.eye(6), np.array([1, -1, 0, -1, 1, 1]))
        with pytest.raises(ValueError, match="X has 6 rows but y has shape"):
            estimator(prior=0.7).fit(np.eye(6), np.array([1, 1]))


def test_fitting_leaves_input_untouched_and_repeats_exactly(draw_waveform: Draw) -> None:
    X, y = draw_waveform(80, 80).pack()
    X_before, y_before = X.copy(), y.copy()
    first = lw.SUClassifierCV(prior=0.7).fit(X, y)
    again = clone(first).fit(X, y)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(first.coef_, again.coef_)


def test_the_html_repr_names_the_estimator() -> None:
    assert "SUClassifierCV" in lw.SUClassifierCV(prior=0.7)._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_all_twelve_datasets_can_be_learned_without_a_warning(real_data: object, loss: str) -> None:
    for name in ("adult", "banana", "cod-rna", "higgs", "ijcnn1", "magic", "phishing", "phoneme"):
        X, y = lw.datasets.load(name, return_X_y=True)
        sample = lw.datasets.sample_su(X, y, 500, 500, n_test=100, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = make_pipeline(StandardScaler(), lw.SUClassifierCV(loss, prior=0.7))
            clf.fit(*sample.pack())
        assert clf.score(sample.X_test, sample.y_test) > 0.4


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e7])
@pytest.mark.parametrize("estimator", [lw.SUClassifier, lw.SUClassifierCV])
def test_columns_of_any_scale_are_solved_to_the_gap(
    draw_waveform: Draw, estimator: Any, scale: float
) -> None:
    sample = draw_waveform(200, 200)
    X, y = sample.pack()
    clf = estimator(prior=0.7, **({"alphas": [1e-4]} if estimator is lw.SUClassifierCV else {}))
    clf.fit(X * scale, y)  # a warning would be an error here
    assert clf.duality_gap_ <= 1e-9
    design = np.column_stack([sample.unlabeled * scale, np.ones(200)])
    pi_s = 0.58
    similar = np.column_stack([np.vstack(sample.similar) * scale, np.ones(400)]).mean(axis=0)
    linear = (pi_s * similar - design.mean(axis=0) / 2) / 0.4
    weights = np.append(clf.coef_, clf.intercept_)
    gradient = design.T @ (design @ weights) / 200 / 2 - linear + 1e-4 * weights
    size = np.abs(design).max(axis=0)
    np.testing.assert_allclose(gradient / size, 0, atol=1e-8)


def test_a_fit_that_rounding_spoils_is_refused(draw_waveform: Draw) -> None:
    X, y = draw_waveform(200, 200).pack()
    with pytest.raises(ValueError, match=r"column \d+ of X are around 1e\+09.*scale the features"):
        lw.SUClassifier(prior=0.7, regularize_intercept=False).fit(X + 1e9, y)


def test_scoring_on_weak_labels_is_refused(draw_waveform: Draw) -> None:
    sample = draw_waveform(50, 50)
    X, y = sample.pack()
    clf = lw.SUClassifier(prior=0.7).fit(X, y)
    with pytest.raises(ValueError, match="su_risk_scorer"):
        clf.score(X, y)
    assert 0 <= clf.score(sample.X_test, sample.y_test) <= 1


def test_no_cv_means_five_folds_and_no_splits_are_refused(draw_waveform: Draw) -> None:
    X, y = draw_waveform(50, 50).pack()
    default, five = (lw.SUClassifierCV(prior=0.7, cv=cv).fit(X, y) for cv in (None, 5))
    np.testing.assert_array_equal(default.coef_, five.coef_)
    with pytest.raises(ValueError, match="no splits"):
        lw.SUClassifierCV(prior=0.7, cv=[]).fit(X, y)
