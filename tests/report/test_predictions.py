"""Clones of a classifier, which predict the rows that they did not learn from."""

from typing import Any

import numpy as np

import likewise as lw
from likewise.classifiers.saying import unsaid
from likewise.report.predictions import unfitted
from likewise.scores.maps import SPARSE


def _sample(n_pairs: int, seed: int = 0) -> Any:
    X, y = lw.datasets.make_gaussians(2000, separation=2.5, random_state=0)
    return lw.datasets.sample_statements(X, y, n_pairs, 300, random_state=seed)


def test_a_clone_uses_its_scores_though_fewer_pairs_alone_do_not_speak_for_them() -> None:
    # Otherwise it would call all rows alike, and the report would judge a classifier by a constant.
    clf = lw.PairClassifier(features="linear", random_state=0).fit(*_sample(300).pack())
    few = _sample(12, seed=1)
    X, y = few.pack()
    X = X[::-1]  # other rows than those that were asked about
    clone = unfitted(clf)
    with unsaid():
        clone.fit(X, y)
        alone = lw.PairClassifier(features="linear", random_state=0).fit(X, y)
    assert clf.has_signal_
    assert not clone.has_signal_
    assert np.unique(alone.predict(X)).size == 1
    assert np.unique(clone.predict(X)).size == 2


def test_a_clone_keeps_penalties_of_columns() -> None:
    X, y = lw.datasets.make_gaussians(2000, separation=2.5, random_state=0)
    sample = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0)
    clf = lw.PairClassifier(alphas={SPARSE: [0.03]}, pairing="random", cv=2, random_state=0)
    clone = unfitted(clf.fit(*sample.pack()))
    assert clf.features_ == SPARSE
    assert clf.coef_.shape == (1, X.shape[1])
    assert clone.alphas == {SPARSE: [0.03]}
    clone.fit(*sample.pack())
    np.testing.assert_array_equal(clone.weights_, clf.weights_)
