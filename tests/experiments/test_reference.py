"""What labels give is what scikit-learn's grid search would choose."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from likewise.experiments.reference import _best_machine, fit_reference
from likewise.experiments.samples import Draw, draw_task


@pytest.mark.parametrize("dataset", ["gaussians", "ringnorm"])
def test_the_machine_is_the_one_that_a_grid_search_finds(dataset: str) -> None:
    task, _ = draw_task(Draw(dataset, 50, 100, 200, prior=0.7, trial=0))
    widths = [width / task.X.shape[1] for width in (0.1, 0.5, 2)]
    search = GridSearchCV(SVC(), {"C": [1, 10, 100], "gamma": widths}).fit(task.X, task.hidden)
    setting, score = _best_machine(task.X, task.hidden)
    assert setting == search.best_params_
    assert score == pytest.approx(search.best_score_)


def test_the_better_of_a_line_and_a_kernel_is_taken() -> None:
    inside, _ = draw_task(Draw("ringnorm", 50, 100, 200, prior=0.7, trial=0))
    assert isinstance(fit_reference(inside.X, inside.hidden), SVC)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    assert fit_reference(X, y).score(X, y) > 0.95
