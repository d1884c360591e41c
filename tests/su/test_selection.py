"""Pair-preserving folds, the SU risk as a score, and cross-validation by sums."""

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import likewise as lw
from likewise.datasets import SUSample
from likewise.statements.labels import locate


@pytest.fixture
def y(rng: np.random.Generator) -> np.ndarray:
    codes = np.concatenate([np.arange(1, 14), -np.arange(1, 8)])
    return rng.permutation(np.concatenate([codes, codes, np.zeros(17, dtype=int)]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_row_is_tested_once_and_no_pair_is_torn(y: np.ndarray, shuffle: bool) -> None:
    tested = np.zeros(len(y), dtype=int)
    for train, test in lw.PairKFold(5, shuffle=shuffle, random_state=0).split(y[:, None], y):
        tested[test] += 1
        locate(y[train])
        locate(y[test])
        assert np.intersect1d(train, test).size == 0
    np.testing.assert_array_equal(tested, 1)


def test_each_kind_is_spread_evenly_over_the_folds(y: np.ndarray) -> None:
    folds = lw.PairKFold(4).assign(y)
    for kind in (y == 0, y > 0, y < 0):
        sizes = np.bincount(folds[kind], minlength=4)
        assert sizes.max() - sizes.min() <= 2  # a pair is two rows


def test_rows_sorted_by_class_are_spread_over_all_folds() -> None:
    y = np.zeros(100, dtype=int)
    assert all(np.ptp(np.flatnonzero(lw.PairKFold(5).assign(y) == k)) == 95 for k in range(5))


def test_shuffling_repeats_with_the_seed_and_differs_without_it(y: np.ndarray) -> None:
    first, again, other = (
        lw.PairKFold(3, shuffle=True, random_state=seed).assign(y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("n_splits", [0, 1, 2.5, -3])
def test_too_few_folds_are_refused(n_splits: int) -> None:
    with pytest.raises(ValueError, match="n_splits must be a whole number"):
        lw.PairKFold(n_splits)


def test_more_folds_than_pairs_are_refused_with_the_count() -> None:
    y = np.array([1, 1, 2, 2] + [0] * 9)
    with pytest.raises(ValueError, match="at least 3 similar pairs, but there are only 2"):
        lw.PairKFold(3).assign(y)
    with pytest.raises(ValueError, match="needs the weak labels y"):
        next(lw.PairKFold(2).split(y[:, None]))


def test_su_risk_of_weak_labels_is_close_to_the_true_error(
    draw_waveform: Callable[..., SUSample],
) -> None:
    train, fresh = (draw_waveform(2000, 2000, 0.7, seed) for seed in (1, 2))
    clf = LogisticRegression().fit(train.unlabeled, train.y_unlabeled)
    X, y = fresh.pack()
    estimate = lw.su_risk(y, clf.decision_function(X), prior=0.7)
    error = 1 - clf.score(fresh.X_test, fresh.y_test)
    assert abs(estimate.value - error) < 3 * estimate.standard_error + 0.02
    assert estimate.standard_error < 0.1


@pytest.mark.parametrize(
    ("y", "message"),
    [([0, 0], "at least one similar pair"), ([1, 1], "at least one unlabeled row")],
)
def test_su_risk_needs_both_kinds_of_rows(y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lw.su_risk(y, [1.0, 1.0], prior=0.7)


def test_su_risk_compares_lengths() -> None:
    with pytest.raises(ValueError, match="decision has 1 values but y has 3"):
        lw.su_risk([1, 1, 0], [1.0], prior=0.7)


def test_the_scorer_is_minus_the_risk_and_finds_the_prior_in_a_pipeline(
    draw_waveform: Callable[..., SUSample],
) -> None:
    X, y = draw_waveform().pack()
    clf = make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7)).fit(X, y)
    expected = -lw.su_risk(y, clf.decision_function(X), prior=0.7).value
    assert lw.su_risk_scorer(clf, X, y) == expected
    search = GridSearchCV(
        clf, {"suclassifier__alpha": [1.0]}, cv=lw.PairKFold(2), scoring=lw.su_risk_scorer
    ).fit(X, y)
    assert isinstance(lw.su_risk_scorer(search, X, y), float)


def test_the_scorer_takes_a_prior_for_classifiers_that_have_none(
    draw_waveform: Callable[..., SUSample],
) -> None:
    sample = draw_waveform()
    X, y = sample.pack()
    clf = LinearSVC().fit(sample.X_test, sample.y_test)
    with pytest.raises(ValueError, match="LinearSVC has no prior_"):
        lw.su_risk_scorer(clf, X, y)
    assert partial(lw.su_risk_scorer, prior=0.7)(clf, X, y) > -0.5


def test_scores_work_in_scikit_learns_cross_validation(
    draw_waveform: Callable[..., SUSample],
) -> None:
    X, y = draw_waveform().pack()
    scores = cross_val_score(
        lw.SUClassifier(prior=0.7), X, y, cv=lw.PairKFold(4), scoring=lw.su_risk_scorer
    )
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()


def test_the_pair_likelihood_of_constant_scores_is_zero_and_of_good_ones_is_not() -> None:
    y = np.array([0, 1, -1, 1, 2, 0, 2, -1])
    good = np.array([3.0, 3.0, 3.0, 3.0, -3.0, -3.0, -3.0, -3.0])
    assert lw.pair_log_likelihood(y, np.full(8, 1.3)) == pytest.approx(0.0, abs=1e-12)
    assert lw.pair_log_likelihood(y, good) > 0.3
    assert lw.pair_log_likelihood(y, -good) == pytest.approx(lw.pair_log_likelihood(y, good))
    by_class = np.column_stack([np.zeros(8), good])
    assert lw.pair_log_likelihood(y, by_class) == pytest.approx(lw.pair_log_likelihood(y, good))


def test_the_pair_likelihood_refuses_scores_of_another_shape() -> None:
    with pytest.raises(ValueError, match="scores have shape"):
        lw.pair_log_likelihood([1, 1, 0], np.zeros(4))


def test_the_pair_likelihood_scores_searches() -> None:
    pool = lw.datasets.make_gaussians(4000, random_state=0)
    X, y = lw.datasets.sample_su(*pool, 200, 200, prior=0.7, random_state=0).pack()
    search = GridSearchCV(
        lw.PairClassifier(features="linear", pairing="random", cv=2, random_state=0),
        {"alphas": [[0.03], [1e3]]},
        cv=lw.PairKFold(2),
        scoring=lw.pair_log_likelihood_scorer,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the huge penalty leaves no signal
        search.fit(X, y)
    assert search.best_params_ == {"alphas": [0.03]}
