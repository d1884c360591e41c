"""Scikit-learn's own estimator checks, on every estimator."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from tests.classifiers.labeled import PRIOR, AnswersFromLabels, LearnsFromLabels


class LabeledSUClassifier(LearnsFromLabels, lw.SUClassifier):
    """`SUClassifier` that the checks can feed."""


class LabeledSUClassifierCV(LearnsFromLabels, lw.SUClassifierCV):
    """`SUClassifierCV` that the checks can feed."""


class LabeledPairClassifier(LearnsFromLabels, lw.PairClassifier):
    """`PairClassifier` that the checks can feed."""


class AnsweredPairClassifier(AnswersFromLabels, lw.PairClassifier):
    """`PairClassifier` that the checks can feed, on one table with some known rows."""


EXPECTED_FAILURES: dict[str, str] = {}
"""Checks that cannot hold, each with its reason; there are none."""


# Many checks feed noise, and `PairClassifier` says so.
NO_SIGNAL = pytest.mark.filterwarnings("ignore:The pairs show no signal:UserWarning")
QUICK: dict[str, Any] = {"alphas": [0.1], "cv": 2}


@NO_SIGNAL
@parametrize_with_checks(
    [
        *(
            LabeledSUClassifier(loss, prior=PRIOR, alpha=0.1)
            for loss in ("squared", "logistic", "double_hinge")
        ),
        *(LabeledSUClassifierCV(loss, prior=PRIOR) for loss in ("squared", "logistic")),
        LabeledPairClassifier(features="linear", pairing="random", **QUICK),
        AnsweredPairClassifier(features="linear", **QUICK),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator: BaseEstimator, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@NO_SIGNAL
@parametrize_with_checks(
    [
        LabeledPairClassifier(features="rbf", pairing="random", **QUICK),
        AnsweredPairClassifier(features="rbf", **QUICK),
        AnsweredPairClassifier(estimator=LogisticRegression(), features="linear", **QUICK),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks_of_kernels_and_other_models(
    estimator: BaseEstimator, check: Callable[[Any], None]
) -> None:
    check(estimator)
