"""Accuracy without labels from statements about one table, for any number of classes."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import StatementSample, make_gaussians, make_waveform, sample_statements
from likewise.report import label_free
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here

N_TEST = 5000


def draw(name: str, n_rows: int, n_statements: int, seed: int = 0, **options: Any) -> Any:
    prior = None
    if name == "gaussians":
        pool, prior = make_gaussians(14_000, separation=2.5, random_state=seed), 0.7
    elif name == "waveform":
        pool, prior = make_waveform(16_000, random_state=seed), 0.7
    else:
        pool = make_waveform(12_000, n_classes=3, random_state=seed)
    return sample_statements(
        *pool, n_rows, n_statements, n_test=N_TEST, prior=prior, random_state=seed, **options
    )


def accuracy(clf: Any, X: Any, y: NDArray[Any]) -> float:
    """Of classes that are named as well as can be."""
    predicted = clf.predict(X)
    joint = np.array(
        [[np.mean((predicted == a) & (y == b)) for b in np.unique(y)] for a in clf.classes_]
    )
    return float(joint[linear_sum_assignment(joint, maximize=True)].sum())


def check_near(report: lw.LabelFreeReport, truth: float) -> None:
    """Within three standard errors, and no further than 0.05."""
    low, high = report.accuracy.interval
    error = (high - low) / 2 / 1.96
    assert abs(report.accuracy.value - truth) < max(3 * error, 0.03)
    assert abs(report.accuracy.value - truth) < 0.05


@pytest.fixture(scope="module")
def asked() -> StatementSample:
    found: StatementSample = draw("gaussians", 500, 1000)
    return found


@pytest.fixture(scope="module")
def clf(asked: StatementSample) -> lw.PairClassifier:
    clf = lw.PairClassifier(features="linear", random_state=0)
    clf.fit(*asked.pack())
    return clf


@pytest.fixture(scope="module")
def report(asked: StatementSample, clf: lw.PairClassifier) -> lw.LabelFreeReport:
    return lw.label_free_report(clf, *asked.pack(), random_state=0)


def test_answers_about_one_table_tell_the_accuracy_of_new_rows(
    report: lw.LabelFreeReport, asked: StatementSample, clf: lw.PairClassifier
) -> None:
    assert report.cross_fitted
    assert (report.n_pairs, report.n_rows) == (1000, 500)
    check_near(report, clf.score(asked.X_test, asked.y_test))
    assert report.prior.value == pytest.approx(np.mean(asked.y_table == 1), abs=0.02)


def test_the_table_is_judged_nearly_as_by_its_own_labels(
    asked: StatementSample, report: lw.LabelFreeReport
) -> None:
    """A classifier from elsewhere: 1000 answers determine nearly all of 500 rows."""
    other = LogisticRegression().fit(asked.X_test, asked.y_test)
    found = lw.label_free_report(other, *asked.pack(), random_state=0)
    right = other.predict(asked.table) == asked.y_table
    assert not found.cross_fitted
    assert found.accuracy.value == pytest.approx(right.mean(), abs=0.01)
    assert found.true_positive_rate.value == pytest.approx(
        right[asked.y_table == 1].mean(), abs=0.02
    )
    width = found.accuracy.interval[1] - found.accuracy.interval[0]
    binomial = 2 * 1.96 * np.sqrt(right.mean() * (1 - right.mean()) / 500)
    # Quantiles of 500 draws vary by 5 %; rows that are not determined vary less.
    assert 0.85 * binomial < width < 1.15 * binomial


def test_similar_statements_that_agree_are_counted(
    asked: StatementSample, report: lw.LabelFreeReport
) -> None:
    other = LogisticRegression().fit(asked.X_test, asked.y_test)
    found = lw.label_free_report(other, *asked.pack(), random_state=0).pair_agreement
    predicted = other.predict(asked.table)
    left, right = predicted[asked.similar].T
    assert found.value == pytest.approx(np.mean(left == right))
    assert found.interval[0] < found.value < found.interval[1]


def test_asked_pairs_are_not_tested_and_the_report_says_why(report: lw.LabelFreeReport) -> None:
    pairing, classes, other = report.checks
    assert classes.passed
    assert pairing.passed is other.passed is None
    assert "pairs were asked about" in pairing.text
    assert "several statements" in other.text
    assert "not tested; pairs were asked about" in str(report)


@pytest.mark.slow
def test_labels_of_a_table_as_a_vector_are_read_as_such() -> None:
    """Every row in one statement at most: separate pairs met among the rows of a table."""
    X, truth = make_gaussians(500, separation=3.0, random_state=0)
    by_class = [np.flatnonzero(truth == c) for c in (-1, 1)]
    pairs = np.concatenate([rows[: rows.size // 4 * 2].reshape(-1, 2) for rows in by_class])
    X, y = lw.pack(X, similar=pairs)
    assert y.ndim == 1
    clf = LogisticRegression().fit(X, truth)
    found = lw.label_free_report(clf, X, y, random_state=0)
    assert found.n_rows == 500
    assert found.accuracy.value == pytest.approx(clf.score(X, truth), abs=0.03)


def test_wrong_answers_need_an_error_rate(asked: StatementSample) -> None:
    X, y = asked.pack()
    y = y.copy().tolil()
    y[:, 0] *= -1  # one answer turned around, in a table where it cannot go unnoticed
    clf = LogisticRegression().fit(asked.X_test, asked.y_test)
    with pytest.raises(ValueError, match="error_rate='auto'"):
        lw.label_free_report(clf, X, y.tocsr(), random_state=0)
    found = lw.label_free_report(clf, X, y.tocsr(), error_rate=0.02, random_state=0)
    check_near(found, float(np.mean(clf.predict(X) == asked.y_table)))


@pytest.mark.parametrize("rate", [0.5, -0.1, "some"])
def test_error_rates_are_checked(
    asked: StatementSample, clf: lw.PairClassifier, rate: float | str
) -> None:
    with pytest.raises(ValueError, match="error_rate must be"):
        lw.label_free_report(clf, *asked.pack(), error_rate=rate)


def test_settings_of_a_classifier_that_learned_from_the_statements_are_taken_over(
    monkeypatch: pytest.MonkeyPatch, asked: StatementSample
) -> None:
    """Also from one inside a pipeline; from others, and from other statements, nothing is."""
    X, y = asked.pack()
    seen = []

    def learn(source: Any, maps: Any, settings: Any, *others: Any) -> Any:
        seen.append((settings.pairing, settings.error_rate))
        raise KeyboardInterrupt

    inner = lw.PairClassifier(features="linear", error_rate=0.05, alphas=[0.01], random_state=0)
    clf = make_pipeline(StandardScaler(), inner).fit(X, y)
    other = LogisticRegression().fit(asked.X_test, asked.y_test)
    monkeypatch.setattr(label_free, "learn", learn)
    for one, options in (
        (clf, {}),
        (clf, {"error_rate": "auto", "pairing": "random"}),
        (clf, {"trained_on_same_pairs": False}),
        (other, {}),
    ):
        with pytest.raises(KeyboardInterrupt):
            lw.label_free_report(one, X, y, **options)
    assert seen == [("asked", 0.05), ("random", None), ("asked", 0.0), ("asked", 0.0)]


def three_gaussians(seed: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centers = 2.0 * np.array([[1.0, 0.0], [-0.5, 0.87], [-0.5, -0.87]])
    return centers[truth] + rng.standard_normal((n, 2)), truth


@pytest.fixture(scope="module")
def of_three() -> tuple[lw.LabelFreeReport, Any]:
    """Asked about 300 rows; the classifier was fitted on labels, which are words."""
    X, truth = three_gaussians(0, 300)
    names = np.array(["ash", "elm", "oak"])
    sample = sample_statements(X, names[truth], 300, 600, random_state=0)
    new, of_new = three_gaussians(1, N_TEST)
    clf = LogisticRegression().fit(new[:400], names[of_new[:400]])
    with pytest.MonkeyPatch.context() as patch:  # radial features would take their time
        patch.setattr(label_free, "feature_maps", lambda *_, **__: [("linear", None)])
        report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    right = clf.predict(sample.table) == sample.y_table
    return report, {
        "accuracy": clf.score(new, names[of_new]),
        "right": right,
        "classes": sample.y_table,
    }


def test_three_classes_have_recalls_and_shares_by_name(
    of_three: tuple[lw.LabelFreeReport, Any],
) -> None:
    report, truth = of_three
    check_near(report, truth["accuracy"])
    assert list(report.recall) == list(report.prior) == ["ash", "elm", "oak"]
    for name in report.recall:
        of_class = truth["classes"] == name
        assert report.recall[name].value == pytest.approx(truth["right"][of_class].mean(), abs=0.04)
        assert report.prior[name].value == pytest.approx(of_class.mean(), abs=0.03)
        low, high = report.recall[name].interval
        assert low <= report.recall[name].value <= high
    assert report.true_positive_rate is None
    assert report.false_positive_rate is None


def test_three_classes_print_and_export(of_three: tuple[lw.LabelFreeReport, Any]) -> None:
    report, _ = of_three
    text = str(report)
    assert "recall of class elm" in text
    assert "positive" not in text
    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert found["recall"]["oak"]["value"] == report.recall["oak"].value
    assert found["true_positive_rate"] is None
    frame = report.to_frame()
    assert frame.loc["share of class ash", "low"] == report.prior["ash"].interval[0]
    assert len(frame) == 9
    np.testing.assert_allclose(report.probabilities.sum(axis=1), 1.0)
    assert report.probabilities.shape == (300, 3)


def test_the_picture_of_three_classes_counts_rows_by_both_classes(
    of_three: tuple[lw.LabelFreeReport, Any],
) -> None:
    report, _ = of_three
    left, right = report.plot().axes
    assert [label.get_text() for label in left.get_yticklabels()][-3] == "recall of class ash"
    shares = np.asarray(right.images[0].get_array())
    assert shares.sum() == pytest.approx(100.0)
    assert len(right.texts) == 9
    assert [label.get_text() for label in right.get_xticklabels()] == ["ash", "elm", "oak"]


def test_statements_without_a_signal_get_no_number() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    sample = sample_statements(rng.normal(size=(200, 3)), truth, 200, 150, random_state=0)
    clf = LogisticRegression().fit(rng.normal(size=(100, 3)), np.arange(100) % 2)
    with pytest.raises(lw.NoSignalError, match="no signal"):
        lw.label_free_report(clf, *sample.pack(), random_state=0)


def test_rows_kept_for_answers_do_not_stand_for_others_where_there_are_very_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All questions are about rows near the boundary, where a classifier is often wrong."""
    monkeypatch.setattr(label_free, "_MOST", 900)
    X, truth = make_gaussians(9000, separation=3.0, random_state=0)
    clf = LogisticRegression().fit(X, truth)
    hard = np.argsort(np.abs(clf.decision_function(X)))[:1000]
    sample = sample_statements(X[hard], truth[hard], 1000, 600, random_state=0)
    rows = np.concatenate([sample.table, np.delete(X, hard, axis=0)])
    X, y = lw.pack(rows, similar=sample.similar, dissimilar=sample.dissimilar)
    found = lw.label_free_report(clf, X, y, random_state=0)
    assert found.n_rows == 600
    assert found.n_pairs == 600
    right = np.mean(clf.predict(sample.table) == sample.y_table)
    assert right < 0.75
    truth = np.concatenate([sample.y_table, np.delete(truth, hard)])
    assert found.accuracy.value == pytest.approx(np.mean(clf.predict(rows) == truth), abs=0.04)


