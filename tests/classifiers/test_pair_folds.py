"""Folds of `PairClassifier` as the user deals them."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit

import likewise as lw
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here

from .quick import draw_table, quick


@pytest.fixture(scope="module")
def told() -> Any:
    return draw_table(150, 120).pack()


class OwnFolds:
    """A splitter that somebody wrote, and that looks at the weak labels."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        return lw.PairKFold(3).split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 3


@pytest.mark.parametrize(
    "cv", [lw.PairKFold(3), KFold(3, shuffle=True, random_state=0), OwnFolds()]
)
def test_any_splitter_that_holds_every_row_once_deals_the_folds(told: Any, cv: Any) -> None:
    clf = quick(cv=cv).fit(*told)
    folds = clf.pair_information_.folds
    for number, (_, test) in enumerate(cv.split(np.zeros((150, 1)), told[1])):
        assert set(folds[test]) == {number}
    again = quick(cv=cv, random_state=5).fit(*told)
    np.testing.assert_allclose(again.coef_, clf.coef_, atol=1e-3)


def test_models_that_are_brought_use_the_same_folds(told: Any) -> None:
    clf = quick(cv=lw.PairKFold(2), estimator=LogisticRegression()).fit(*told)
    folds = lw.PairKFold(2).assign(told[1])
    np.testing.assert_array_equal(clf.pair_information_.folds, folds)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), 1, "five"])
def test_splits_that_are_no_folds_are_refused(told: Any, cv: Any) -> None:
    with pytest.raises(ValueError, match="cv"):
        quick(cv=cv).fit(*told)


def test_a_splitter_of_ones_own_deals_out_fresh_pairs_whole() -> None:
    X, y = lw.datasets.make_gaussians(2000, separation=4, random_state=0)
    rows, labels = lw.datasets.sample_su(X, y, 60, 80, random_state=0).pack()
    clf = quick(cv=OwnFolds(), alphas=[0.1]).fit(rows, labels)
    np.testing.assert_array_equal(clf.pair_information_.folds, lw.PairKFold(3).assign(labels))
