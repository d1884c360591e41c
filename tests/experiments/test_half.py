"""Equally large classes: what is compared and shown."""

import matplotlib as mpl

from likewise.experiments.half import EXPERIMENT, measure, plot, sections
from likewise.experiments.samples import Draw, draw_task

from .made_up import made_up

mpl.use("Agg")


def test_a_trial_is_drawn_at_the_prior_of_its_record() -> None:
    record = measure(experiment="half", dataset="gaussians", method="mpckmeans", trial=0, prior=0.5)
    task, y_test = draw_task(Draw("gaussians", 500, 500, 500, 0.5, 0))
    assert abs((y_test == 1).mean() - 0.5) < 0.06
    assert abs((task.hidden == 1).mean() - 0.5) < 0.06
    assert record["accuracy"] > 0.8


def test_one_half_is_among_the_priors_and_labels_among_the_methods() -> None:
    assert 0.5 in EXPERIMENT.full.settings["prior"]
    assert "labels" in EXPERIMENT.full.methods
    assert set(EXPERIMENT.full.methods) <= set(EXPERIMENT.methods)


def test_table_and_picture_have_a_row_for_every_prior_and_a_line_for_every_method() -> None:
    records = [
        *made_up([0.5, 0.7], dataset="a", prior=0.5, method="su-squared"),
        *made_up([0.9, 0.9], dataset="a", prior=0.5, method="labels"),
        *made_up([None], dataset="a", prior=0.6, method="su-squared"),
    ]
    ((table,),) = (section.tables for section in sections(records))
    assert table.header == ("dataset", "prior", "SU squared", "all labels")
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [["a", "0.5", "60.0 (10.0)", "90.0 (0.0)"], ["a", "0.6", "failed", ""]]
    figure = plot(records)
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {"SU squared", "all labels"}
