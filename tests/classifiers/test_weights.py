"""`sample_weight`: weighted risks and likelihoods, and populations that were sampled unevenly."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.engines import PairSource
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here
from tests.classifiers.quick import draw_table, quick

PRIOR = 0.75
LOSSES = ["squared", "logistic", "double_hinge"]


def draw(seed: int = 0, n_pairs: int = 40, n_rows: int = 60, d: int = 3) -> tuple[Any, Any, Any]:
    """Draw fresh pairs of both kinds, unlabeled rows, and integer weights, zero of some."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows + 2 * n_pairs, d)) + 0.5
    codes = np.arange(1, n_pairs + 1) * np.where(np.arange(n_pairs) % 4 == 3, -1, 1)
    y = np.concatenate([np.zeros(n_rows, dtype=int), codes, codes])
    of_pairs = rng.integers(0, 4, n_pairs)
    weights = np.concatenate([rng.integers(0, 4, n_rows), of_pairs, of_pairs]).astype(float)
    return X, y, weights


def repeat(X: Any, y: Any, weights: Any) -> tuple[Any, Any]:
    """Let rows and pairs stand as often as they weigh."""
    times = weights.astype(int)
    rows = np.repeat(np.arange(y.size), times)
    copy = np.concatenate([np.arange(t) for t in times])
    return X[rows], y[rows] + np.sign(y[rows]) * 1000 * copy


