"""likewise: classifiers from pairs that are alike.

Similar pairs and unlabeled rows go in; an ordinary scikit-learn classifier comes out. Submodules
are loaded on first use, so that ``import likewise`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise._version import __version__

if TYPE_CHECKING:
    from likewise import asking, baselines, datasets, engines, exceptions, plots, prior, testing
    from likewise.asking.asker import Asker
    from likewise.beliefs.components import ContradictionError
    from likewise.classifiers import PairClassifier, SUClassifier, SUClassifierCV
    from likewise.engines.source import PairSource
    from likewise.exceptions import NoSignalError
    from likewise.io.models import load, save
    from likewise.io.versions import show_versions
    from likewise.prior import (
        KernelMeanPrior,
        PairLikelihoodPrior,
        PairMomentPrior,
        PriorEstimate,
        estimate_prior,
    )
    from likewise.report.checks import Check
    from likewise.report.curves import CalibrationCurve, ThresholdCurve
    from likewise.report.estimates import Estimate
    from likewise.report.importance import Importance, permutation_importance
    from likewise.report.label_free import LabelFreeReport, label_free_report
    from likewise.report.sensitivity import PriorSensitivity, prior_sensitivity
    from likewise.report.suggestions import Suggestion
    from likewise.search.class_count import ClassCount
    from likewise.search.em import History
    from likewise.search.information import PairInformation
    from likewise.search.pairing import PairingTest
    from likewise.search.scorers import pair_log_likelihood, pair_log_likelihood_scorer
    from likewise.search.tried import Selection, Tried
    from likewise.statements.folds import PairKFold
    from likewise.statements.packing import WeakSample, pack, unpack
    from likewise.su import losses, risk
    from likewise.su.risk import RiskEstimate
    from likewise.su.scorers import su_risk, su_risk_scorer

_HOME_OF = {
    "Asker": "likewise.asking.asker",
    "CalibrationCurve": "likewise.report.curves",
    "Check": "likewise.report.checks",
    "ClassCount": "likewise.search.class_count",
    "ContradictionError": "likewise.beliefs.components",
    "Estimate": "likewise.report.estimates",
    "History": "likewise.search.em",
    "Importance": "likewise.report.importance",
    "KernelMeanPrior": "likewise.prior",
    "LabelFreeReport": "likewise.report.label_free",
    "NoSignalError": "likewise.exceptions",
    "PairClassifier": "likewise.classifiers",
    "PairInformation": "likewise.search.information",
    "PairKFold": "likewise.statements.folds",
    "PairLikelihoodPrior": "likewise.prior",
    "PairMomentPrior": "likewise.prior",
    "PairSource": "likewise.engines.source",
    "PairingTest": "likewise.search.pairing",
    "PriorEstimate": "likewise.prior",
    "PriorSensitivity": "likewise.report.sensitivity",
    "RiskEstimate": "likewise.su.risk",
    "SUClassifier": "likewise.classifiers",
    "SUClassifierCV": "likewise.classifiers",
    "Selection": "likewise.search.tried",
    "Suggestion": "likewise.report.suggestions",
    "ThresholdCurve": "likewise.report.curves",
    "Tried": "likewise.search.tried",
    "WeakSample": "likewise.statements.packing",
    "estimate_prior": "likewise.prior",
    "label_free_report": "likewise.report.label_free",
    "load": "likewise.io.models",
    "pack": "likewise.statements.packing",
    "pair_log_likelihood": "likewise.search.scorers",
    "pair_log_likelihood_scorer": "likewise.search.scorers",
    "permutation_importance": "likewise.report.importance",
    "prior_sensitivity": "likewise.report.sensitivity",
    "save": "likewise.io.models",
    "show_versions": "likewise.io.versions",
    "su_risk": "likewise.su.scorers",
    "su_risk_scorer": "likewise.su.scorers",
    "unpack": "likewise.statements.packing",
}
_SUBMODULES = {
    "asking": "likewise.asking",
    "baselines": "likewise.baselines",
    "datasets": "likewise.datasets",
    "engines": "likewise.engines",
    "exceptions": "likewise.exceptions",
    "losses": "likewise.su.losses",
    "plots": "likewise.plots",
    "prior": "likewise.prior",
    "risk": "likewise.su.risk",
    "testing": "likewise.testing",
}

__all__ = [
    "Asker",
    "CalibrationCurve",
    "Check",
    "ClassCount",
    "ContradictionError",
    "Estimate",
    "History",
    "Importance",
    "KernelMeanPrior",
    "LabelFreeReport",
    "NoSignalError",
    "PairClassifier",
    "PairInformation",
    "PairKFold",
    "PairLikelihoodPrior",
    "PairMomentPrior",
    "PairSource",
    "PairingTest",
    "PriorEstimate",
    "PriorSensitivity",
    "RiskEstimate",
    "SUClassifier",
    "SUClassifierCV",
    "Selection",
    "Suggestion",
    "ThresholdCurve",
    "Tried",
    "WeakSample",
    "__version__",
    "asking",
    "baselines",
    "datasets",
    "engines",
    "estimate_prior",
    "exceptions",
    "label_free_report",
    "load",
    "losses",
    "pack",
    "pair_log_likelihood",
    "pair_log_likelihood_scorer",
    "permutation_importance",
    "plots",
    "prior",
    "prior_sensitivity",
    "risk",
    "save",
    "show_versions",
    "su_risk",
    "su_risk_scorer",
    "testing",
    "unpack",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _SUBMODULES:
        value = import_module(_SUBMODULES[name])
    elif name == "nets":
        value = _import_nets()
    else:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    globals()[name] = value
    return value


def _import_nets() -> Any:
    """Import what needs torch: without it there is no such attribute, and the error says why."""
    try:
        return import_module("likewise.nets")
    except ImportError as error:
        raise AttributeError(f"module 'likewise' has no attribute 'nets': {error}") from error


def __dir__() -> list[str]:
    return sorted(__all__)
