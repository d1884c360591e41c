"""What a user must know before trusting a fit, as warnings."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from likewise.exceptions import (
    ClassesWarning,
    ErrorRateWarning,
    NoSignalWarning,
    PairingWarning,
)
from likewise.search.class_count import is_one_more_likely

__all__ = ["is_quiet", "unsaid", "warn_of"]

_IS_QUIET = ContextVar("is_quiet", default=False)

_LINE_OF_THE_CALL = 5
"""Frames from here to whoever calls ``fit``: `warn_of`, ``fit``, and two decorators of it."""
_EMPTY = 0.005
"""Share of rows below which a class counts as not there."""


@contextmanager
def unsaid() -> Iterator[None]:
    """Fit without these warnings, in this thread alone: filters of warnings belong to all."""
    before = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(before)


def is_quiet() -> bool:
    """Tell whether fits in this thread give no warnings now."""
    return _IS_QUIET.get()


def warn_of(clf: Any, information: float) -> None:
    """Warn of what is odd about a fitted `PairClassifier`.

    Parameters
    ----------
    clf : PairClassifier
    information : float
        Nats per held-out statement.
    """
    if is_quiet():
        return
    if not clf.has_signal_:
        warnings.warn(
            "The pairs show no signal: no model explains held-out pairs clearly better than "
            f"one without features (the best gains {information:.4f} nats per pair), so every "
            "new row is predicted to be of the majority class. Collect more pairs, or features "
            "that tell the classes apart. If there may be more than "
            f"{clf.n_classes_} classes, pass n_classes='auto'.",
            NoSignalWarning,
            stacklevel=_LINE_OF_THE_CALL,
        )
    if clf.has_signal_ and np.min(clf.prior_) < _EMPTY:
        warnings.warn(
            f"A class has almost no rows (shares {np.round(clf.prior_, 3)}): the pairs do "
            f"not show {clf.n_classes_} classes. Pass a smaller n_classes, or collect more "
            "pairs.",
            ClassesWarning,
            stacklevel=_LINE_OF_THE_CALL,
        )
    count, more = clf.class_count_, clf.n_classes_ + 1
    if count is not None and more in count.counts and is_one_more_likely(count, clf.n_classes_):
        gain, error = count.gain(more, clf.n_classes_)
        warnings.warn(
            f"There are probably more than {clf.n_classes_} classes: with {more}, held-out pairs "
            f"are more probable by {gain:.1f} nats (standard error {error:.1f}). Pass "
            "n_classes='auto', or the number that you know.",
            ClassesWarning,
            stacklevel=_LINE_OF_THE_CALL,
        )
    if clf.pairing == "auto" and clf.pairing_ == "free":
        warnings.warn(
            f"Pairs were not formed at random: {clf.pairing_test_}. Using class-dependent pairing; "
            "pass pairing='random' if you know that pairs were formed at random. Too few classes "
            f"can look like this as well: if there may be more than {clf.n_classes_}, pass "
            "n_classes='auto'.",
            PairingWarning,
            stacklevel=_LINE_OF_THE_CALL,
        )
    if clf.error_rate != 0.0 and clf.pairing_ in ("random", "free"):
        warnings.warn(
            "An error rate is not reliable for pairs that were found rather than asked about: "
            "do not trust this fit. Add pairs that differ (pairing='asked'), or pass "
            "error_rate=0.0.",
            ErrorRateWarning,
            stacklevel=_LINE_OF_THE_CALL,
        )