# --- the paper's classifiers --------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rewrite", ["su", "du", "sd"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_integer_weights_are_repetitions(loss: str, rewrite: str, container: Any) -> None:
    X, y, weights = draw()
    clf = lw.SUClassifier(loss, prior=PRIOR, alpha=0.1, rewrite=rewrite)
    found = clf.fit(container(X), y, sample_weight=weights)
    coef, intercept, value = found.coef_, found.intercept_, found.objective_
    again, labels = repeat(X, y, weights)
    expected = clf.fit(container(again), labels)
    np.testing.assert_allclose(coef, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(intercept, expected.intercept_, atol=1e-5)
    assert value == pytest.approx(expected.objective_, abs=1e-8)


def test_the_weighted_risk_is_minimised() -> None:
    X, y, weights = draw()
    similar, alone = y > 0, y == 0
    Z = np.column_stack([X, np.ones(y.size)])
    mean_s, mean_u = (np.average(Z[a], axis=0, weights=weights[a]) for a in (similar, alone))
    share = PRIOR**2 + (1 - PRIOR) ** 2
    linear = (share * mean_s - mean_u / 2) / (2 * PRIOR - 1)

    def risk(w: Any) -> float:
        even = np.logaddexp(0.0, Z[alone] @ w) - Z[alone] @ w / 2
        return float(np.average(even, weights=weights[alone]) - linear @ w + 0.05 * w @ w)

    best = minimize(risk, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    clf = lw.SUClassifier("logistic", prior=PRIOR, alpha=0.1, rewrite="su")
    clf.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose([*clf.coef_[0], *clf.intercept_], best, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_tables_take_weights_too(loss: str) -> None:
    X, y, weights = draw(d=90)
    clf = lw.SUClassifier(loss, prior=PRIOR, alpha=0.1, rewrite="su")
    coef = clf.fit(X, y, sample_weight=weights).coef_
    expected = clf.fit(*repeat(X, y, weights)).coef_
    np.testing.assert_allclose(coef, expected, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_no_weight_are_left_out_and_scale_does_not_matter(loss: str) -> None:
    X, y, weights = draw()
    kept = weights > 0
    clf = lw.SUClassifierCV(loss, prior=PRIOR, cv=3)
    found = clf.fit(X, y, sample_weight=weights)
    coef, scores = found.coef_, found.cv_results_["mean_test_score"]
    for other in (
        clf.fit(X[kept], y[kept], sample_weight=weights[kept]),
        clf.fit(X, y, sample_weight=1e-3 * weights),
    ):
        np.testing.assert_allclose(other.coef_, coef, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(other.cv_results_["mean_test_score"], scores)


@pytest.mark.parametrize("cv", [3, lw.PairKFold(3, shuffle=True, random_state=0)])
def test_held_out_risks_are_weighted(cv: Any) -> None:
    X, y, weights = draw(n_pairs=80, n_rows=90)
    weights += 1.0
    clf = lw.SUClassifierCV(prior=PRIOR, cv=cv, rewrite="su", alphas=[0.1])
    clf.fit(X, y, sample_weight=weights)
    splitter = lw.PairKFold(3) if isinstance(cv, int) else cv
    for k, (train, test) in enumerate(splitter.split(X, y)):
        one = lw.SUClassifier(prior=PRIOR, alpha=0.1, rewrite="su")
        one.fit(X[train], y[train], sample_weight=weights[train])
        again, labels = repeat(X[test], y[test], weights[test])
        decision = one.decision_function(again)
        expected = lw.su_risk(labels, decision, prior=PRIOR, rewrite="su").value
        assert clf.cv_results_[f"split{k}_test_score"][0] == pytest.approx(-expected)


def test_pairs_of_one_table_weigh_the_product_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((50, 3)), rng.integers(1, 4, 50).astype(float)
    pairs = rng.permutation(50).reshape(-1, 2)
    clf = lw.SUClassifier(prior=PRIOR, alpha=0.1)
    coef = clf.fit(*lw.pack(X, similar=pairs), sample_weight=weights).coef_
    both = np.prod(weights[pairs], axis=1)
    fresh = lw.pack(X, similar=(X[pairs[:, 0]], X[pairs[:, 1]]))
    expected = clf.fit(*fresh, sample_weight=np.concatenate([weights, both, both])).coef_
    np.testing.assert_allclose(coef, expected, atol=1e-10)


# --- the pair likelihood --------------------------------------------------------------------------


def survey(seed: int, n: int = 1500) -> tuple[Any, Any, Any]:
    """Draw a population of prior 0.8, of which rows with a large first column answer seldom."""
    X, y = lw.datasets.make_gaussians(20_000, separation=3, random_state=0)
    sample = lw.datasets.sample_su(X, y, n, n, prior=0.8, random_state=seed)
    table, labels = sample.pack()
    rng = np.random.default_rng(seed)
    answers = np.where(table[:, 0] > 0, 0.25, 1.0)
    inclusion = answers.copy()
    for code in range(1, n + 1):  # a pair is in the sample if both of its members answer
        inclusion[labels == code] = np.prod(answers[labels == code])
    drawn = rng.random(labels.max() + 1)
    lot = np.where(labels > 0, drawn[labels], rng.random(labels.size))
    kept = lot < inclusion
    return table[kept], labels[kept], 1.0 / inclusion[kept]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pair_likelihood", "pair_moments"])
def test_weights_undo_unequal_inclusion(method: str) -> None:
    found, plain = [], []
    for seed in range(4):
        X, y, weights = survey(seed)
        estimate = lw.estimate_prior(
            X, y, method=method, random_state=0, sample_weight=weights, level=0.99
        )
        assert estimate.interval[0] < 0.8 < estimate.interval[1]
        found.append(estimate.value)
        plain.append(lw.estimate_prior(X, y, method=method, random_state=0).value)
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - 0.8) < 3 * error + 0.02
    assert np.mean(plain) < 0.65


def test_a_classifier_of_weighted_pairs_tells_the_prior_of_the_population() -> None:
    X, y, weights = survey(0)
    clf = quick(pairing="random").fit(X, y, sample_weight=weights)
    assert clf.prior_interval_[0] < 0.8 < clf.prior_interval_[1]
    assert clf.prior_ == pytest.approx(0.8, abs=0.05)
    plain = quick(pairing="random").fit(X, y)
    assert plain.prior_ < 0.65
    wider = np.diff(clf.prior_interval_) / np.diff(plain.prior_interval_)
    assert wider > 1.0  # fewer rows tell of the population than there are


def test_weights_of_no_scale_matter_and_none_leave_rows_out() -> None:
    X, y, weights = survey(1, 400)
    out = np.flatnonzero(y == 0)[:30]
    weights[out] = 0.0
    weights[np.isin(y, [k for k in (3, 5, 8) if k in y])] = 0.0
    kept = weights > 0
    clf = quick(pairing="random").fit(X, y, sample_weight=weights)
    for rows, w in ((slice(None), 1e6 * weights), (kept, weights[kept])):
        other = quick(pairing="random").fit(X[rows], y[rows], sample_weight=w)
        np.testing.assert_allclose(other.weights_, clf.weights_, rtol=1e-9)
        assert other.prior_ == pytest.approx(clf.prior_)
    assert clf.labels_.shape == y.shape
    np.testing.assert_allclose(clf.row_proba_[kept], other.row_proba_)
    np.testing.assert_array_equal(clf.labels_[out], clf.predict(X[out]))


def test_equal_weights_change_nothing() -> None:
    X, y, _ = survey(2, 300)
    plain, other = (quick().fit(X, y, sample_weight=w) for w in (None, np.full(y.size, 3.0)))
    np.testing.assert_array_equal(plain.weights_, other.weights_)
    assert plain.prior_interval_ == other.prior_interval_


@pytest.mark.parametrize("error_rate", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_weights_of_a_table_change_the_prior_alone(error_rate: float) -> None:
    sample = draw_table(600, 500, error_rate=error_rate)
    X, y = sample.pack()
    weights = np.where(X[:, 0] > 0, 4.0, 1.0)
    share = np.average(sample.y_table == 1, weights=weights)
    settings: dict[str, Any] = {"alphas": [0.03], "error_rate": error_rate}
    clf = quick(**settings).fit(X, y, sample_weight=weights)
    plain = quick(**settings).fit(X, y)
    np.testing.assert_allclose(clf.weights_, plain.weights_, rtol=0.02, atol=0.02)
    assert clf.prior_interval_[0] < share < clf.prior_interval_[1]
    assert clf.prior_ > plain.prior_ + 0.05
    of_zero = np.where(X[:, 0] > 0, 1.0, 0.0)
    assert quick(**settings).fit(X, y, sample_weight=of_zero).prior_ > 0.9


def test_three_classes_of_a_table_have_weighted_shares(rng: np.random.Generator) -> None:
    classes = rng.choice(3, 900, p=[0.2, 0.3, 0.5])
    X = 4.0 * np.eye(3)[classes] + rng.standard_normal((900, 3))
    pairs = rng.permutation(900).reshape(-1, 2)
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    table, y = lw.pack(X, similar=pairs[same], dissimilar=pairs[~same])
    weights = np.where(classes == 0, 5.0, 1.0)
    clf = quick(n_classes=3, alphas=[0.03], cv=3).fit(table, y, sample_weight=weights)
    expected = np.sort(np.bincount(classes, weights) / weights.sum())[::-1]
    np.testing.assert_allclose(clf.prior_, expected, atol=0.03)


def test_a_report_tells_rates_of_the_population() -> None:
    sample = draw_table(700, 900)
    X, y = sample.pack()
    weights = np.where(sample.y_table == 1, 1.0, 6.0)
    clf = quick(alphas=[0.03]).fit(X, y)
    report = lw.label_free_report(clf, X, y, random_state=0, sample_weight=weights)
    share = np.average(sample.y_table == 1, weights=weights)
    assert report.prior.interval[0] < share < report.prior.interval[1]
    is_right = clf.predict(sample.X_test) == sample.y_test
    right = np.average(is_right, weights=np.where(sample.y_test == 1, 1.0, 6.0))
    assert report.accuracy.interval[0] < right < report.accuracy.interval[1]
    assert report.accuracy.value < np.mean(is_right)  # the smaller class is the harder one


@pytest.mark.slow
@pytest.mark.parametrize("of", ["pair", "su"])
def test_a_report_on_fresh_pairs_takes_weights(of: str) -> None:
    X, y, weights = survey(3, 500)
    weights[np.flatnonzero(y == 0)[:5]] = 0.0
    inner = quick(pairing="random") if of == "pair" else lw.SUClassifier(prior=0.8)
    clf = make_pipeline(StandardScaler(), inner)
    clf.fit(X, y, **{f"{clf.steps[-1][0]}__sample_weight": weights})
    report = lw.label_free_report(clf, X, y, random_state=0, sample_weight=weights)
    assert report.prior.interval[0] < 0.8 < report.prior.interval[1]
    plain = lw.label_free_report(clf, X, y, random_state=0)
    assert plain.prior.interval[1] < 0.8


# --- who takes weights, and who does not ----------------------------------------------------------


def test_searches_slice_weights_with_the_rows() -> None:
    X, y, weights = draw()
    with sklearn.config_context(enable_metadata_routing=True):
        clf = lw.SUClassifier(prior=PRIOR).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf),
            {"suclassifier__alpha": [0.1, 1.0]},
            cv=lw.PairKFold(2),
            scoring=lw.su_risk_scorer,
        ).fit(X, y, sample_weight=weights)
    alpha = search.best_params_["suclassifier__alpha"]
    scaled = StandardScaler().fit_transform(X)
    expected = lw.SUClassifier(prior=PRIOR, alpha=alpha).fit(scaled, y, sample_weight=weights)
    np.testing.assert_allclose(search.best_estimator_[-1].coef_, expected.coef_)


@pytest.mark.parametrize(
    "estimator",
    [lw.SUClassifier(prior=PRIOR), lw.PairClassifier(), lw.PairLikelihoodPrior()],
)
def test_rows_elsewhere_take_no_weights(estimator: Any) -> None:
    X, y, weights = draw()
    source = PairSource(unlabeled=X[y == 0], similar=(X[:5], X[5:10]))
    with pytest.raises(ValueError, match="sample_weight is for tables in memory"):
        estimator.fit(source, sample_weight=weights)


def test_the_papers_prior_estimators_take_no_weights() -> None:
    X, y, weights = draw()
    with pytest.raises(ValueError, match="leave it out with method='km1'"):
        lw.estimate_prior(X, y, method="km1", sample_weight=weights)
    with pytest.raises(ValueError, match=r"KernelMeanPrior takes no sample_weight; pass prior="):
        lw.SUClassifier(prior=lw.KernelMeanPrior()).fit(X, y, sample_weight=weights)
