"""Accuracy without labels, against accuracy with them."""

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import SUSample, make_gaussians, sample_su
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here

N_TEST = 4000


@pytest.fixture(scope="module")
def sample() -> SUSample:
    pool = make_gaussians(14_000, separation=2.5, random_state=0)
    return sample_su(*pool, 500, 500, n_test=N_TEST, prior=0.7, random_state=0)


@pytest.fixture(scope="module")
def labeled(sample: SUSample) -> LogisticRegression:
    """A classifier fitted elsewhere, on the labels of the test rows' first half."""
    half = N_TEST // 2
    return LogisticRegression().fit(sample.X_test[:half], sample.y_test[:half])


@pytest.fixture(scope="module")
def report(sample: SUSample, labeled: LogisticRegression) -> lw.LabelFreeReport:
    return lw.label_free_report(labeled, *sample.pack(), random_state=0)


def true_rates(clf: LogisticRegression, sample: SUSample) -> dict[str, float]:
    half = N_TEST // 2
    positive, truth = clf.predict(sample.X_test[half:]) == 1, sample.y_test[half:] == 1
    return {
        "accuracy": float(np.mean(positive == truth)),
        "true_positive_rate": float(positive[truth].mean()),
        "false_positive_rate": float(positive[~truth].mean()),
        "prior": 0.7,
    }


def test_rates_of_a_classifier_fitted_elsewhere_are_found(
    report: lw.LabelFreeReport, sample: SUSample, labeled: LogisticRegression
) -> None:
    assert not report.cross_fitted
    limits = {"accuracy": 0.03, "true_positive_rate": 0.03, "false_positive_rate": 0.1}
    for name, truth in true_rates(labeled, sample).items():
        estimate = getattr(report, name)
        assert abs(estimate.value - truth) < limits.get(name, 0.04), name
        assert estimate.interval[0] <= estimate.value <= estimate.interval[1]


def test_pair_agreement_is_counted(
    report: lw.LabelFreeReport, sample: SUSample, labeled: LogisticRegression
) -> None:
    left, right = (labeled.predict(part) for part in sample.similar)
    assert report.pair_agreement.value == pytest.approx(np.mean(left == right))


@pytest.mark.slow
def test_a_bad_classifier_is_told_from_a_good_one(
    report: lw.LabelFreeReport, sample: SUSample
) -> None:
    class Coin:
        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.where(np.random.default_rng(0).uniform(size=len(X)) < 0.7, 1, -1)

    found = lw.label_free_report(Coin(), *sample.pack(), random_state=0)
    assert found.accuracy.value == pytest.approx(0.58, abs=0.05)  # 0.7^2 + 0.3^2
    assert found.accuracy.value < report.accuracy.value - 0.2


@pytest.mark.slow
def test_names_of_the_classes_follow_the_classifier(sample: SUSample) -> None:
    """A classifier that calls the minority class +1 has its share as the prior."""
    half = N_TEST // 2
    clf = LogisticRegression().fit(sample.X_test[:half], -sample.y_test[:half])
    found = lw.label_free_report(clf, *sample.pack(), random_state=0)
    assert found.prior.value == pytest.approx(0.3, abs=0.05)
    assert found.true_positive_rate.value > found.false_positive_rate.value


def test_learners_from_pairs_are_refitted_without_the_rows_they_are_judged_on(
    sample: SUSample,
) -> None:
    clf = make_pipeline(StandardScaler(), lw.SUClassifier("logistic", prior=0.7, alpha=0.1))
    found = lw.label_free_report(clf.fit(*sample.pack()), *sample.pack(), random_state=0)
    assert found.cross_fitted
    assert abs(found.accuracy.value - clf.score(sample.X_test, sample.y_test)) < 0.05


@pytest.mark.slow
def test_a_learner_that_learns_its_pairs_by_heart_is_found_out(sample: SUSample) -> None:
    """Judged on what it saw it looks better than cross-fitted, and better than it is."""
    pool = make_gaussians(3000, n_features=30, separation=4.0, random_state=1)
    X, y = sample_su(*pool, 120, 120, random_state=1).pack()
    clf = lw.SUClassifier("squared", prior=0.7, alpha=1e-6).fit(X, y)
    seen = lw.label_free_report(clf, X, y, trained_on_same_pairs=False, random_state=0)
    honest = lw.label_free_report(clf, X, y, random_state=0)
    assert honest.pair_agreement.value < seen.pair_agreement.value


