"""Expectation maximisation: rounds, judgement, starts, and what they are checked against."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise._verbose import telling
from likewise.beliefs.base import Beliefs, log_probabilities
from likewise.scores.models import score_of
from likewise.search.em import learn_model, settles, targets_of
from likewise.search.settings import Settings
from likewise.statements.labels import read_labels
from tests.classifiers.quick import draw_table, share_right

ASKED = Settings(cv=3, pairing="asked")


def learn(sample: Any, estimator: Any, settings: Settings = ASKED, **more: Any) -> Any:
    X, y = sample.pack()
    random = np.random.RandomState(0)
    return learn_model(X, read_labels(y), estimator, settings, random, **more)


def test_scores_of_a_linear_model_are_those_that_labels_give() -> None:
    """Where answers settle the rows, the classifier is the one of the true labels."""
    sample = draw_table(200, 1000)
    learned, _ = learn(sample, LogisticRegression())
    labeled = LogisticRegression().fit(sample.table, (sample.y_table == 1).astype(int))
    expected = score_of(labeled, 2, 200).transformer.transform(sample.X_test)[:, 0]
    found = learned.scores(sample.X_test)[:, 0]
    np.testing.assert_allclose(np.sign(found @ expected) * found, expected, rtol=0.01, atol=0.01)


def test_rounds_end_no_lower_than_they_began() -> None:
    for seed in range(3):
        sample = draw_table(120, 90, seed=seed)
        _, history = learn(sample, DecisionTreeClassifier(max_depth=4))
        assert history.information[history.best] == max(history.information)
        assert len(history.information) == len(history.change)


def test_every_row_is_scored_by_a_model_that_did_not_see_it() -> None:
    """A tree knows each row that it was fitted to by heart, and none of these are its judges."""
    sample = draw_table(150, 300)
    noise = np.random.default_rng(0).normal(size=(150, 3))
    X, y = lw.pack(noise, sample.similar, sample.dissimilar)
    learned, history = learn_model(
        X, read_labels(y), DecisionTreeClassifier(), ASKED, np.random.RandomState(0)
    )
    assert not learned.has_signal
    assert max(history.information) < 0.01


def test_a_start_is_gone_on_from() -> None:
    """Where statements are few, what rows look like at the start decides which class is which."""
    sample = draw_table(200, 100, "met")
    settings = Settings(cv=3, pairing="random")
    truth = np.column_stack([1.0 - 0.9 * (sample.y_table == 1), 0.1 + 0.8 * (sample.y_table == 1)])
    start = np.log(truth / truth.sum(axis=1, keepdims=True))
    for sign in (1, -1):
        learned, _ = learn(sample, GaussianNB(), settings, start=start[:, ::sign])
        found = learned.scores(sample.X_test)[:, 0] * sign > 0
        assert np.mean(found == (sample.y_test == 1)) > 0.85


def test_statements_settle_rows_or_do_not() -> None:
    for n, kind, expected in ((1000, "asked", True), (60, "asked", False), (150, "met", False)):
        statements = read_labels(draw_table(150, n, kind).pack()[1])
        pairing = "asked" if kind == "asked" else "random"
        assert settles(Settings(pairing=pairing).likelihood(statements)) is expected


def test_fresh_pairs_are_weighed_down_to_the_shares_among_rows() -> None:
    X, y = lw.datasets.make_gaussians(6000, separation=3.0, random_state=0)
    sample = lw.datasets.sample_su(X, y, 400, 300, n_test=1000, prior=0.7, random_state=0)
    likelihood = Settings().likelihood(read_labels(sample.pack()[1]))
    rows = sample.pack()[0]
    beliefs = likelihood.evaluate(log_probabilities(3.0 * rows[:, :1]))
    weights = targets_of(beliefs, likelihood)
    np.testing.assert_allclose(weights.mean(axis=0), beliefs.shares)
    plain: Beliefs = beliefs
    assert plain.posteriors.mean(axis=0)[1] > beliefs.shares[1] + 0.02  # what it undoes
    learned, _ = learn_model(
        *(rows, read_labels(sample.pack()[1]), LogisticRegression(), Settings(cv=3)),
        np.random.RandomState(0),
        start=log_probabilities(3.0 * rows[:, :1]),
    )
    assert share_right(learned.scores(sample.X_test)[:, 0] > 0, sample.y_test) > 0.9


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_same_seed_gives_the_same_model(n_jobs: int | None) -> None:
    sample = draw_table(100, 200)
    settings = Settings(cv=2, pairing="asked", n_jobs=n_jobs)
    first, second = (
        learn(sample, DecisionTreeClassifier(max_features=1), settings)[0].scores(sample.X_test)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    alone = learn(sample, DecisionTreeClassifier(max_features=1), Settings(cv=2, pairing="asked"))
    np.testing.assert_array_equal(first, alone[0].scores(sample.X_test))


def test_progress_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    sample = draw_table(80, 200)
    learn(sample, GaussianNB())
    assert not capsys.readouterr().out
    with telling("PairClassifier", True):
        _, history = learn(sample, GaussianNB())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(history.information)
    assert f"{history.information[0]:.4f} nats" in lines[0]
