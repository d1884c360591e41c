"""Warnings and errors of likewise, so that programs can tell them apart and filter them.

Every warning that likewise itself gives is a `LikewiseWarning`; where a solver stopped early it is
scikit-learn's ``ConvergenceWarning``.
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
    """Base class of all warnings of this library.

    Examples
    --------
    >>> import warnings
    >>> import likewise as lw
    >>> warnings.simplefilter("error", lw.exceptions.PairingWarning)  # an error in a pipeline
    >>> warnings.resetwarnings()
    """


class NoSignalWarning(LikewiseWarning):
    """Held-out pairs support no model, so that every row is predicted to be of the majority class.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import likewise as lw
    >>> noise = np.random.default_rng(0).normal(size=(200, 3))
    >>> X, y = lw.pack(noise, similar=np.arange(100).reshape(50, 2))
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     clf = lw.PairClassifier(features="linear", random_state=0).fit(X, y)
    >>> said[0].category is lw.exceptions.NoSignalWarning, clf.has_signal_
    (True, False)
    """


class PairingWarning(LikewiseWarning):
    """The pairs were not formed as assumed, so that another model of pairing is used.

    Examples
    --------
    If the pairs of your data are known to be class-dependent, say so, or leave the warning out:

    >>> import warnings
    >>> import likewise as lw
    >>> clf = lw.PairClassifier(pairing="free")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", lw.exceptions.PairingWarning)
    """


class ErrorRateWarning(LikewiseWarning):
    """These pairs do not determine the error rate that was asked for.

    Examples
    --------
    Similar pairs alone show no errors; answers "same" and "different" do.

    >>> import warnings
    >>> import likewise as lw
    >>> X, hidden = lw.datasets.make_gaussians(4000, separation=5, random_state=0)
    >>> sample = lw.datasets.sample_statements(X, hidden, 200, 60, kind="met", random_state=0)
    >>> clf = lw.PairClassifier(features="linear", alphas=[0.1], error_rate=0.05, random_state=0)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     clf = clf.fit(*sample.pack())
    >>> lw.exceptions.ErrorRateWarning in {one.category for one in said}
    True
    """


class ClassesWarning(LikewiseWarning):
    """The pairs suggest more classes, or fewer, than were asked for.

    Examples
    --------
    >>> import warnings
    >>> import likewise as lw
    >>> with warnings.catch_warnings():  # stop rather than learn too few classes
    ...     warnings.simplefilter("error", lw.exceptions.ClassesWarning)
    """


class PriorWarning(LikewiseWarning):
    """The class prior is too uncertain for what is computed from it.

    Examples
    --------
    The SU risk divides by ``2 * prior - 1``. Pass a prior that you know, or use `PairClassifier`.

    >>> import warnings
    >>> import likewise as lw
    >>> X, hidden = lw.datasets.make_gaussians(4000, separation=3, prior=0.5, random_state=0)
    >>> sample = lw.datasets.sample_su(X, hidden, 50, 50, prior=0.55, random_state=0)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     clf = lw.SUClassifier(prior=None).fit(*sample.pack())
    >>> lw.exceptions.PriorWarning in {one.category for one in said}
    True
    """


class DataWarning(LikewiseWarning):
    """A file holds values that were probably not meant, such as a word among numbers.

    Examples
    --------
    >>> import warnings
    >>> import likewise as lw
    >>> with warnings.catch_warnings():  # a program that reads files may rather stop
    ...     warnings.simplefilter("error", lw.exceptions.DataWarning)
    """


class NoSignalError(ValueError):
    """The pairs do not say enough to judge a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import likewise as lw
    >>> noise = np.random.default_rng(0).normal(size=(200, 3))
    >>> X, y = lw.pack(noise[:100], similar=(noise[100:150], noise[150:]))
    >>> clf = lw.SUClassifier(prior=0.7).fit(X, y)
    >>> try:
    ...     report = lw.label_free_report(clf, X, y, random_state=0)
    ... except lw.NoSignalError:
    ...     print("collect more pairs, or other features")
    collect more pairs, or other features
    """


class ScoringError(ValueError):
    """Weak labels were scored as if they were classes; the message names the scorer to use.

    Examples
    --------
    >>> import likewise as lw
    >>> X, hidden = lw.datasets.make_gaussians(3000, separation=3, random_state=0)
    >>> X, y = lw.datasets.sample_su(X, hidden, 100, 100, prior=0.7, random_state=0).pack()
    >>> clf = lw.SUClassifier(prior=0.7).fit(X, y)
    >>> try:
    ...     clf.score(X, y)
    ... except lw.exceptions.ScoringError:
    ...     print(lw.su_risk_scorer(clf, X, y) > -0.2)
    True
    """


class StopSearch(BaseException):
    """Takes the place of `ScoringError` inside a search of scikit-learn, which it stops.

    Searches turn every other error of a scorer into a score of NaN, and go on.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> import likewise as lw
    >>> X, hidden = lw.datasets.make_gaussians(3000, separation=3, random_state=0)
    >>> X, y = lw.datasets.sample_su(X, hidden, 100, 100, prior=0.7, random_state=0).pack()
    >>> clf, folds = lw.SUClassifier(prior=0.7), lw.PairKFold(2)
    >>> try:
    ...     cross_val_score(clf, X, y, cv=folds)  # plain accuracy
    ... except lw.exceptions.StopSearch:
    ...     print(cross_val_score(clf, X, y, cv=folds, scoring=lw.su_risk_scorer).shape)
    (2,)
    """
