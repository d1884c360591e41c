"""Means, standard errors, and the paper's rule for what is printed in bold."""

import numpy as np
import pytest

from likewise.experiments.published import PUBLISHED_METHODS, TABLE_4
from likewise.experiments.statistics import Mean, group, mean_of, not_worse, results
from likewise.experiments.tables import mean_cell

from .made_up import made_up


def test_the_mean_is_of_what_did_not_fail() -> None:
    mean = mean_of(made_up([0.1, 0.3, None, 0.2]), "accuracy")
    assert mean.value == pytest.approx(0.2)
    assert mean.standard_error == pytest.approx(0.1 / np.sqrt(3))
    assert (mean.trials, mean.failed, mean.reason) == (3, 1, "ValueError: the pool has 8 rows")


def test_a_single_trial_has_no_standard_error() -> None:
    assert mean_of(made_up([0.4]), "accuracy").standard_error is None


def test_where_all_failed_there_is_no_mean() -> None:
    mean = mean_of(made_up([None, None]), "accuracy")
    assert (mean.value, mean.trials, mean.failed) == (None, 0, 2)


def test_records_without_the_field_do_not_count() -> None:
    assert mean_of([*made_up([0.4]), {"status": "ok", "reason": None}], "accuracy").trials == 1


@pytest.mark.parametrize("dataset", sorted({dataset for dataset, _ in TABLE_4}))
def test_the_rule_for_bold_is_the_paper_s(dataset: str) -> None:
    cells = {method: TABLE_4[dataset, method] for method in PUBLISHED_METHODS}
    means = {
        method: Mean(cell.accuracy, cell.standard_error, 20, 0, None)
        for method, cell in cells.items()
        if cell is not None
    }
    assert not_worse(means) == {name for name, cell in cells.items() if cell and cell.bold}


def test_what_failed_or_ran_once_is_not_compared() -> None:
    means = {
        "good": Mean(0.8, 0.01, 20, 0, None),
        "failed": Mean(None, None, 0, 20, "no"),
        "once": Mean(0.9, None, 1, 0, None),
    }
    assert not_worse(means) == {"good"}
    assert not_worse({"failed": means["failed"]}) == set()


def test_without_spread_the_larger_mean_is_better() -> None:
    means = {"a": Mean(0.7, 0.0, 5, 0, None), "b": Mean(0.6, 0.0, 5, 0, None)}
    assert not_worse(means) == {"a"}
    assert not_worse({**means, "c": Mean(0.7, 0.0, 5, 0, None)}) == {"a", "c"}


def test_results_name_the_settings_that_there_are() -> None:
    records = [
        *made_up([0.5, 0.7], dataset="a", method="m", prior=0.5),
        *made_up([None], dataset="a", method="m", prior=0.6),
    ]
    first, second = results(records, "accuracy")
    assert first["mean"] == pytest.approx(0.6)
    assert (first["dataset"], first["prior"], first["method"]) == ("a", 0.5, "m")
    assert "n" not in first
    assert (second["mean"], second["failed"], second["trials"]) == (None, 1, 0)


def test_groups_come_in_the_order_of_the_records() -> None:
    records = [{"x": 2}, {"x": 1}, {"x": 2, "y": 3}]
    assert list(group(records, "x")) == [(2,), (1,)]
    assert list(group(records, "x", "y")) == [(2, None), (1, None), (2, 3)]


def test_a_cell_reads_as_in_the_paper_and_tells_of_failures() -> None:
    cell = mean_cell(Mean(0.675, 0.012, 20, 2, "no luck"), bold=True, notes=("Mind",), paper="6.5")
    assert (cell.text, cell.value, cell.bold, cell.paper) == ("67.5 (1.2)", 67.5, True, "6.5")
    assert cell.note == "2 of 22 trials failed: no luck. Mind"
    assert mean_cell(Mean(0.5, None, 1, 0, None)).text == "50.0"
    failed = mean_cell(Mean(None, None, 0, 3, "no luck"))
    assert (failed.text, failed.value) == ("failed", None)
    assert failed.note == "3 of 3 trials failed: no luck"
    assert mean_cell(None).text == ""
