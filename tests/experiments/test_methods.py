"""The methods: every entry answers for every row, and those that share an estimate share it."""

from typing import Any, Self

import numpy as np
import pytest

from likewise.baselines import DIMC
from likewise.classifiers import SUClassifierCV
from likewise.experiments import methods as module
from likewise.experiments.classification import clustering_accuracy, learn
from likewise.experiments.methods import METHODS, REFERENCE, SHARING, ordered, title_of
from likewise.experiments.samples import Draw, Task, draw_task

DRAW = Draw("gaussians", 300, 300, 200, prior=0.7, trial=1)


@pytest.fixture
def task() -> Task:
    return draw_task(DRAW)[0]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_from_an_easy_sample_the_same_each_time(method: str) -> None:
    first = learn(DRAW, method)
    draw_task.cache_clear()
    again = learn(DRAW, method)
    assert {**first, "seconds": 0} == {**again, "seconds": 0}
    assert first["accuracy"] > 0.7
    assert not first["collapsed"]
    assert 0.5 <= first["share"] <= 1
    assert first["seconds"] > 0


@pytest.mark.parametrize("method", SHARING[0])
def test_the_paper_s_methods_use_km2_and_the_paper_s_grid(method: str, task: Task) -> None:
    found = METHODS[method].fit(task)
    estimates, seconds = task.kernel_mean
    assert found.extras["prior_estimate"] == estimates["km2"].value
    assert found.extras["seconds"] > seconds  # though it was estimated before
    loss = method.removeprefix("su-").replace("-", "_")
    model = SUClassifierCV(loss, prior=estimates["km2"].value).fit(task.X, task.y)
    np.testing.assert_array_equal(found.test, model.predict(task.X_test))


def test_dimc_is_fitted_on_test_rows_too_and_scored_on_unlabeled_rows(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Spy(DIMC):
        def fit(self, X: Any, y: Any) -> Self:
            seen.append((X, y))
            super().fit(X, y)
            return self

    monkeypatch.setattr(module, "DIMC", Spy)
    found = METHODS["dimc"].fit(task)
    ((X, y),) = seen
    np.testing.assert_array_equal(X[-200:], task.X_test)
    assert np.count_nonzero(y == 0) == 300 + 200
    assert found.unlabeled.shape == (300,)


def test_labels_reach_what_is_there_to_be_reached(task: Task) -> None:
    _, y_test = draw_task(DRAW)
    best = clustering_accuracy(METHODS[REFERENCE].fit(task).test, y_test)
    assert best > 0.85


@pytest.mark.slow
def test_only_the_reference_looks_at_hidden_classes() -> None:
    task, _ = draw_task(Draw("gaussians", 40, 40, 40, prior=0.7, trial=0))
    shuffled = Task(task.X, task.y, task.X_test, -task.hidden, task.seed)
    for name, method in METHODS.items():
        same = np.array_equal(method.fit(task).test, method.fit(shuffled).test)
        assert same == (name != REFERENCE), name


def test_names_come_in_the_order_of_the_columns_and_lost_ones_last() -> None:
    assert ordered(["labels", "zzz", "su-squared", "km"]) == ["su-squared", "km", "labels", "zzz"]
    assert title_of("zzz") == "zzz"
    assert title_of("3smic") == "3SMIC"
