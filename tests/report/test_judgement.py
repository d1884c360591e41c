"""Probabilities that explain statements, and what they say of predictions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import FreshLikelihood, in_order
from likewise.beliefs.table import TableLikelihood
from likewise.report.judgement import Judgement, agreement, draw_values, judge
from likewise.report.predictions import Predicted, Scores
from likewise.statements.labels import TableLabels, read_labels
from likewise.statements.packing import pack

IntArray = NDArray[np.intp]


def judgement(scores: FloatArray, predictions: IntArray, likelihood: Likelihood) -> Judgement:
    """Scores that are the true log-odds of the second of two classes."""
    both = np.column_stack([np.zeros(scores.size), scores])
    return Judgement(both, predictions, np.arange(2), likelihood, np.ones(scores.size), np.zeros(3))


def fresh(counts: Counts, rng: np.random.Generator) -> tuple[FloatArray, IntArray, Likelihood]:
    truth = 2.0 * rng.standard_normal(counts.rows) + 0.8
    return truth, (truth > 0).astype(np.intp), FreshLikelihood(in_order(counts), 2)


def met(rng: np.random.Generator, n_rows: int, k: int) -> tuple[FloatArray, IntArray, Any]:
    """Scores, hidden classes and statements "alike" about one table of k Gaussians."""
    classes = rng.integers(k, size=n_rows)
    scores = 1.5 * rng.standard_normal((n_rows, k)) + 2.25 * np.eye(k)[classes]
    pairs = rng.integers(n_rows, size=(20 * n_rows, 2))
    alike = (classes[pairs[:, 0]] == classes[pairs[:, 1]]) & (pairs[:, 0] != pairs[:, 1])
    return scores, classes, pack(scores, similar=pairs[alike][:n_rows])[1]


def test_clones_that_fall_behind_are_allowed_for(rng: np.random.Generator) -> None:
    """Of rows with known log-odds, clones predict a tenth at random and the classifier none."""
    truth, own, likelihood = fresh(Counts(400, 300), rng)
    coin = rng.integers(2, size=(5, own.size))
    clones = np.where(rng.random((5, own.size)) < 0.1, coin, own)
    judged = judgement(truth, own, likelihood)
    beliefs = judged.evaluate()
    np.testing.assert_array_equal(judged.lag(beliefs), 0.0)
    same = replace(judged, ahead=Predicted(own, own, np.array([own, own]), Scores()).ahead(2))
    np.testing.assert_array_equal(same.lag(beliefs), 0.0)
    held_out = clones[np.arange(own.size) % 5, np.arange(own.size)]
    judged = replace(judged, ahead=Predicted(held_out, own, clones, Scores()).ahead(2))
    behind = judged.lag(beliefs)
    accuracy = judged.values(beliefs)[0]
    assert behind[0] == pytest.approx(0.1 * (accuracy - 0.5), abs=0.01)
    assert behind[1] > 0
    assert behind[2] > 0
    np.testing.assert_allclose(behind[3:], 0.0, atol=1e-12)


def test_a_clone_that_predicts_one_class_alone_has_no_say_in_what_classes_are_called() -> None:
    """Its rates are known: all rows of one class are found, and its share of rows is right."""
    for seed in range(20):
        truth, own, likelihood = fresh(Counts(100, 100), np.random.default_rng(seed))
        clones = np.array([own, np.ones_like(own)])  # the first did not see any of these rows
        ahead = Predicted(own, own, clones, Scores()).ahead(2)
        judged = replace(judgement(truth, own, likelihood), ahead=ahead)
        beliefs = judged.evaluate()
        accuracy, misses, hits, _, prior = judged.values(beliefs)
        behind = judged.lag(beliefs)
        np.testing.assert_allclose(behind[:3], [accuracy - prior, misses, hits - 1.0])


@pytest.mark.parametrize("k", [2, 3])
def test_statements_tell_how_often_predictions_are_right(rng: np.random.Generator, k: int) -> None:
    """Predictions see other noise than the scores do; the classes have other numbers."""
    scores, classes, y = met(rng, 500, k)
    likelihood = TableLikelihood(read_labels(y), k, "random")
    is_wrong = rng.random(500) < 0.25
    predictions = (np.where(is_wrong, classes + 1, classes) + 1) % k
    given = scores[:, 1:] - scores[:, :1] if k == 2 else scores
    judged, beliefs = judge(given, predictions.astype(np.intp), likelihood)
    values = judged.values(beliefs)
    assert values[0] == pytest.approx(1.0 - is_wrong.mean(), abs=0.02)
    for c in range(k):
        of_class = (classes + 1) % k == c
        assert values[1 + c] == pytest.approx(1.0 - is_wrong[of_class].mean(), abs=0.03)
        assert values[1 + k + c] == pytest.approx(of_class.mean(), abs=0.03)


def test_draws_of_a_determined_table_vary_as_a_sample_of_rows_does(
    rng: np.random.Generator,
) -> None:
    scores, classes, y = met(rng, 400, 2)
    likelihood = TableLikelihood(read_labels(y), 2, "random")
    predictions = np.where(rng.random(400) < 0.2, 1 - classes, classes).astype(np.intp)
    judged, beliefs = judge(scores[:, 1:] - scores[:, :1], predictions, likelihood)
    draws = draw_values(judged, beliefs, np.random.RandomState(0))
    assert draws.shape == (500, 8)
    assert draws[:, 0].std() == pytest.approx(np.sqrt(0.2 * 0.8 / 400), rel=0.25)
    np.testing.assert_allclose(draws[:, 3:5].sum(axis=1), 1.0)


def test_draws_vary_as_estimates_do_from_sample_to_sample() -> None:
    """Where answers determine some rows, rates and calibration err together."""
    rng, errors, spreads = np.random.default_rng(0), [], []
    for _ in range(80):
        n_rows = 300
        classes = (rng.random(n_rows) < 0.6).astype(np.intp)
        scores = 2.5 * (classes - 0.5) + rng.standard_normal(n_rows)
        odds = 2.5 * scores + np.log(0.6 / 0.4)  # of the second class
        pairs = rng.permutation(n_rows).reshape(-1, 2)
        alike = classes[pairs[:, 0]] == classes[pairs[:, 1]]
        y = pack(scores[:, None], similar=pairs[alike], dissimilar=pairs[~alike])[1]
        likelihood = TableLikelihood(read_labels(y), 2, "asked")
        judged, beliefs = judge(odds[:, None], (odds > 0).astype(np.intp), likelihood)
        draws = draw_values(judged, beliefs, np.random.RandomState(0))
        errors.append(judged.values(beliefs)[0])
        spreads.append(draws[:, 0].std())
    assert np.std(errors) == pytest.approx(np.mean(spreads), rel=0.15)


@pytest.mark.parametrize(
    ("predictions", "accuracy"),
    [
        # Four rows are predicted to be of class 0, and are not: two of three draws would be so.
        pytest.param(np.repeat([0, 1], [4, 296]), 0.887, id="four odd rows"),
        # Every row of class 0 is found, beside 160 of class 1: fewer than half are right.
        pytest.param(np.repeat([1, 0], [110, 190]), 140 / 300, id="a clear link"),
    ],
)
def test_classes_are_named_by_how_many_are_right_unless_a_link_is_clear(
    predictions: IntArray, accuracy: float
) -> None:
    """What is predicted seldom, and wrongly, once turned all classes round: accuracy 0.11."""
    classes = np.repeat([1, 0], [270, 30])  # the last 30 rows are of class 0
    y = pack(np.empty((300, 0)), dissimilar=[(0, 299)])[1]
    likelihood = TableLikelihood(read_labels(y), 2, "asked", known=classes)
    judged = judgement(np.zeros(300), predictions, likelihood)
    assert judged.values(judged.evaluate())[0] == pytest.approx(accuracy, abs=1e-3)


def test_rows_that_do_not_stand_for_others_have_no_weight(rng: np.random.Generator) -> None:
    scores, classes, y = met(rng, 300, 2)
    likelihood = TableLikelihood(read_labels(y), 2, "random")
    counted = np.arange(300) < 150
    predictions = np.where(counted, classes, 0).astype(np.intp)
    judged, beliefs = judge(
        scores[:, 1:] - scores[:, :1], predictions, likelihood, counted.astype(np.float64)
    )
    assert judged.values(beliefs)[0] > 0.95


def test_a_group_agrees_if_all_of_its_rows_do() -> None:
    statements = read_labels(TableLabels.of([1, 1, 1, 2, 2, 0, -3, -3]))
    likelihood = TableLikelihood(statements, 2)
    value, error = agreement(np.array([0, 0, 1, 1, 1, 0, 0, 0]), likelihood)
    assert value == 0.5
    assert error == pytest.approx(np.sqrt(2 * 0.25) / 2)


def test_the_error_of_the_agreement_counts_rows_in_several_statements(
    rng: np.random.Generator,
) -> None:
    """Against the spread over many draws of rows: 30 hubs with ten partners each."""
    hubs = np.repeat(np.arange(30), 10)
    _, y = pack(np.zeros((330, 1)), similar=np.column_stack([hubs, 30 + np.arange(300)]))
    likelihood = TableLikelihood(read_labels(y), 2)
    found = []
    for _ in range(300):
        predictions = (rng.random(330) < 0.8).astype(np.intp)
        found.append(agreement(predictions, likelihood))
    values, errors = np.array(found).T
    assert values.std() == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.1)
    assert values.std() > 1.2 * np.sqrt(values.mean() * (1 - values.mean()) / 300)


def test_without_similar_statements_there_is_no_agreement() -> None:
    likelihood = TableLikelihood(read_labels(TableLabels.of([-1, -1, 0])), 2)
    assert np.isnan(agreement(np.zeros(3, dtype=np.intp), likelihood)).all()
