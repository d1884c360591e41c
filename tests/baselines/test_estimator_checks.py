"""Scikit-learn's own estimator checks, on every baseline."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import baselines
from tests.classifiers.labeled import LearnsFromLabels


class LabeledKMeansBaseline(LearnsFromLabels, baselines.KMeansBaseline):
    """`KMeansBaseline` that the checks can feed."""


class LabeledITML(LearnsFromLabels, baselines.ITML):
    """`ITML` that the checks can feed."""


class LabeledSERAPH(LearnsFromLabels, baselines.SERAPH):
    """`SERAPH` that the checks can feed."""


class LabeledPCKMeans(LearnsFromLabels, baselines.PCKMeans):
    """`PCKMeans` that the checks can feed."""


class LabeledMPCKMeans(LearnsFromLabels, baselines.MPCKMeans):
    """`MPCKMeans` that the checks can feed."""


class LabeledThreeSMIC(LearnsFromLabels, baselines.ThreeSMIC):
    """`ThreeSMIC` that the checks can feed."""


class LabeledDIMC(LearnsFromLabels, baselines.DIMC):
    """`DIMC` that the checks can feed."""


class LabeledIMSAT(LearnsFromLabels, baselines.IMSAT):
    """`IMSAT` that the checks can feed."""


EXPECTED_FAILURES: dict[type[Any], dict[str, str]] = {
    LabeledDIMC: {
        "check_fit_idempotent": "it predicts rows held out from fit; DIMC completes known rows only"
    }
}
"""Checks that cannot hold, each with its reason."""


@parametrize_with_checks(
    [
        LabeledKMeansBaseline(),
        LabeledITML(),
        LabeledSERAPH(),
        LabeledPCKMeans(),
        LabeledMPCKMeans(),
        LabeledThreeSMIC(n_folds=2),
        LabeledDIMC(),
        LabeledIMSAT(n_init=2),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator), {}),
)
def test_scikit_learn_checks(estimator: BaseEstimator, check: Callable[[Any], None]) -> None:
    check(estimator)
