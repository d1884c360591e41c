"""likewise: classifiers from pairs that are alike.

Similar pairs and unlabeled rows go in; an ordinary scikit-learn classifier comes out. Submodules
are loaded on first use, so that ``import likewise`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise._version import __version__

if TYPE_CHECKING:
    from likewise import datasets, losses, plots, prior, risk
    from likewise.classifiers import SUClassifier, SUClassifierCV
    from likewise.pairs import WeakSample, pack, unpack
    from likewise.prior import KernelMeanPrior, PairMomentPrior, PriorEstimate, estimate_prior
    from likewise.prior.sensitivity import prior_sensitivity
    from likewise.selection import PairKFold, su_risk, su_risk_scorer

_HOME_OF = {
    "KernelMeanPrior": "likewise.prior",
    "PairKFold": "likewise.selection",
    "PairMomentPrior": "likewise.prior",
    "PriorEstimate": "likewise.prior",
    "SUClassifier": "likewise.classifiers",
    "SUClassifierCV": "likewise.classifiers",
    "WeakSample": "likewise.pairs",
    "estimate_prior": "likewise.prior",
    "pack": "likewise.pairs",
    "prior_sensitivity": "likewise.prior.sensitivity",
    "su_risk": "likewise.selection",
    "su_risk_scorer": "likewise.selection",
    "unpack": "likewise.pairs",
}
_SUBMODULES = {"datasets", "losses", "plots", "prior", "risk"}

__all__ = [
    "KernelMeanPrior",
    "PairKFold",
    "PairMomentPrior",
    "PriorEstimate",
    "SUClassifier",
    "SUClassifierCV",
    "WeakSample",
    "__version__",
    "datasets",
    "estimate_prior",
    "losses",
    "pack",
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
