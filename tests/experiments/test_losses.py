"""Figures 2 and 3: which losses make the objective convex, and what is drawn."""

import matplotlib as mpl
import pytest

from likewise.experiments.losses import EXPERIMENT, PRIORS, measure, sections

mpl.use("Agg")


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
def test_with_the_losses_of_the_paper_the_objective_is_convex(loss: str, prior: float) -> None:
    record = measure(experiment="losses", dataset="analytic", method=loss, trial=0, prior=prior)
    assert record["convex"] is True
    assert record["similar_bend"] < 1e-12


@pytest.mark.parametrize("prior", PRIORS)
def test_with_the_zero_one_loss_it_is_not(prior: float) -> None:
    record = measure(
        experiment="losses", dataset="analytic", method="zero_one", trial=0, prior=prior
    )
    assert record["convex"] is False
    assert record["similar_bend"] == pytest.approx(2 / abs(2 * prior - 1))


def test_the_section_has_both_figures_and_a_row_for_every_loss_and_prior() -> None:
    records = [
        {**settings, "status": "ok", **measure(**settings)}
        for group in EXPERIMENT.missing(EXPERIMENT.full, set())
        for settings in group
    ]
    (section,) = sections(records)
    (table,) = section.tables
    assert len(table.rows) == 4 * 2
    answers = {(row[0].text, row[1].text): row[-1].text for row in table.rows}
    assert answers["logistic", "0.25"] == "yes"
    assert answers["zero one", "0.75"] == "no"
    second, third = (picture.draw() for picture in section.pictures)
    assert len(second.axes) == 4  # two losses at two priors
    names = third.axes[0].get_legend_handles_labels()[1]
    assert {"squared", "logistic"} <= set(names)
