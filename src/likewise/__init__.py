"""likewise: classifiers from pairs that are alike.

Similar pairs and unlabeled rows go in; an ordinary scikit-learn classifier comes out. Submodules
are loaded on first use, so that ``import likewise`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise._version import __version__

if TYPE_CHECKING:
    from likewise import datasets, losses, plots, risk
    from likewise.classifiers import SUClassifier, SUClassifierCV
    from likewise.pairs import WeakSample, pack, unpack
    from likewise.selection import PairKFold, su_risk, su_risk_scorer

_HOME_OF = {
    "PairKFold": "likewise.selection",
    "SUClassifier": "likewise.classifiers",
    "SUClassifierCV": "likewise.classifiers",
    "WeakSample": "likewise.pairs",
    "pack": "likewise.pairs",
    "su_risk": "likewise.selection",
    "su_risk_scorer": "likewise.selection",
    "unpack": "likewise.pairs",
}
_SUBMODULES = {"datasets", "losses", "plots", "risk"}

__all__ = [
    "PairKFold",
    "SUClassifier",
    "SUClassifierCV",
    "WeakSample",
    "__version__",
    "datasets",
    "losses",
    "pack",
    "plots",
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
