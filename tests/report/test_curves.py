"""Curves and areas from class probabilities instead of labels."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from likewise.report.curves import areas, calibration_curve, threshold_curve


def test_with_certain_classes_areas_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    truth = rng.integers(2, size=200).astype(np.float64)
    scores = np.round(truth + rng.standard_normal(200), 1)  # with ties
    weights = rng.random(200)
    roc, average = areas(scores, weights, truth)
    assert roc == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights))
    assert average == pytest.approx(average_precision_score(truth, scores, sample_weight=weights))


def test_with_certain_classes_the_curve_is_that_of_scikit_learn(rng: np.random.Generator) -> None:
    truth = rng.integers(2, size=80).astype(np.float64)
    scores = truth + rng.standard_normal(80)
    curve = threshold_curve(scores, np.ones(80), truth)
    precision, recall, _ = precision_recall_curve(truth, scores)
    np.testing.assert_allclose(curve.precision[1:], precision[:-1][::-1])
    np.testing.assert_allclose(curve.true_positive_rate[1:], recall[:-1][::-1])
    for threshold, share, hits in zip(
        curve.thresholds, curve.share, curve.true_positive_rate, strict=True
    ):
        called = scores > threshold
        assert called.mean() == pytest.approx(share)
        assert truth[called].sum() / truth.sum() == pytest.approx(hits)


def test_calibrated_probabilities_give_the_area_of_the_hidden_classes(
    rng: np.random.Generator,
) -> None:
    odds = 2.0 * rng.standard_normal(200_000)
    positive = 1.0 / (1.0 + np.exp(-odds))
    truth = rng.random(odds.size) < positive
    found = areas(odds, np.ones(odds.size), positive)
    expected = [roc_auc_score(truth, odds), average_precision_score(truth, odds)]
    np.testing.assert_allclose(found, expected, atol=0.004)


def test_a_share_of_rows_can_be_asked_for() -> None:
    curve = threshold_curve(np.arange(10.0), np.ones(10), np.arange(10) / 9.0)
    at = curve.at_share(0.2)
    assert at["share"] == pytest.approx(0.2)
    assert at["precision"] == pytest.approx(np.mean([1.0, 8 / 9]))
    assert len(curve.to_dict()["thresholds"]) == 11


def test_overconfident_probabilities_show_below_the_diagonal(rng: np.random.Generator) -> None:
    odds = 1.5 * rng.standard_normal(5000)
    right = 1.0 / (1.0 + np.exp(-odds))
    given = 1.0 / (1.0 + np.exp(-3.0 * odds))
    predicted = (odds > 0).astype(np.intp)
    both = [np.column_stack([1.0 - p, p]) for p in (given, right)]
    curve = calibration_curve(both[0], np.ones(5000), both[1], predicted)
    assert curve.predicted.size == 10
    np.testing.assert_allclose(curve.weights, 0.1, atol=0.001)
    assert curve.predicted[-1] > curve.observed[-1] + 0.02
    assert curve.predicted[0] < curve.observed[0] - 0.02
    assert curve.error == pytest.approx(np.mean(np.abs(given - right)), abs=0.01)
    exact = calibration_curve(both[1], np.ones(5000), both[1], predicted)
    assert exact.error == pytest.approx(0.0, abs=1e-12)


def test_of_more_classes_the_predicted_one_is_looked_at() -> None:
    given = np.array([[0.8, 0.1, 0.1], [0.2, 0.2, 0.6]])
    found = np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]])
    curve = calibration_curve(given, np.ones(2), found, np.array([0, 2]))
    np.testing.assert_allclose(curve.predicted, [0.6, 0.8])
    np.testing.assert_allclose(curve.observed, [1.0, 0.5])
