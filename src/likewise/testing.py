"""Checks for estimators that learn from weak labels, for those who write one.

scikit-learn's estimator checks feed class labels. Here pairs are formed from these labels first, so
that all of them apply to an estimator whose ``y`` holds weak labels. Further checks look at how it
takes these: as a vector and as a matrix, in slices, unchanged, and refused where they are invalid.
The checks know nothing of how an estimator learns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Self
from unittest import SkipTest

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from likewise.datasets.generators import make_gaussians
from likewise.datasets.statements import sample_statements
from likewise.engines.rows import is_sparse, take_rows
from likewise.statements.folds import PairKFold
from likewise.statements.packing import pack

__all__ = [
    "PRIOR",
    "LearnsFromLabels",
    "check_weak_estimator",
    "parametrize_with_weak_checks",
    "weak_estimator_checks",
]

PRIOR = 0.75
"""Class prior of everything that the checks feed, for estimators that need to be told."""

Check = Callable[[Any], None]


def check_weak_estimator(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> None:
    """Run all checks on an estimator of two classes, and raise what the first failure raises.

    Parameters
    ----------
    estimator : classifier, not fitted
        Its ``fit`` takes weak labels as `likewise.pack` makes them, and its ``predict`` returns one
        of two ``classes_`` for every row, the second of which is the majority class. If it needs
        the class prior, pass it `PRIOR`.
    expected_failed_checks : dict, optional
        From the name of a check to the reason why it need not hold.

    See Also
    --------
    parametrize_with_weak_checks : the same as tests of pytest, one for every check.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.testing import PRIOR, check_weak_estimator
    >>> check_weak_estimator(lw.SUClassifier(prior=PRIOR, alpha=0.1))
    """
    reasons = expected_failed_checks or {}
    for given, check in weak_estimator_checks(estimator):
        if name_of(check) in reasons:
            continue
        try:
            check(given)
        except SkipTest:
            continue


def parametrize_with_weak_checks(
    estimators: Sequence[Any],
    *,
    expected_failed_checks: Callable[[Any], Mapping[str, str]] | None = None,
) -> Any:
    """Parametrize a test of pytest with every check of every estimator.

    Parameters
    ----------
    estimators : sequence of classifiers, not fitted
        As in `check_weak_estimator`.
    expected_failed_checks : callable, optional
        Takes one of `estimators` and returns a dict from names of checks to reasons; these tests
        are expected to fail.

    Returns
    -------
    decorator of a test with the parameters `estimator` and `check`

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.testing import parametrize_with_weak_checks
    >>> @parametrize_with_weak_checks([lw.baselines.KMeansBaseline()])
    ... def test_it_learns_from_weak_labels(estimator, check):
    ...     check(estimator)
    """
    import pytest

    params = []
    for estimator in estimators:
        reasons = expected_failed_checks(estimator) if expected_failed_checks else {}
        for given, check in weak_estimator_checks(estimator):
            name = name_of(check)
            marks = [pytest.mark.xfail(reason=reasons[name])] if name in reasons else []
            params.append(pytest.param(given, check, marks=marks, id=f"{estimator!r}-{name}"))
    return pytest.mark.parametrize(("estimator", "check"), params)


def weak_estimator_checks(estimator: Any) -> Iterator[tuple[Any, Check]]:
    """Yield every check, with the estimator that it is called with.

    Parameters
    ----------
    estimator : classifier, not fitted
        As in `check_weak_estimator`.

    Yields
    ------
    estimator : classifier
        For scikit-learn's own checks, one that forms pairs of class labels: see `LearnsFromLabels`.
    check : callable
        Takes it and raises if the check does not hold.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.testing import weak_estimator_checks
    >>> checks = weak_estimator_checks(lw.baselines.KMeansBaseline())
    >>> len(list(checks)) > 40
    True
    """
    cls: Any = type(estimator)
    adapted = _adapted(cls)(**clone(estimator).get_params(deep=False))
    yield from estimator_checks_generator(adapted)
    for check in OWN_CHECKS:
        yield estimator, partial(check, cls.__name__)


def name_of(check: Any) -> str:
    """Return the name of a check, such as ``check_fit_idempotent``."""
    return str((check.func if isinstance(check, partial) else check).__name__)


# --- scikit-learn's checks, on pairs --------------------------------------------------------------


class LearnsFromLabels:
    """Mixin in front of an estimator: forms pairs of equal class labels, then fits on them.

    The adapted class *is* the estimator (a subclass), so its parameters, cloning, tags, validation
    and fitted attributes are what scikit-learn's checks see. Only the meaning of ``y`` differs.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.testing import LearnsFromLabels
    >>> class LabeledKMeans(LearnsFromLabels, lw.baselines.KMeansBaseline):
    ...     pass
    >>> X, hidden = lw.datasets.make_gaussians(400, separation=6, random_state=0)
    >>> LabeledKMeans(random_state=0).fit(X, hidden).score(X, hidden) > 0.95
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Form weak labels where X and y allow it; otherwise let the estimator complain."""
        table = _table(X)
        if y is None or table.ndim != 2:
            super().fit(X, y)  # type: ignore[misc]
            return self
        y = column_or_1d(y, warn=True)
        check_consistent_length(table, y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) == 1:
            raise ValueError("Pairs tell two classes apart, but y has one class.")
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        self._fit_on_pairs(table, codes, classes)
        self.classes_ = classes
        return self

    def _fit_on_pairs(self, table: Any, codes: Any, classes: Any) -> None:
        rows, weak_labels = _form_pairs(codes == 1, np.random.default_rng(0))
        super().fit(take_rows(table, rows), weak_labels)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_class = False
        return tags


@cache
def _adapted(cls: Any) -> Any:
    """Return an estimator's class behind `LearnsFromLabels`, where pickle finds it again."""
    key = f"Labeled_{cls.__module__}_{cls.__qualname__}".replace(".", "_")
    globals()[key] = type(
        f"Labeled{cls.__name__}",
        (LearnsFromLabels, cls),
        {"__module__": __name__, "__qualname__": key},
    )
    return globals()[key]