def test_pairs_met_among_very_many_rows_become_fresh_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_free, "_MOST", 400)
    X, truth = make_gaussians(6000, separation=3.0, random_state=0)
    sample = sample_statements(X, truth, 5000, 4000, kind="met", prior=0.7, random_state=0)
    clf = lw.SUClassifier("squared", prior=0.7, alpha=0.1).fit(*sample.pack())
    found = lw.label_free_report(clf, *sample.pack(), random_state=0)
    assert found.cross_fitted
    assert (found.n_rows, found.n_pairs) == (385, 400)
    right = np.mean(clf.predict(sample.table) == sample.y_table)
    assert found.accuracy.value == pytest.approx(right, abs=0.04)


# Against fresh test rows, every kind of statement.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussians", "waveform"])
@pytest.mark.parametrize("kind", ["asked", "wrong", "met"])
def test_the_accuracy_of_new_rows_is_found(name: str, kind: str) -> None:
    options: dict[str, Any] = {}
    if kind == "asked":
        sample = draw(name, 500, 1000, seed=1)
    elif kind == "wrong":
        sample = draw(name, 500, 2000, seed=1, error_rate=0.1)
        options["error_rate"] = "auto"
    else:
        sample = draw(name, 400, 400, seed=1, kind="met")
    clf = lw.PairClassifier(features="linear", random_state=0, **options).fit(*sample.pack())
    report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    check_near(report, clf.score(sample.X_test, sample.y_test))


