"""Confusion, ranking, calibration, baseline, advice and page of a label-free report."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score
from sklearn.svm import LinearSVC

import likewise as lw
from likewise.datasets import SUSample
from likewise.report.suggestions import suggest

from ..classifiers.quick import draw_three, quick


@pytest.fixture(scope="module")
def sample() -> SUSample:
    X, y = lw.datasets.make_gaussians(20_000, separation=2.5, random_state=0)
    return lw.datasets.sample_su(X, y, 400, 600, n_test=8000, prior=0.7, random_state=0)


@pytest.fixture(scope="module")
def labeled() -> LogisticRegression:
    X, y = lw.datasets.make_gaussians(2000, separation=2.5, random_state=9)
    return LogisticRegression(C=100.0).fit(X, y)


@pytest.fixture(scope="module")
def report(sample: SUSample, labeled: LogisticRegression) -> lw.LabelFreeReport:
    return lw.label_free_report(labeled, *sample.pack(), random_state=0)


def test_areas_are_those_of_labels(
    report: lw.LabelFreeReport, labeled: LogisticRegression, sample: SUSample
) -> None:
    odds = labeled.decision_function(sample.X_test)
    assert report.roc_auc is not None
    assert report.average_precision is not None
    expected = roc_auc_score(sample.y_test, odds)
    assert report.roc_auc.interval[0] < expected < report.roc_auc.interval[1]
    assert report.roc_auc.value == pytest.approx(expected, abs=0.02)
    expected = average_precision_score(sample.y_test == 1, odds)
    assert report.average_precision.value == pytest.approx(expected, abs=0.02)


def test_the_confusion_matrix_is_that_of_labels_and_agrees_with_the_accuracy(
    report: lw.LabelFreeReport, labeled: LogisticRegression, sample: SUSample
) -> None:
    expected = confusion_matrix(sample.y_test, labeled.predict(sample.X_test), normalize="all")
    np.testing.assert_allclose(report.confusion, expected, atol=0.04)
    assert report.confusion.sum() == pytest.approx(1.0)
    assert np.trace(report.confusion) == pytest.approx(report.accuracy.value)


def test_the_baseline_is_the_share_of_the_majority(report: lw.LabelFreeReport) -> None:
    assert report.baseline is not None
    assert report.baseline.value == pytest.approx(max(report.prior.value, 1 - report.prior.value))
    assert report.baseline.interval[0] < 0.7 < report.baseline.interval[1]
    assert "majority-class baseline" in str(report)


@pytest.mark.slow
def test_exaggerated_probabilities_are_seen(sample: SUSample, labeled: LogisticRegression) -> None:
    class Exaggerating(LogisticRegression):
        def predict_proba(self, X: Any) -> Any:
            odds = 4.0 * self.decision_function(X)
            positive = 1.0 / (1.0 + np.exp(-odds))
            return np.column_stack([1.0 - positive, positive])

    loud = Exaggerating(C=100.0)
    loud.__dict__.update(labeled.__dict__)
    fair, told = (
        lw.label_free_report(clf, *sample.pack(), random_state=0).calibration
        for clf in (labeled, loud)
    )
    assert fair is not None
    assert told is not None
    assert told.error > 2.0 * fair.error


@pytest.mark.slow
def test_decision_values_rank_rows_too_and_bare_classes_do_not(sample: SUSample) -> None:
    X, y = lw.datasets.make_gaussians(2000, separation=2.5, random_state=9)
    svm = LinearSVC().fit(X, y)
    ranked = lw.label_free_report(svm, *sample.pack(), random_state=0)
    assert ranked.roc_auc is not None
    assert ranked.calibration is None

    class Bare:
        classes_ = svm.classes_
        predict = svm.predict

    bare = lw.label_free_report(Bare(), *sample.pack(), random_state=0)
    assert (bare.roc_auc, bare.curve, bare.calibration) == (None, None, None)
    assert "ROC" not in str(bare)
    np.testing.assert_allclose(bare.confusion, ranked.confusion)


def test_one_class_more_that_gains_next_to_nothing_is_called_hardly_better(
    report: lw.LabelFreeReport,
) -> None:
    (check,) = [one for one in report.checks if one.name == "2 classes"]
    assert check.passed
    assert check.text == "one more would hardly explain the pairs better."


@pytest.mark.slow
def test_classes_that_are_several_in_one_make_the_report_doubtful() -> None:
    X, y, _, _ = draw_three(250, 0)
    with pytest.warns(lw.exceptions.ClassesWarning):
        clf = quick(alphas=[0.01], pairing="random").fit(X, y)
    report = lw.label_free_report(clf, X, y, random_state=0)
    (check,) = [one for one in report.checks if one.name == "2 classes"]
    assert check.passed is False
    assert "with 3, held-out pairs are more probable" in check.text


@pytest.mark.slow
def test_more_classes_have_a_page_without_curves() -> None:
    X, y, _, _ = draw_three(250, 0)
    clf = quick(n_classes=3, alphas=[0.01]).fit(X, y)
    report = lw.label_free_report(clf, X, y, random_state=0)
    assert report.roc_auc is None
    assert report.calibration is not None
    assert report.confusion.shape == (3, 3)
    page = report.to_html()
    assert "called 2" in page
    assert "ROC" not in page


def test_the_page_says_what_the_report_says(report: lw.LabelFreeReport, tmp_path: Path) -> None:
    page = report.to_html(tmp_path / "report.html", title="Ours & theirs")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert "<title>Ours &amp; theirs</title>" in page
    assert f"{report.accuracy.value:.1%}" in page
    assert page.count("<svg") == 4
    for heading in ("Which classes are mixed up", "Other thresholds", "What would help"):
        assert heading in page
    for check in report.checks:
        assert check.name in page


def test_notebooks_show_tables(report: lw.LabelFreeReport) -> None:
    shown = report._repr_html_()
    assert shown.count("<table>") == 2
    assert "majority-class baseline" in shown
    assert f"{100 * report.accuracy.value:.1f} %" in shown


def test_everything_is_ready_for_json(report: lw.LabelFreeReport) -> None:
    import json

    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert found["roc_auc"]["value"] == report.roc_auc.value  # type: ignore[union-attr]
    assert len(found["suggestions"]) == 3
    assert np.shape(found["confusion"]) == (2, 2)


def test_what_helps_most_comes_first() -> None:
    good = suggest(0.9, (0.88, 0.92), 0.02, 0.905, 100)
    assert [one.name for one in good] == ["other columns", "more pairs", "another model"]
    assert good[1].gain == pytest.approx(0.04)
    assert "200 pairs" in good[1].text
    assert "±2.0 to about ±1.4" in good[1].text
    weak = suggest(0.6, (0.5, 0.7), -0.01, 0.9, 100)
    assert [one.name for one in weak] == ["another model", "other columns", "more pairs"]
    assert weak[-1].gain == 0.0
