"""Figure 5: what a trial learns from, and what is shown of the records."""

import matplotlib as mpl
import numpy as np
import pytest

from likewise.classifiers import SUClassifierCV
from likewise.experiments import unlabeled
from likewise.experiments.samples import Draw, draw_task
from likewise.experiments.unlabeled import (
    EXPERIMENT,
    PRIORS,
    falling,
    hardest_near_half,
    measure,
    plot,
    sections,
)

from .made_up import made_up

mpl.use("Agg")


@pytest.mark.parametrize("prior", [0.1, 0.7])
def test_a_trial_is_the_squared_loss_with_the_true_prior_and_200_pairs(prior: float) -> None:
    record = measure(
        experiment="unlabeled",
        dataset="gaussians",
        method="su-squared",
        trial=2,
        n_unlabeled=400,
        prior=prior,
    )
    task, y_test = draw_task(Draw("gaussians", 200, 400, 1000, prior, 2))
    model = SUClassifierCV("squared", prior=prior).fit(task.X, task.y)
    assert record["error"] == pytest.approx(np.mean(model.predict(task.X_test) != y_test))
    assert record["accuracy"] == pytest.approx(1 - record["error"])
    assert record["alpha"] in (1e-1, 1e-4, 1e-7)
    assert record["n_test"] == 1000


@pytest.mark.parametrize(("n_positive", "n_test"), [(9000, 1000), (1900, 400), (1500, 100)])
def test_as_many_test_rows_are_taken_as_the_pool_has_to_spare(
    monkeypatch: pytest.MonkeyPatch, n_positive: int, n_test: int
) -> None:
    """At prior 0.7, 200 pairs and 1600 rows take 338 + 1120 rows of the majority class."""
    y = np.repeat([1, -1], [n_positive, 9000])
    monkeypatch.setattr(unlabeled, "pool", lambda _: (None, y))
    assert unlabeled._n_test("any", 0.7) == n_test


def test_more_unlabeled_rows_and_a_prior_far_from_one_half_help() -> None:
    def error(n_unlabeled: int, prior: float) -> float:
        trials = [
            measure(
                experiment="unlabeled",
                dataset="gaussians",
                method="su-squared",
                trial=trial,
                n_unlabeled=n_unlabeled,
                prior=prior,
            )
            for trial in range(20)
        ]
        return float(np.mean([record["error"] for record in trials]))

    assert error(1600, 0.7) < error(200, 0.7)
    assert error(400, 0.1) < error(400, 0.7) < error(400, 0.4)


def test_the_plan_is_the_paper_s() -> None:
    full = EXPERIMENT.full
    assert full.settings == {"n_unlabeled": (200, 400, 800, 1600), "prior": (0.1, 0.4, 0.7)}
    assert (len(full.datasets), full.trials) == (12, 50)
    assert "phoneme" in full.datasets


def test_datasets_on_which_the_error_falls_are_counted() -> None:
    records = [
        *made_up([0.3], "error", dataset="a", n_unlabeled=200, prior=0.1),
        *made_up([0.1], "error", dataset="a", n_unlabeled=800, prior=0.1),
        *made_up([0.2], "error", dataset="b", n_unlabeled=200, prior=0.1),
        *made_up([0.2], "error", dataset="b", n_unlabeled=400, prior=0.1),
        *made_up([None], "error", dataset="b", n_unlabeled=800, prior=0.1),
        *made_up([0.2], "error", dataset="b", n_unlabeled=200, prior=0.7),
    ]
    assert falling(records) == {0.1: {"a": True}}  # of b nothing is known with the most rows
    assert "on 1 of 1 sets at prior 0.1;" in sections(records)[0].paragraphs[-1]


def test_where_the_error_is_largest_near_one_half_is_counted() -> None:
    errors = {"a": (0.1, 0.3, 0.2), "b": (0.1, 0.2, 0.2), "c": (0.1, 0.3, None)}
    records = [
        record
        for dataset, values in errors.items()
        for prior, value in zip(PRIORS, values, strict=True)
        for record in made_up([value], "error", dataset=dataset, n_unlabeled=200, prior=prior)
    ]
    assert hardest_near_half(records) == {("a", 200): True, ("b", 200): False}
    assert "shows no trend" in sections(records[:1])[0].paragraphs[-1]


def test_table_and_picture_show_mean_errors() -> None:
    records = [
        *made_up([0.1, 0.3], "error", dataset="a", n_unlabeled=200, prior=0.1),
        *made_up([0.1, 0.1], "error", dataset="a", n_unlabeled=400, prior=0.1),
        *made_up([None, None], "error", dataset="a", n_unlabeled=200, prior=0.7),
    ]
    ((table,),) = (section.tables for section in sections(records))
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [["a", "0.1", "20.0 (10.0)", "10.0 (0.0)"], ["a", "0.7", "failed", ""]]
    (panel,) = plot(records).axes
    (line,) = panel.lines
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), [20, 10])
    (band,) = panel.collections
    heights = np.asarray(band.get_paths()[0].vertices, dtype=float)[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((10, 30))
