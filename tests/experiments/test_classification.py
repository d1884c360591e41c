"""One trial: what is recorded of a method that does well, gives up, or answers nonsense."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from likewise.experiments.classification import clustering_accuracy, learn
from likewise.experiments.methods import METHODS, Answer, Method
from likewise.experiments.samples import Draw, Task, draw_task

DRAW = Draw("gaussians", 20, 100, 50, prior=0.7, trial=0)


@pytest.fixture
def as_method(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Task], Answer]], None]:
    def put(fit: Callable[[Task], Answer]) -> None:
        monkeypatch.setitem(METHODS, "mine", Method("mine", fit))

    return put


def constant(task: Task, **extras: Any) -> Answer:
    return Answer(np.ones(len(task.X_test)), np.ones(len(task.unlabeled)), extras)


def test_which_cluster_is_positive_is_forgiven() -> None:
    truth = np.array([1, 1, -1, -1])
    assert clustering_accuracy(truth, truth) == clustering_accuracy(-truth, truth) == 1
    assert clustering_accuracy(np.array([1, 1, 1, -1]), truth) == 0.75


def test_a_constant_answer_is_flagged(as_method: Any) -> None:
    as_method(constant)
    record = learn(DRAW, "mine")
    _, y_test = draw_task(DRAW)
    assert record["accuracy"] == np.mean(y_test == 1)
    assert record["share"] == 1
    assert record["collapsed"] is True
    assert record["converged"] is True
    assert record["notes"] == []
    assert record["prior_estimate"] is None


def test_extras_are_recorded_and_may_correct_the_clock(as_method: Any) -> None:
    as_method(lambda task: constant(task, prior_estimate=0.6, seconds=12.5))
    record = learn(DRAW, "mine")
    assert (record["prior_estimate"], record["seconds"]) == (0.6, 12.5)


def test_warnings_are_recorded_not_shown(as_method: Any) -> None:
    def fit(task: Task) -> Answer:
        for _ in range(2):
            warnings.warn("mind the\ngap", UserWarning, stacklevel=2)
        warnings.warn("not there yet", ConvergenceWarning, stacklevel=2)
        return constant(task)

    as_method(fit)
    record = learn(DRAW, "mine")  # a shown warning would be an error here
    assert record["converged"] is False
    assert record["notes"] == ["mind the gap"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(np.ones(49), np.ones(100)),
        Answer(np.ones(50), np.ones(99)),
        Answer(np.zeros(50), np.ones(100)),
        Answer(np.full(50, np.nan), np.ones(100)),
    ],
)
def test_an_answer_that_is_none_is_refused(as_method: Any, answer: Answer) -> None:
    as_method(lambda task: answer)
    with pytest.raises(ValueError, match="must hold -1 or \\+1 for each of"):
        learn(DRAW, "mine")
