"""Warnings and errors of likewise, so that programs can tell them apart and filter them.

Every warning that likewise gives of itself is a `LikewiseWarning`; where a solver stopped early it
is scikit-learn's ``ConvergenceWarning``.
"""

__all__ = [
    "ClassesWarning",
    "DataWarning",
    "ErrorRateWarning",
    "LikewiseWarning",
    "NoSignalError",
    "NoSignalWarning",
    "PairingWarning",
    "PriorWarning",
    "ScoringError",
    "StopSearch",
]


class LikewiseWarning(UserWarning):
    """Base class of all warnings here.

    Examples
    --------
    >>> import warnings
    >>> import likewise as lw
    >>> warnings.simplefilter("error", lw.exceptions.PairingWarning)  # an error in a pipeline
    >>> warnings.resetwarnings()
    """


class NoSignalWarning(LikewiseWarning):
    """Held-out pairs speak for no model: the classifier predicts the majority class alone."""


class PairingWarning(LikewiseWarning):
    """Pairs were not formed as was assumed."""


class ErrorRateWarning(LikewiseWarning):
    """An error rate was asked for that these pairs cannot tell."""


class ClassesWarning(LikewiseWarning):
    """The pairs speak for another number of classes than was asked for."""


class PriorWarning(LikewiseWarning):
    """The class prior is too uncertain for what was computed with it."""


class DataWarning(LikewiseWarning):
    """A file holds values that were probably not meant, such as a word among numbers."""


class NoSignalError(ValueError):
    """Raised where pairs do not say enough to judge a classifier."""


class ScoringError(ValueError):
    """Raised where weak labels are scored as if they were classes."""


class StopSearch(BaseException):
    """Raised instead of `ScoringError` inside a search of scikit-learn.

    Searches turn every other error of a scorer into a score of NaN, and go on.
    """
