"""Figure 4: what a trial records, and what is shown of the records."""

import json

import matplotlib as mpl
import numpy as np
import pytest

from likewise.experiments.prior import EXPERIMENT, METHODS, PRIOR, measure, plot, sections
from likewise.experiments.runner import Record, run_trials
from likewise.experiments.samples import Draw, draw_task
from likewise.prior import PairMomentPrior

from .made_up import made_up

mpl.use("Agg")


def run(dataset: str, n: int, method: str, trial: int) -> Record:
    return measure(experiment="prior", dataset=dataset, method=method, trial=trial, n=n)


def untimed(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_trial_depends_on_its_settings_alone(method: str) -> None:
    first = run("gaussians", 60, method, 0)
    run("gaussians", 60, method, 1)
    again = run("gaussians", 60, method, 0)
    assert untimed(first) == untimed(again)
    assert first["error"] == pytest.approx(abs(first["value"] - PRIOR))
    assert first["seconds"] > 0
    assert json.loads(json.dumps(first)) == first


@pytest.mark.slow
def test_the_methods_estimate_from_half_pairs_and_half_rows_of_the_same_sample() -> None:
    task, _ = draw_task(Draw("gaussians", 30, 30, 0, PRIOR, 3))
    estimates, _ = task.kernel_mean
    assert run("gaussians", 60, "km1", 3)["value"] == estimates["km1"].value
    assert run("gaussians", 60, "km2", 3)["value"] == estimates["km2"].value
    moments = PairMomentPrior(random_state=3).fit(task.X, task.y).estimate_
    found = run("gaussians", 60, "pair_moments", 3)
    assert found["value"] == moments.value
    assert found["interval"] == list(moments.interval or ())


def test_a_pool_that_is_too_small_is_a_failure_with_its_reason() -> None:
    settings = {"experiment": "prior", "dataset": "gaussians", "method": "km1", "trial": 0}
    (found,) = run_trials(measure, [[{**settings, "n": 40_000}]])
    assert found["status"] == "failed"
    assert "the pool has" in found["reason"]


def test_methods_that_share_work_run_together_and_all_at_the_paper_s_sizes() -> None:
    assert EXPERIMENT.together == (("km1", "km2"), ("pair_moments", "pair_likelihood"))
    assert EXPERIMENT.full.settings == {"n": (200, 400, 800, 1600)}
    assert EXPERIMENT.full.trials == 100
    assert len(EXPERIMENT.full.datasets) == 12
    assert EXPERIMENT.methods == METHODS


def records_of_two_sets() -> list[Record]:
    return [
        *made_up([0.1, 0.3], "error", dataset="a", n=200, method="km1"),
        *made_up([0.0, 0.2], "error", dataset="a", n=400, method="km1"),
        *made_up([0.02, 0.04], "error", dataset="b", n=200, method="pair_moments"),
        *made_up([0.42, 0.44], "error", dataset="b", n=200, method="km1"),
        *made_up([None, None], "error", dataset="b", n=400, method="pair_moments"),
    ]


def test_the_table_has_means_the_least_error_bold_and_failures_named() -> None:
    ((table,),) = (section.tables for section in sections(records_of_two_sets()))
    assert table.header == ("dataset", "n", "KM1 (paper)", "pair moments")
    rows = {(row[0].text, row[1].text): row[2:] for row in table.rows}
    assert [cell.text for cell in rows["a", "200"]] == ["0.200 (0.100)", ""]
    assert [cell.bold for cell in rows["b", "200"]] == [False, True]
    assert rows["b", "400"][1].text == "failed"
    assert "the pool has 8 rows" in (rows["b", "400"][1].note or "")


def test_the_picture_has_a_panel_for_each_dataset_with_means_and_whiskers() -> None:
    figure = plot(records_of_two_sets())
    left, right = [panel for panel in figure.axes if panel.get_visible()]
    assert (left.get_title(), right.get_title()) == ("a", "b")
    (bars,) = left.containers
    line, _, (whiskers,) = bars.lines  # type: ignore[attr-defined]
    np.testing.assert_allclose(line.get_ydata().astype(float), [0.2, 0.1])
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
    np.testing.assert_allclose(ends, [[0.1, 0.3], [0.0, 0.2]], atol=1e-12)
    assert [text.get_text() for text in right.texts] == ["pool too\nsmall"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["KM1 (paper)", "pair moments"]


def test_without_records_there_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no records"):
        plot([])


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_our_estimates_are_nearer_than_those_of_the_paper() -> None:
    errors = {
        method: np.mean([run("waveform", 400, method, trial)["error"] for trial in range(5)])
        for method in METHODS
    }
    for method in ("pair_moments", "pair_likelihood"):
        assert errors[method] < min(errors["km1"], errors["km2"])
