"""Estimators that learn from weak labels pass the published checks; those that do not fail them."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted, validate_data

import likewise as lw
from likewise import baselines, testing
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here


class TwoMeans(ClassifierMixin, BaseEstimator):
    """As small as an estimator of weak labels can be: it reads them, and clusters the rows."""

    def __init__(self, random_state: Any = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        X = validate_data(self, X, dtype=np.float64)
        if y is None:
            raise ValueError("TwoMeans requires y to be passed, but the target y is None.")
        if np.shape(y)[0] != len(X):
            raise ValueError(f"X has {len(X)} rows but y has shape {np.shape(y)}.")
        sample = lw.unpack(X, y)
        if not sample.statements.count:
            raise ValueError("y holds no statement.")
        self.means_ = KMeans(2, n_init=1, random_state=self.random_state).fit(sample.unlabeled)
        self.majority_ = np.argmax(np.bincount(self.means_.labels_))
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_[(self.means_.predict(X) == self.majority_).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        if sp.issparse(y) or not np.isin(np.asarray(y), self.classes_).all():
            raise ValueError("y holds no classes: use likewise.label_free_report.")
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


ESTIMATORS = [
    lw.SUClassifier("squared", prior=testing.PRIOR, alpha=0.1),
    lw.SUClassifier("double_hinge", prior=testing.PRIOR, alpha=0.1),
    lw.PairClassifier(features="linear", pairing="random", alphas=[0.1], cv=2),
    baselines.DIMC(random_state=0),
    baselines.ITML(random_state=0),
    baselines.KMeansBaseline(random_state=0),
    baselines.PCKMeans(random_state=0),
    baselines.SERAPH(random_state=0),
    baselines.ThreeSMIC(n_folds=2),
    TwoMeans(),
]


@pytest.mark.parametrize("check", testing.OWN_CHECKS, ids=testing.name_of)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_estimators_of_the_library_pass(estimator: Any, check: Callable[..., None]) -> None:
    check(type(estimator).__name__, estimator)


@testing.parametrize_with_weak_checks([TwoMeans()])
def test_a_small_estimator_passes_all(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# --- estimators that do something wrong, each in its own way --------------------------------------


class OnlyVectors(TwoMeans):
    def fit(self, X: Any, y: Any) -> Self:
        return super().fit(X, np.asarray(y.todense()) if sp.issparse(y) else y)


class OtherForMatrices(TwoMeans):
    def predict(self, X: Any) -> Any:
        return self.classes_[(np.arange(len(X)) % 2)] if self.is_matrix_ else super().predict(X)

    def fit(self, X: Any, y: Any) -> Self:
        self.is_matrix_ = sp.issparse(y)
        return super().fit(X, y)


class OneClass(TwoMeans):
    def predict(self, X: Any) -> Any:
        return np.zeros_like(super().predict(X))


class OtherClasses(TwoMeans):
    def predict(self, X: Any) -> Any:
        return super().predict(X) + 7


class OneRowShort(TwoMeans):
    def predict(self, X: Any) -> Any:
        return super().predict(X)[1:]


class WritesRows(TwoMeans):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        X *= 2
        return self


class WritesLabels(TwoMeans):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        y *= -1
        return self


class TakesAnything(TwoMeans):
    def fit(self, X: Any, y: Any) -> Self:
        try:
            return super().fit(X, y)
        except ValueError:
            return super().fit(X, lw.pack(X, similar=[(0, 1)])[1])


class ScoresAnything(TwoMeans):
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return 0.5


BROKEN = [
    (OnlyVectors, "check_rows_in_several_statements", "must be one integer per row"),
    (OneClass, "check_rows_in_several_statements", "of the rows correctly"),
    (OtherClasses, "check_rows_in_several_statements", r"\[7, 8\], which are not in classes_"),
    (OneRowShort, "check_rows_in_several_statements", "returns shape"),
    (OtherForMatrices, "check_both_forms_of_statements", "differently if the same"),
    (OneRowShort, "check_slices_of_weak_labels", "does not classify slices"),
    (WritesRows, "check_fit_changes_no_input", "fit changes X"),
    (WritesLabels, "check_fit_changes_no_input", "fit changes y"),
    (TakesAnything, "check_invalid_weak_labels", "one entry fewer"),
    (ScoresAnything, "check_weak_labels_are_not_scored_as_classes", "score returns 0.5"),
]


@pytest.mark.parametrize(("cls", "name", "message"), BROKEN)
def test_what_is_wrong_is_found_and_named(cls: Any, name: str, message: str) -> None:
    check = getattr(testing, name)
    with pytest.raises((AssertionError, ValueError), match=message):
        check(cls.__name__, cls())


def test_every_own_check_finds_something() -> None:
    assert {name for _, name, _ in BROKEN} == {testing.name_of(one) for one in testing.OWN_CHECKS}


INVALID = [
    "one entry fewer than X has rows",
    "fractions",
    "no statement",
    "one row of a fresh pair alone",
    "alike and differ",
    "three rows at once",
    r"other than \+1 and -1",
]


@pytest.mark.parametrize("what", INVALID)
def test_every_kind_of_invalid_labels_is_looked_for(what: str) -> None:
    """An estimator that takes one kind of them, and refuses all others, is found."""
    fits = iter(INVALID)

    class TakesOne(TwoMeans):
        def fit(self, X: Any, y: Any) -> Self:
            return self if next(fits) == what else super().fit(X, y)

    with pytest.raises(AssertionError, match=what):
        testing.check_invalid_weak_labels("TakesOne", TakesOne())


def test_the_first_failure_is_raised_and_those_expected_are_left_out() -> None:
    with pytest.raises(AssertionError, match="fit changes y"):
        testing.check_weak_estimator(WritesLabels())
    reasons = {"check_fit_changes_no_input": "for this test"}
    testing.check_weak_estimator(WritesLabels(), expected_failed_checks=reasons)


def test_tests_expected_to_fail_are_marked() -> None:
    name = "check_fit_idempotent"
    decorator = testing.parametrize_with_weak_checks(
        [TwoMeans()], expected_failed_checks=lambda estimator: {name: "for this test"}
    )
    _, params = decorator.args
    marked = {param.id: [mark.name for mark in param.marks] for param in params if param.marks}
    assert marked == {f"TwoMeans()-{name}": ["xfail"]}


def test_scikit_learn_sees_the_estimator_itself() -> None:
    adapted = {type(given) for given, _ in testing.weak_estimator_checks(TwoMeans(random_state=3))}
    (labeled,) = adapted - {TwoMeans}
    assert issubclass(labeled, TwoMeans)
    assert labeled().get_params() == {"random_state": 0}
