"""Scikit-learn's own estimator checks, on every estimator."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import likewise as lw
from tests.classifiers.labeled import (
    PRIOR,
    AnswersFromLabels,
    LearnsFromLabels,
    WeighsFromLabels,
)


class LabeledSUClassifier(LearnsFromLabels, lw.SUClassifier):
    """`SUClassifier` that the checks can feed."""


class LabeledSUClassifierCV(LearnsFromLabels, lw.SUClassifierCV):
    """`SUClassifierCV` that the checks can feed."""


class LabeledPairClassifier(LearnsFromLabels, lw.PairClassifier):
    """`PairClassifier` that the checks can feed."""


class AnsweredPairClassifier(AnswersFromLabels, lw.PairClassifier):
    """`PairClassifier` that the checks can feed, on one table with some known rows."""


class WeightedSUClassifier(WeighsFromLabels, lw.SUClassifier):
    """`SUClassifier` that the checks can feed weights."""


class WeightedPairClassifier(WeighsFromLabels, lw.PairClassifier):
    """`PairClassifier` that the checks can feed weights."""


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


NOT_REPEATED = (
    "Weights are worth as many rows as they tell of, repeated rows count as new ones; columns are "
    "standardised and folds dealt without weights."
)


def weight_checks() -> list[Any]:
    """Return the checks of ``sample_weight``, those that cannot hold marked with the reason."""
    found = []
    for clf in (
        *(
            WeightedSUClassifier(loss, prior=PRIOR, alpha=0.1, tol=1e-12)
            for loss in ("squared", "logistic", "double_hinge")
        ),
        WeightedPairClassifier(features="linear", pairing="random", **QUICK),
    ):
        for estimator, check in estimator_checks_generator(clf):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            if "sample_weight" not in name:
                continue
            is_pair = isinstance(clf, lw.PairClassifier) and "equivalence" in name
            marks = [pytest.mark.xfail(reason=NOT_REPEATED, strict=True)] if is_pair else []
            loss = getattr(clf, "loss", "pair")
            found.append(pytest.param(estimator, check, marks=marks, id=f"{loss}-{name}"))
    return found


@NO_SIGNAL
@pytest.mark.parametrize(("estimator", "check"), weight_checks())
def test_scikit_learn_checks_of_weights(
    estimator: BaseEstimator, check: Callable[[Any], None]
) -> None:
    check(estimator)
