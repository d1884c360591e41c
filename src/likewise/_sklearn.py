"""All that is used of scikit-learn beyond its public interface, in one place.

A new release of scikit-learn may change any of it; the tests of this module say what is relied on.
"""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "_fit_context",
    "bin_mapper",
    "boosting_loss",
    "boosting_tree",
    "is_searched",
    "labels_scored_against",
    "validate_parameter_constraints",
]


def labels_scored_against() -> Any:
    """Return the labels that a metric of scikit-learn will compare predictions with, or None.

    A scorer such as ``"accuracy"`` calls ``predict`` without the labels; they are on the stack.
    Scorers made of other metrics may know what weak labels are: they are left alone.
    """
    for frame in _frames():
        if frame.f_code.co_name == "_score" and _module(frame) == "sklearn.metrics._scorer":
            metric = getattr(frame.f_locals.get("self"), "_score_func", None)
            is_of_sklearn = str(getattr(metric, "__module__", "")).startswith("sklearn.")
            return frame.f_locals.get("y_true") if is_of_sklearn else None
    return None


def is_searched() -> bool:
    """Tell whether the caller is scored by a search that turns errors into scores of NaN."""
    for frame in _frames():
        if frame.f_code.co_name == "_score" and _module(frame) == _VALIDATION:
            return not isinstance(frame.f_locals.get("error_score"), str)
    return False


def boosting_loss(n_trees: int) -> Any:
    """Return the loss of gradient boosting that grows a number of trees per iteration."""
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss

    return HalfBinomialLoss() if n_trees == 1 else HalfMultinomialLoss(n_classes=n_trees)


def boosting_tree() -> tuple[Any, Any]:
    """Return the type of its trees, and the dtype of their nodes."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    return TreePredictor, PREDICTOR_RECORD_DTYPE


def bin_mapper(n_bins: int) -> Any:
    """Return what deals out the values of columns to bins, not fitted yet."""
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    return _BinMapper(n_bins=n_bins)


_VALIDATION = "sklearn.model_selection._validation"


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> Any:
    return frame.f_globals.get("__name__")