@pytest.mark.slow
@pytest.mark.parametrize("label", [-1, 1])
def test_a_constant_classifier_is_as_good_as_the_majority_class(
    sample: SUSample, label: int
) -> None:
    clf = DummyClassifier(strategy="constant", constant=label)
    clf.fit(sample.X_test, sample.y_test)
    found = lw.label_free_report(clf, *sample.pack(), random_state=0)
    assert found.accuracy.value == pytest.approx(0.7, abs=0.05)
    assert found.accuracy.interval[0] > 0.5


@pytest.mark.slow
def test_a_search_within_a_pipeline_is_searched_again(sample: SUSample) -> None:
    search = GridSearchCV(
        lw.PairClassifier(features="linear", pairing="random", cv=2, random_state=0),
        {"alphas": [[0.1], [0.02]]},
        cv=lw.PairKFold(2),
        scoring=lambda clf, X, y: clf.pair_information_.value,
    )
    clf = make_pipeline(StandardScaler(), search).fit(*sample.pack())
    found = lw.label_free_report(clf, *sample.pack(), random_state=0)
    assert abs(found.accuracy.value - np.mean(clf.predict(sample.X_test) == sample.y_test)) < 0.05


def test_pairs_without_a_signal_get_no_number() -> None:
    rng = np.random.default_rng(0)
    X, y = lw.pack(rng.normal(size=(100, 3)), similar=rng.normal(size=(80, 2, 3)))
    clf = LogisticRegression().fit(X, np.arange(len(X)) % 2)
    with pytest.raises(lw.NoSignalError, match="no signal"):
        lw.label_free_report(clf, X, y, random_state=0)


def test_it_prints_and_exports(report: lw.LabelFreeReport) -> None:
    text = str(report)
    for words in ("accuracy", "false-positive rate", "95 % intervals", "pairs formed at random"):
        assert words in text
    found = report.to_dict()
    assert found["accuracy"]["value"] == report.accuracy.value
    assert [check["name"] for check in found["checks"]] == [c.name for c in report.checks]
    frame = report.to_frame()
    assert frame.loc["prior", "low"] == report.prior.interval[0]
    assert list(frame.columns) == ["value", "low", "high"]


def test_the_picture_shows_every_estimate(report: lw.LabelFreeReport) -> None:
    left, right = report.plot().axes
    labels = [label.get_text() for label in left.get_yticklabels()]
    assert labels[::-1][:3] == ["accuracy", "majority-class baseline", "true-positive rate"]
    heights = [patch.get_height() for patch in right.patches if isinstance(patch, Rectangle)]
    assert sum(heights) == report.n_rows


def test_assumptions_that_hold_pass(report: lw.LabelFreeReport) -> None:
    assert [check.passed for check in report.checks] == [True] * 4


def test_the_same_seed_gives_the_same_report(
    report: lw.LabelFreeReport, sample: SUSample, labeled: LogisticRegression
) -> None:
    again = lw.label_free_report(labeled, *sample.pack(), random_state=0)
    assert again.to_dict() == report.to_dict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.5}, "level must lie"),
        ({"pairing": "met"}, "pairing must be"),
        ({"pairing": "asked"}, "these are fresh pairs"),
        ({"error_rate": "auto"}, "these are fresh pairs"),
    ],
)
def test_bad_options_are_named(
    sample: SUSample, labeled: LogisticRegression, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        lw.label_free_report(labeled, *sample.pack(), random_state=0, **options)


def test_few_pairs_are_refused(sample: SUSample, labeled: LogisticRegression) -> None:
    X, y = sample.pack()
    keep = np.abs(y) <= 5
    with pytest.raises(ValueError, match="at least 10 similar pairs and unlabeled rows, but there"):
        lw.label_free_report(labeled, X[keep], y[keep], random_state=0)


def test_recall_of_two_classes_is_what_the_rates_say(report: lw.LabelFreeReport) -> None:
    assert list(report.recall) == [-1, 1]
    assert report.recall[1] == report.true_positive_rate
    assert report.recall[-1].value == pytest.approx(1.0 - report.false_positive_rate.value)
    assert report.recall[-1].interval[0] == pytest.approx(
        1.0 - report.false_positive_rate.interval[1]
    )


@pytest.mark.slow
def test_the_word_of_a_constant_classifier_without_classes_is_enough(sample: SUSample) -> None:
    class Always:
        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), "ill")

    found = lw.label_free_report(Always(), *sample.pack(), random_state=0)
    assert list(found.recall) == ["other", "ill"]
    assert found.recall["ill"].value == 1.0
    assert found.accuracy.value == pytest.approx(0.7, abs=0.05)