def _table(X: Any) -> Any:
    if is_sparse(X):
        return X.tocsr()
    return X if hasattr(X, "iloc") else np.asarray(X)


def _form_pairs(
    is_positive: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return row numbers and weak labels: every row unlabeled once or more, pairs at random."""
    positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    n_positive = max(len(positive), 3 * len(negative))
    unlabeled = np.concatenate(
        [np.resize(positive, n_positive), np.resize(negative, -(-n_positive // 3))]
    )
    # At a prior of 3/4 there are nine positive pairs to a negative one.
    n = max(1, len(is_positive) // 10)
    members = np.concatenate([rng.choice(positive, (9 * n, 2)), rng.choice(negative, (n, 2))])
    codes = np.arange(1, 10 * n + 1)
    rows = np.concatenate([unlabeled, members[:, 0], members[:, 1]])
    return rows, np.concatenate([np.zeros(len(unlabeled), dtype=np.int64), codes, codes])


# --- what only estimators of weak labels do -------------------------------------------------------


def check_rows_in_several_statements(name: str, estimator: Any) -> None:
    """Require that answers about one table, a matrix, are learned from and its rows classified."""
    X, hidden, y = _answers()
    clf = clone(estimator).fit(X, y)
    predicted = clf.predict(X)
    _require(
        predicted.shape == hidden.shape,
        f"{name}.predict returns shape {predicted.shape} for {len(X)} rows.",
    )
    strange = sorted(set(predicted.tolist()) - set(np.asarray(clf.classes_).tolist()))
    _require(not strange, f"{name}.predict returns {strange}, which are not in classes_.")
    right = np.mean((predicted == clf.classes_[1]) == (hidden == 1))
    right = max(right, 1 - right)  # statements do not name classes
    _require(
        right > 0.8,
        f"{name} classifies {right:.0%} of the rows correctly, though the classes are far apart.",
    )


def check_both_forms_of_statements(name: str, estimator: Any) -> None:
    """Require that a vector and a matrix of the same statements give the same predictions."""
    X, vector, matrix = _similar_pairs()
    first, second = (_seeded(estimator).fit(X, labels).predict(X) for labels in (vector, matrix))
    _require(
        bool((first == second).all()),
        f"{name} predicts {np.mean(first != second):.0%} of the rows differently if the same "
        "statements are passed as a matrix instead of a vector.",
    )


def check_slices_of_weak_labels(name: str, estimator: Any) -> None:
    """Require that slices of rows and weak labels, as `PairKFold` makes them, are learned from."""
    X, vector, matrix = _similar_pairs()
    for y in (vector, matrix):
        for train, _ in PairKFold(2).split(X, y):
            predicted = clone(estimator).fit(X[train], y[train]).predict(X[train])
            _require(predicted.shape == train.shape, f"{name} does not classify slices of a table.")


def check_fit_changes_no_input(name: str, estimator: Any) -> None:
    """Require that ``fit`` changes neither the table nor the weak labels."""
    X, _, answers = _answers()
    _, vector, _ = _similar_pairs()
    for y in (answers, vector):
        rows, labels = X.copy(), y.copy()
        clone(estimator).fit(X, y)
        _require(bool((rows == X).all()), f"{name}.fit changes X.")
        is_same = (labels != y).nnz == 0 if sp.issparse(y) else bool((labels == y).all())
        _require(is_same, f"{name}.fit changes y.")


def check_invalid_weak_labels(name: str, estimator: Any) -> None:
    """Require a ValueError for weak labels that mean nothing."""
    X, vector, matrix = _similar_pairs()
    half = np.asarray(vector).copy()
    half[np.flatnonzero(half)[0]] = 0
    mixed, triple = matrix.tolil(), matrix.tolil()
    mixed[matrix[:, 0].nonzero()[0][0], 0] = -1
    triple[:3, 0] = -1
    cases = {
        "has one entry fewer than X has rows": vector[:-1],
        "holds fractions": np.asarray(vector) / 2,
        "holds no statement": np.zeros_like(vector),
        "holds one row of a fresh pair alone": half,
        "says of one statement that rows are alike and differ": mixed.tocsr(),
        "says of three rows at once that they differ": triple.tocsr(),
        "holds numbers other than +1 and -1 in a matrix": matrix * 2,
    }
    for what, y in cases.items():
        try:
            clone(estimator).fit(X, y)
        except ValueError:
            continue
        raise AssertionError(
            f"{name}.fit takes a y that {what}. likewise.unpack raises the error that it should."
        )


def check_weak_labels_are_not_scored_as_classes(name: str, estimator: Any) -> None:
    """Require a ValueError where weak labels are scored as if they were classes."""
    X, vector, matrix = _similar_pairs()
    clf = clone(estimator).fit(X, vector)
    for y in (vector, matrix):
        try:
            found = clf.score(X, y)
        except ValueError:
            continue
        raise AssertionError(
            f"{name}.score returns {found} for weak labels, which are no classes. Raise a "
            "ValueError that names the right scorer."
        )


OWN_CHECKS = (
    check_rows_in_several_statements,
    check_both_forms_of_statements,
    check_slices_of_weak_labels,
    check_fit_changes_no_input,
    check_invalid_weak_labels,
    check_weak_labels_are_not_scored_as_classes,
)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _answers() -> tuple[Any, Any, Any]:
    """Return a table of two classes far apart, the hidden classes, and answers as a matrix."""
    X, hidden = make_gaussians(2000, separation=5.0, random_state=0)
    sample = sample_statements(X, hidden, 200, 300, prior=PRIOR, random_state=0)
    return sample.table, sample.y_table, sample.pack()[1]


def _similar_pairs() -> tuple[Any, Any, Any]:
    """Return the same table, with similar pairs of separate rows as a vector and as a matrix."""
    X, hidden, _ = _answers()
    # Formed at random, nine pairs are of the class with three quarters of the rows to each other.
    members = (np.flatnonzero(hidden == 1)[:90], np.flatnonzero(hidden == -1)[:10])
    pairs = np.concatenate(members).reshape(-1, 2)
    _, vector = pack(X, similar=pairs)
    rows = np.flatnonzero(vector)
    entries = (np.ones(rows.size, dtype=np.int8), (rows, np.asarray(vector)[rows] - 1))
    return X, vector, sp.csr_matrix(entries, shape=(len(X), len(pairs)))


def _seeded(estimator: Any) -> Any:
    """Return a clone that draws the same numbers every time, if it draws any."""
    found = clone(estimator)
    return found.set_params(random_state=0) if "random_state" in found.get_params() else found
