"""The pair likelihood as a metric and as a score."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

import likewise as lw


def test_the_pair_likelihood_of_constant_scores_is_zero_and_of_good_ones_is_not() -> None:
    y = np.array([0, 1, -1, 1, 2, 0, 2, -1])
    good = np.array([3.0, 3.0, 3.0, 3.0, -3.0, -3.0, -3.0, -3.0])
    assert lw.pair_log_likelihood(y, np.full(8, 1.3)) == pytest.approx(0.0, abs=1e-12)
    assert lw.pair_log_likelihood(y, good) > 0.3
    assert lw.pair_log_likelihood(y, -good) == pytest.approx(lw.pair_log_likelihood(y, good))
    by_class = np.column_stack([np.zeros(8), good])
    assert lw.pair_log_likelihood(y, by_class) == pytest.approx(lw.pair_log_likelihood(y, good))


def test_answers_about_one_table_are_explained_by_good_scores_alone() -> None:
    table, good = np.zeros((6, 1)), np.array([3.0, 3.0, 3.0, -3.0, -3.0, -3.0])
    y = lw.pack(table, similar=[(0, 1), (1, 2), (3, 4)], dissimilar=[(0, 3), (2, 4)])[1]
    assert sp.issparse(y)
    assert lw.pair_log_likelihood(y, np.zeros(6)) <= 1e-9  # no constant does better than the best
    told = lw.pair_log_likelihood(y, good)
    assert told > 0.2
    assert lw.pair_log_likelihood(y, -good) == pytest.approx(told)
    assert lw.pair_log_likelihood(y, good[[0, 3, 1, 4, 2, 5]]) < 0


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
