"""Intervals against the truth: what is counted, and how narrow an interval could be."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from scipy.stats import norm

from likewise.datasets import make_gaussians, sample_statements, sample_su
from likewise.experiments.coverage import LEVEL, SETTINGS, _narrowest, measure
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
    by_setting, tests = (section.tables[0] for section in sections(records))
    assert by_setting.rows[0][3].text.startswith("100 (2 to 100) of 1")
    assert by_setting.rows[0][4].text == ""
    assert [row[0].text for row in tests.rows] == ["asked", "noise"]
    assert tests.rows[1][2].text.startswith("0 (")


def test_priors_are_compared_where_statements_are_many() -> None:
    records = [_record(0, 0.6, 0.8, n=100), _record(0, 0.6, 0.8, n=300)]
    records += [_record(1, 0.5, 0.6, n=1000), _record(0, 0.8, 0.95, n=300, prior=0.9)]
    by_prior = sections(records)[0].tables[1]
    assert [row[2].text for row in by_prior.rows] == ["0.7", "0.9"]
    assert by_prior.rows[0][3].text.startswith("50 (1 to 99) of 2")


def test_cells_of_enough_trials_are_shown_by_themselves() -> None:
    records = [_record(trial, 0.6, 0.8 if trial else 0.65) for trial in range(20)]
    records.append(_record(0, 0.6, 0.8, dataset="magic"))
    by_setting, by_cell, _ = (section.tables[0] for section in sections(records))
    assert by_setting.rows[0][4].text == "95 (gaussians, 0.7)"
    assert [row[2].text for row in by_cell.rows] == ["gaussians"]
    (panel,) = plot(coverages(records)).axes
    dots = [one for one in panel.collections if isinstance(one, PathCollection)]
    assert [np.asarray(one.get_offsets())[0, 1] for one in dots] == [95.0]


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
