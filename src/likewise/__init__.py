"""likewise: classifiers from pairs that are alike.

Similar pairs and unlabeled rows go in; an ordinary scikit-learn classifier comes out. Submodules
are loaded on first use, so that ``import likewise`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise._version import __version__

if TYPE_CHECKING:
    from likewise import baselines, datasets, losses, plots, prior, risk
    from likewise.classifiers import PairClassifier, SUClassifier, SUClassifierCV
    from likewise.engines.source import PairSource
    from likewise.evaluation import LabelFreeReport, NoSignalError, label_free_report
    from likewise.pairs import WeakSample, pack, unpack
    from likewise.prior import (
        KernelMeanPrior,
        PairLikelihoodPrior,
        PairMomentPrior,
        PriorEstimate,
        estimate_prior,
    )
    from likewise.prior.sensitivity import prior_sensitivity
    from likewise.selection import (
        PairKFold,
        pair_log_likelihood,
        pair_log_likelihood_scorer,
        su_risk,
        su_risk_scorer,
    )

_HOME_OF = {
    "KernelMeanPrior": "likewise.prior",
    "LabelFreeReport": "likewise.evaluation",
    "NoSignalError": "likewise.evaluation",
    "PairClassifier": "likewise.classifiers",
    "PairKFold": "likewise.selection",
    "PairLikelihoodPrior": "likewise.prior",
    "PairMomentPrior": "likewise.prior",
    "PairSource": "likewise.engines.source",
    "PriorEstimate": "likewise.prior",
    "SUClassifier": "likewise.classifiers",
    "SUClassifierCV": "likewise.classifiers",
    "WeakSample": "likewise.pairs",
    "estimate_prior": "likewise.prior",
    "label_free_report": "likewise.evaluation",
    "pack": "likewise.pairs",
    "pair_log_likelihood": "likewise.selection",
    "pair_log_likelihood_scorer": "likewise.selection",
    "prior_sensitivity": "likewise.prior.sensitivity",
    "su_risk": "likewise.selection",
    "su_risk_scorer": "likewise.selection",
    "unpack": "likewise.pairs",
}
_SUBMODULES = {"baselines", "datasets", "losses", "plots", "prior", "risk"}

__all__ = [
    "KernelMeanPrior",
    "LabelFreeReport",
    "NoSignalError",
    "PairClassifier",
    "PairKFold",
    "PairLikelihoodPrior",
    "PairMomentPrior",
    "PairSource",
    "PriorEstimate",
    "SUClassifier",
    "SUClassifierCV",
    "WeakSample",
    "__version__",
    "baselines",
    "datasets",
    "estimate_prior",
    "label_free_report",
    "losses",
    "pack",
    "pair_log_likelihood",
    "pair_log_likelihood_scorer",
    "plots",
    "prior",
    "prior_sensitivity",
    "risk",
    "su_risk",
    "su_risk_scorer",
    "unpack",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _SUBMODULES:
        value = import_module(f"likewise.{name}")
    else:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
