"""Intervals against the truth: what is counted, and how narrow an interval could be."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from scipy.stats import binom, norm

from likewise.datasets import make_gaussians, sample_statements, sample_su
from likewise.experiments.coverage import (
    LEVEL,
    SETTINGS,
    _information,
    _narrowest,
    _source_of_three,
    _truth_of_more,
    _truth_of_two,
    measure,
)
from likewise.experiments.coverage_page import coverages, plot, sections
from likewise.experiments.runner import Record

_GRID = np.linspace(0.5, 0.95, 451)


def _record(trial: int, low: float, high: float, method: str = "asked", **settings: Any) -> Record:
    return {
        "experiment": "coverage",
        "dataset": "gaussians",
        "method": method,
        "trial": trial,
        "n": 100,
        "prior": 0.7,
        "status": "ok",
        "signal": True,
        "pairing_rejected": None,
        "intervals": {"prior": [(low + high) / 2, low, high, 0.7]},
        "narrowest": 0.05,
        **settings,
    }


def test_intervals_that_hold_the_truth_are_counted_by_cell() -> None:
    records = [_record(0, 0.6, 0.8), _record(1, 0.71, 0.8), _record(2, 0.6, 0.8, method="fresh")]
    found = {one.method: one for one in coverages(records)}
    assert (found["asked"].hits, found["asked"].trials) == (1, 2)
    assert found["asked"].share == 0.5
    assert found["asked"].bias == pytest.approx((0.0 + 0.055) / 2)
    assert found["asked"].width == pytest.approx(0.145)
    assert found["asked"].ratio == pytest.approx(1.45)
    assert (found["fresh"].hits, found["fresh"].trials) == (1, 1)


def test_a_report_shows_coverage_and_false_alarms() -> None:
    noise = {"signal": False, "pairing_rejected": None, "intervals": None, "narrowest": None}
    records = [_record(0, 0.6, 0.8), _record(0, 0.0, 1.0, method="noise", **noise)]
    intervals, tests_of = sections(records)
    by_setting, tests = intervals.tables[1], tests_of.tables[0]
    assert by_setting.rows[0][3].text.startswith("100 (2 to 100) of 1")
    assert by_setting.rows[0][4].text == ""
    assert [row[0].text for row in tests.rows] == ["asked", "noise"]
    assert tests.rows[1][2].text.startswith("0 (")


def test_priors_are_compared_where_statements_are_many() -> None:
    records = [_record(0, 0.6, 0.8, n=100), _record(0, 0.6, 0.8, n=300)]
    records += [_record(0, 0.5, 0.6, n=1000), _record(0, 0.8, 0.95, n=300, prior=0.9)]
    by_prior = sections(records)[0].tables[2]
    assert [row[2].text for row in by_prior.rows] == ["0.7", "0.9"]
    assert by_prior.rows[0][3].text.startswith("50 (1 to 99) of 2")


def test_cells_of_enough_trials_are_shown_by_themselves() -> None:
    records = [_record(trial, 0.6, 0.8 if trial else 0.65) for trial in range(20)]
    records.append(_record(0, 0.6, 0.8, dataset="magic"))
    intervals, cells, _ = sections(records)
    by_setting, by_cell = intervals.tables[1], cells.tables[0]
    assert by_setting.rows[0][4].text == "95 (gaussians, 0.7)"
    assert [row[2].text for row in by_cell.rows] == ["gaussians"]
    found = coverages(records)
    (panel,) = plot(found, [one for one in found if one.trials == 20]).axes
    dots = [one for one in panel.collections if isinstance(one, PathCollection)]
    assert [np.asarray(one.get_offsets())[0, 1] for one in dots] == [95.0]


def test_cells_near_the_level_are_counted_beside_what_chance_would_give() -> None:
    def cell(hits: int, **settings: Any) -> list[Record]:
        return [
            _record(trial, 0.6, 0.8 if trial < hits else 0.65, **settings) for trial in range(20)
        ]

    records = cell(18, n=300) + cell(14, n=1000, dataset="magic") + cell(18) + cell(20, prior=0.6)
    few, many = sections(records)[0].tables[0].rows
    assert [one.text for one in few[:2]] == ["prior", "under 300"]
    # 17, 18 or 19 of 20 are within 84 to 97 %.
    expected = 100 * sum(binom.pmf([17, 18, 19], 20, 0.9))
    assert [one.text for one in many[3:5]] == ["2", "50"]
    assert many[5].value == few[5].value == pytest.approx(expected)
    assert many[6].text == "70 of 20 (asked, magic, 1000, 0.7)"


def test_a_cell_of_many_trials_counts_no_more_than_others() -> None:
    records = [_record(0, 0.71, 0.8, dataset=name) for name in ("magic", "adult", "phoneme")]
    records += [_record(trial, 0.6, 0.8, pairing_rejected=trial < 5) for trial in range(20)]
    intervals, cells, tests_of = sections(records)
    by_quantity, by_setting = intervals.tables[:2]
    assert by_quantity.rows[0][2].value == by_setting.rows[0][3].value == 25.0
    assert by_quantity.rows[0][3].text == "1"
    assert by_setting.rows[0][4].text == "100 (gaussians, 0.7)"
    assert [cell.text for cell in cells.tables[1].rows[0][:4]] == [
        "asked",
        "gaussians",
        "100",
        "0.7",
    ]
    assert cells.tables[1].rows[0][5].value == 25.0
    assert tests_of.tables[0].rows[0][2].text.endswith("of 4")


def test_coverage_is_pooled_by_source() -> None:
    records = [_record(0, 0.6, 0.8, n=300), _record(0, 0.71, 0.8, n=300, dataset="magic")]
    by_source = sections(records)[0].tables[3]
    assert [(row[2].text, row[3].value) for row in by_source.rows] == [
        ("gaussians", 100.0),
        ("magic", 0.0),
    ]


def test_rejections_of_random_pairing_are_counted_by_prior() -> None:
    nothing: Any = {"intervals": None, "narrowest": None, "method": "free-tested"}
    records = [
        _record(trial, 0.0, 1.0, pairing_rejected=prior == 0.9, prior=prior, **nothing)
        for trial in range(2)
        for prior in (0.5, 0.9)
    ]
    by_prior = sections(records)[-1].tables[1]
    assert [row[3].value for row in by_prior.rows] == [0.0, 100.0]


def _along(rows: Any) -> Any:
    """Return the likelihood ratio of two unit Gaussians 2.5 apart, along the line between them."""
    return np.exp(2.5 * np.asarray(rows)[:, 0])


def _gaussians() -> tuple[Any, Any]:
    X, y = make_gaussians(40_000, separation=2.5, prior=0.5, random_state=0)
    between = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    return (X @ between / 2.5)[:, None], y


def test_the_narrowest_interval_of_fresh_pairs_is_how_far_the_best_estimates_scatter() -> None:
    X, y = _gaussians()
    estimates: list[float] = []
    widths: list[Any] = []
    for seed in range(150):
        rows, labels = sample_su(X, y, 100, 100, prior=0.7, random_state=seed).pack()
        ratios = _along(rows)
        alone, left, right = ratios[:100], ratios[100:200], ratios[200:]
        logs = [
            np.log(p * alone + 1 - p).sum()
            + np.log((p**2 * left * right + (1 - p) ** 2) / (p**2 + (1 - p) ** 2)).sum()
            for p in _GRID
        ]
        estimates.append(_GRID[np.argmax(logs)])
        widths.append(_narrowest(ratios, labels, SETTINGS["fresh"], 0.7))
    scatter = norm.ppf((1 + LEVEL) / 2) * np.std(estimates)
    assert np.median(widths) == pytest.approx(scatter, rel=0.2)


def test_the_narrowest_interval_of_answers_is_little_wider_than_if_classes_were_known() -> None:
    X, y = _gaussians()
    widths: list[Any] = []
    for seed in range(20):
        sample = sample_statements(X, y, 100, 200, prior=0.7, random_state=seed)
        rows, labels = sample.pack()
        widths.append(_narrowest(_along(rows), labels, SETTINGS["asked"], 0.7))
    counted = norm.ppf((1 + LEVEL) / 2) * np.sqrt(0.7 * 0.3 / 100)
    assert counted * 0.98 < np.median(widths) < counted * 1.15


def test_a_trial_compares_every_interval_with_the_truth() -> None:
    found = measure(
        experiment="coverage", dataset="gaussians", method="asked", trial=0, n=100, prior=0.7
    )
    assert found["signal"]
    assert set(found["intervals"]) == {
        "prior",
        "accuracy",
        "true-positive rate",
        "false-positive rate",
        "prior, report",
    }
    for value, low, high, truth in found["intervals"].values():
        assert 0.0 <= low <= value <= high <= 1.0
        assert abs(value - truth) < 0.25
    assert 0.8 < found["accuracy"] < 0.95


def test_the_information_in_a_fresh_pair_is_that_of_the_true_probabilities() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 200_000)
    x = 1.25 * y + rng.standard_normal(y.size)
    eta = 1.0 / (1.0 + 3.0 / 7.0 * np.exp(-2.5 * x))
    found = _information(eta, y, 0.7)
    # By quadrature over both members of a pair, at a prior of 0.7.
    grid = np.linspace(-8.0, 8.0, 801)
    of_row = 1.0 / (1.0 + 3.0 / 7.0 * np.exp(-2.5 * grid))
    density = {sign: norm.pdf(grid - 1.25 * sign) * (grid[1] - grid[0]) for sign in (1, -1)}
    pairs = sum(p**2 * np.outer(density[s], density[s]) for s, p in ((1, 0.7), (-1, 0.3))) / 0.58
    alike = np.outer(of_row, of_row) + np.outer(1 - of_row, 1 - of_row)
    assert found == pytest.approx(float(np.sum(pairs * np.log(alike / 0.58))), abs=0.006)
    assert _information(np.full(y.size, 0.7), y, 0.7) == pytest.approx(0.0, abs=1e-12)


def test_recall_of_three_classes_is_measured_by_the_names_of_the_classifier() -> None:
    source = _source_of_three("gaussians", 0.5)
    assert np.bincount(source.y) / source.y.size == pytest.approx([0.5, 0.25, 0.25], abs=0.02)
    predicted = (source.y_apart + 1) % 3  # it calls class 0 class 1, and so on
    truth, errors = _truth_of_more(np.where(source.y_apart == 2, 1, predicted), source)
    assert truth["recall of class 1"] == truth["recall of class 2"] == 1.0
    assert truth["recall of class 0"] == 0.0  # all of class 2 are called class 1
    assert truth["share of class 0"] == np.mean(source.y == 2)
    assert truth["accuracy"] == pytest.approx(np.mean(source.y != 2))
    assert set(errors.values()) == {0.0}  # every rate is zero or one
    with pytest.raises(ValueError, match="two classes"):
        _source_of_three("magic", 0.5)


def test_truth_that_is_measured_on_few_rows_is_allowed_for() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [4000, 1000])
    predicted = np.where(rng.random(y.size) < 0.8, y, -y)
    found, errors = _truth_of_two(predicted, y, 0.7)
    tpr, tnr = found["true-positive rate"], 1.0 - found["false-positive rate"]
    of_rates = tpr * (1 - tpr) / 4000, tnr * (1 - tnr) / 1000
    assert errors["true-positive rate"] == pytest.approx(of_rates[0] ** 0.5)
    assert errors["false-positive rate"] == pytest.approx(of_rates[1] ** 0.5)
    both = 0.7**2 * of_rates[0] + 0.3**2 * of_rates[1]
    assert errors["accuracy"] == pytest.approx(both**0.5)
    cell = {"method": "asked", "dataset": "magic", "n": 300, "prior": 0.7, "narrowest": None}
    near = {**cell, "intervals": {"accuracy": [0.8, 0.79, 0.82, 0.83]}}
    assert coverages([near])[0].hits == 0
    (allowed,) = coverages([{**near, "truth_errors": {"accuracy": 0.02}}])
    assert allowed.hits == 1
    assert allowed.width == pytest.approx(0.03)


@pytest.mark.slow
def test_statements_about_three_classes_have_shares_and_recalls() -> None:
    found = measure(
        experiment="coverage", dataset="gaussians", method="three-asked", trial=0, n=100, prior=0.5
    )
    kinds = ("share of class", "recall of class", "share, report, of class")
    names = {f"{kind} {k}" for kind in kinds for k in range(3)}
    assert set(found["intervals"]) == names | {"accuracy"}
    for _, low, high, truth in found["intervals"].values():
        assert 0.0 <= low <= high <= 1.0
        assert 0.0 <= truth <= 1.0


@pytest.mark.parametrize(
    ("prior", "is_rejected"), [pytest.param(0.9, True, marks=pytest.mark.slow), (0.5, False)]
)
def test_pairs_of_free_shares_are_only_tested(prior: float, is_rejected: bool) -> None:
    found = measure(
        experiment="coverage",
        dataset="gaussians",
        method="free-tested",
        trial=0,
        n=300,
        prior=prior,
    )
    assert found == {"signal": True, "pairing_rejected": is_rejected}
