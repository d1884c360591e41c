"""Table 4: what a trial is, and how records become the table with the paper's numbers beside."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from likewise.experiments.benchmark import EXPERIMENT, measure, plot, sections
from likewise.experiments.classification import learn
from likewise.experiments.experiment import UNSEEN
from likewise.experiments.methods import METHODS
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw
from likewise.pages.document import Cell, Section

from .made_up import made_up

mpl.use("Agg")


def trials(method: str, accuracies: list[float | None], **more: Any) -> list[Record]:
    settings = {"share": 0.7, "collapsed": False, "converged": True, "prior_estimate": None}
    return made_up(accuracies, dataset="banana", method=method, **{**settings, **more})


@pytest.fixture
def section() -> Section:
    records = [
        *trials("labels", [0.99, 0.98, 0.99]),
        *trials("su-squared", [0.80, 0.82, 0.84], prior_estimate=0.6),
        *trials("km", [0.60, 0.61, None], collapsed=True, share=0.99, converged=False),
        *trials("itml", [0.82, 0.82, 0.80]),
        *trials("mine", [0.70, 0.71, 0.72]),
        *trials("seraph", [None, None, None]),
    ]
    found, against_paper = sections(records)
    assert against_paper.title == "What did and did not reproduce"
    return found


def cells(section: Section, table: int) -> dict[str, Cell]:
    shown = section.tables[table]
    (row,) = shown.rows
    return dict(zip(shown.header, row, strict=True))


def test_a_trial_has_the_sizes_of_the_paper() -> None:
    found = measure(experiment="benchmark", dataset="gaussians", method="km", trial=5)
    same = learn(Draw("gaussians", 500, 500, 100, 0.7, 5), "km")
    assert {**found, "seconds": 0} == {**same, "seconds": 0}


def test_the_plan_is_the_paper_s_and_has_every_method() -> None:
    assert (len(EXPERIMENT.full.datasets), EXPERIMENT.full.trials) == (12, 20)
    assert EXPERIMENT.full.first == EXPERIMENT.quick.first == UNSEEN
    assert list(EXPERIMENT.full.methods) == list(METHODS)


def test_the_table_has_means_beside_the_paper_s_numbers(section: Section) -> None:
    found = cells(section, 0)
    assert list(found) == ["dataset", "SU squared", "KM", "ITML", "SERAPH", "all labels", "mine"]
    assert found["SU squared"].text == "82.0 (1.2)"
    assert found["SU squared"].paper == "67.5 (1.2)"
    assert found["KM"].paper == "54.3 (0.7)"
    assert found["all labels"].paper is None


def test_bold_is_the_best_without_labels_and_what_is_not_worse(section: Section) -> None:
    bold = {name for name, cell in cells(section, 0).items() if cell.bold}
    assert bold == {"SU squared", "ITML"}


def test_failures_and_collapses_are_told(section: Section) -> None:
    found = cells(section, 0)
    assert found["SERAPH"].text == "failed"
    assert "3 of 3 trials failed: ValueError" in (found["SERAPH"].note or "")
    note = found["KM"].note or ""
    assert "1 of 3 trials failed" in note
    assert "One class for nearly all rows in 2 of 2 trials" in note
    assert "Not converged in 2 of 2 trials" in note
    assert found["ITML"].note is None


def test_shares_priors_and_costs_have_their_tables(section: Section) -> None:
    assert cells(section, 1)["KM"].text == "99.0 (0.0)"
    assert list(cells(section, 2)) == ["dataset", "SU squared"]
    assert cells(section, 2)["SU squared"].text == "60.0 (0.0)"
    cost = {row[0].text: [cell.text for cell in row[1:]] for row in section.tables[3].rows}
    assert cost["KM"] == ["0.500 (0.000)", "0.500", "3", "1"]


def test_the_picture_has_a_point_for_every_method_that_did_not_fail() -> None:
    records = [*trials("km", [0.6, 0.7]), *trials("itml", [None]), *trials("labels", [0.9])]
    (panel,) = plot(records).axes
    assert len(panel.containers) == 2
    assert [text.get_text() for text in panel.get_yticklabels()] == ["KM", "ITML", "all labels"]


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_the_pair_likelihood_passes_the_paper_s_method_on_waveform() -> None:
    def mean(method: str) -> float:
        found = [
            measure(experiment="benchmark", dataset="waveform", method=method, trial=trial)
            for trial in range(3)
        ]
        return float(np.mean([record["accuracy"] for record in found]))

    assert mean("labels") > mean("su-squared")
    assert mean("pair-likelihood") > mean("su-squared")
