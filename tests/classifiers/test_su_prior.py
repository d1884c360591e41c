"""The three cases of prior knowledge in SUClassifier and SUClassifierCV."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import likewise as lw
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]
ESTIMATORS = [lw.SUClassifier, lw.SUClassifierCV]


class FixedPrior(BaseEstimator):
    """A prior estimator of one's own."""

    def __init__(self, value: float = 0.8, interval: tuple[float, float] | None = None) -> None:
        self.value = value
        self.interval = interval

    def fit(self, X: Any, y: Any) -> "FixedPrior":
        self.estimate_ = lw.PriorEstimate(self.value, self.interval, 0.95, "fixed")
        return self


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_case_1_a_given_prior_is_kept_without_an_interval(
    draw_waveform: Draw, estimator: Any
) -> None:
    clf = estimator(prior=0.7).fit(*draw_waveform(100, 100).pack())
    assert (clf.prior_, clf.prior_interval_, clf.prior_estimate_) == (0.7, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_case_2_without_a_prior_the_majority_class_is_positive(
    draw_waveform: Draw, estimator: Any
) -> None:
    sample = draw_waveform(500, 500, 0.7, 1)
    clf = estimator("logistic").fit(*sample.pack())
    assert clf.prior_ == pytest.approx(0.7, abs=0.07)
    assert clf.prior_interval_[0] < clf.prior_ < clf.prior_interval_[1]
    given = estimator("logistic", prior=clf.prior_).fit(*sample.pack())
    np.testing.assert_array_equal(clf.coef_, given.coef_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_case_3_knowing_that_positives_are_fewer_turns_the_classes_round(
    draw_waveform: Draw, estimator: Any
) -> None:
    X, y = draw_waveform(300, 300, 0.7, 1).pack()
    larger, smaller = (
        estimator(prior=FixedPrior(0.72, (0.6, 0.8)), positive=side).fit(X, y)
        for side in ("majority", "minority")
    )
    assert smaller.prior_ == pytest.approx(1 - larger.prior_)
    assert smaller.prior_interval_ == pytest.approx((0.2, 0.4))
    np.testing.assert_allclose(smaller.coef_, -larger.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_interval_that_reaches_one_half_is_warned_of(
    draw_waveform: Draw, estimator: Any
) -> None:
    with pytest.warns(UserWarning, match="divides by 2"):
        estimator(prior=FixedPrior(0.55, (0.5, 0.62))).fit(*draw_waveform(100, 100).pack())


def test_the_prior_estimator_in_use_is_not_fitted_in_place(draw_waveform: Draw) -> None:
    own = FixedPrior()
    lw.SUClassifier(prior=own).fit(*draw_waveform(50, 50).pack())
    assert not hasattr(own, "estimate_")


def test_the_papers_own_estimator_can_be_used(draw_waveform: Draw) -> None:
    clf = lw.SUClassifier(prior=lw.KernelMeanPrior("km2")).fit(*draw_waveform(100, 100).pack())
    assert clf.prior_estimate_.method == "km2"
    assert clf.prior_interval_ is None
    assert 0.5 < clf.prior_ < 1


def test_an_unknown_side_is_refused(draw_waveform: Draw) -> None:
    with pytest.raises(ValueError, match="'positive' parameter"):
        lw.SUClassifier(positive="smaller").fit(*draw_waveform(50, 50).pack())