@pytest.mark.slow
def test_the_accuracy_of_three_classes_is_found_from_answers() -> None:
    sample = draw("three", 600, 900)
    clf = lw.PairClassifier(3, features="linear", random_state=0).fit(*sample.pack())
    report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    check_near(report, accuracy(clf, sample.X_test, sample.y_test))


@pytest.mark.slow
def test_the_accuracy_of_three_classes_is_found_from_fresh_pairs() -> None:
    X, truth = make_waveform(12_000, n_classes=3, random_state=1)
    pairs = np.arange(400, 4400).reshape(-1, 2)
    left, right = pairs[truth[pairs[:, 0]] == truth[pairs[:, 1]]][:400].T
    weak = lw.pack(X[:400], similar=(X[left], X[right]))
    clf = lw.PairClassifier(3, features="linear", random_state=0).fit(*weak)
    report = lw.label_free_report(clf, *weak, random_state=0)
    check_near(report, accuracy(clf, X[-N_TEST:], truth[-N_TEST:]))
    assert [check.passed for check in report.checks] == [True, True, None]


def test_answers_that_all_touch_one_row_tell_the_accuracy() -> None:
    """Clones that do not see that row learn from what the answers imply of the others."""
    rows, classes = lw.datasets.make_gaussians(5060, separation=4.0, random_state=0)
    X, y = rows[:60], classes[:60]
    others = np.arange(1, 40)
    pairs = np.column_stack([np.zeros_like(others), others])
    same = y[others] == y[0]
    packed = lw.pack(X, pairs[same], pairs[~same])
    clf = lw.PairClassifier(features="linear", alphas=[0.1], random_state=0).fit(*packed)
    report = lw.label_free_report(clf, *packed, random_state=0)
    low, high = report.accuracy.interval
    assert low <= clf.score(rows[60:], classes[60:]) <= high


@pytest.mark.slow
def test_pairs_that_all_touch_one_row_are_too_few() -> None:
    """Without the fold of that row nothing is left to refit a clone on."""
    X, y = lw.datasets.make_gaussians(60, separation=4.0, random_state=0)
    others = np.flatnonzero(y[1:] == y[0])[:30] + 1
    packed = lw.pack(X, np.column_stack([np.zeros_like(others), others]))
    clf = lw.PairClassifier(features="linear", alphas=[0.1], random_state=0)
    with pytest.warns(lw.exceptions.PairingWarning):
        clf.fit(*packed)
    with pytest.raises(lw.NoSignalError, match="about rows of one fold"):
        lw.label_free_report(clf, *packed, random_state=0)
