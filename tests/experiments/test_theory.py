"""The theorems by simulation: that what is measured is what they speak of, and that they hold."""

import matplotlib as mpl
import numpy as np
import pytest

from likewise.datasets import sample_su
from likewise.experiments import theory
from likewise.experiments.runner import Record
from likewise.experiments.theory import EXPERIMENT, PRIOR, WEIGHTS, measure, population, sections
from likewise.su.losses import logistic

mpl.use("Agg")


def run(method: str, trials: int, n: int) -> list[Record]:
    settings = {"experiment": "theory", "dataset": "gaussians", "method": method, "n": n}
    return [
        {**settings, "trial": trial, "status": "ok", **measure(**settings, trial=trial)}  # type: ignore[arg-type]
        for trial in range(trials)
    ]


def test_the_best_model_has_the_least_risk_at_the_prior() -> None:
    truth = population("gaussians")
    least = truth.risk(truth.best, "logistic")
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=truth.best.size)
        assert truth.risk(truth.best + 0.05 * step / np.linalg.norm(step), "logistic") > least
    margins = (truth.X @ truth.best[:-1] + truth.best[-1]) * truth.y
    by_class = [np.mean(logistic.value(margins[truth.y == label], 1)) for label in (1, -1)]
    assert least == pytest.approx(PRIOR * by_class[0] + (1 - PRIOR) * by_class[1])


def test_the_su_risk_has_no_bias_whatever_the_loss() -> None:
    records = run("unbiased", 300, 50)
    for loss in ("squared", "logistic", "double_hinge", "zero_one"):
        biases = np.array([record["biases"][loss] for record in records])
        assert abs(biases.mean()) < 3 * biases.std(ddof=1) / np.sqrt(biases.size)


def test_the_variance_is_least_about_weight_one_half() -> None:
    records = run("variance", 300, 50)
    terms = np.array([record["terms"] for record in records])
    expected = np.mean([record["expected"] for record in records], axis=0)
    np.testing.assert_allclose(terms.var(axis=0, ddof=1), expected, rtol=0.35)
    assert WEIGHTS[int(np.argmin(expected))] == 0.5
    assert np.mean([record["value"] for record in records]) < 1
    cell = theory._least_cell(records)
    assert cell.value == pytest.approx(0.5, abs=0.15)


def test_the_weight_of_least_variance_is_found_where_it_is_known() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(0, 1, 4000), rng.normal(0, 2, 4000)
    records = [{"terms": [b, a]} for a, b in zip(left, right, strict=True)]
    assert theory._least_cell(records).value == pytest.approx(4 / 5, abs=0.03)


def test_the_excess_risk_is_below_the_bound_and_falls() -> None:
    few, many = run("bound", 10, 50), run("bound", 10, 800)
    for record in few + many:
        assert -1e-9 < record["value"] < record["bound"]
        assert record["norm"] <= record["radius"]
    assert few[0]["bound"] == pytest.approx(4 * many[0]["bound"])
    assert np.mean([one["value"] for one in many]) < np.mean([one["value"] for one in few]) / 2


def test_a_model_that_would_be_too_long_is_cut_to_the_radius() -> None:
    truth = population("gaussians")
    sample = sample_su(truth.X, truth.y, 20, 20, prior=PRIOR, random_state=0)
    free = theory._learn_within(1e9, sample)
    radius = float(np.linalg.norm(free)) / 2
    held = theory._learn_within(radius, sample)
    assert radius * 0.999 < np.linalg.norm(held) <= radius


def test_every_theorem_has_its_section_and_pictures_can_be_drawn() -> None:
    records = [record for method in EXPERIMENT.methods for record in run(method, 4, 30)]
    first, second, third = sections(EXPERIMENT.own(records))
    assert "Theorem 1" in first.title
    assert len(first.tables[0].rows) == 4
    assert "Theorem 2" in second.title
    assert second.tables[0].header[1:12] == tuple(f"{weight:g}" for weight in WEIGHTS)
    assert "Theorem 4" in third.title
    assert third.tables[0].rows[0][-1].text == "0 of 4"
    for section in (second, third):
        (picture,) = section.pictures
        assert picture.draw().axes


def test_one_sample_has_no_variance_and_so_no_picture() -> None:
    (section,) = sections(run("variance", 1, 30))
    assert section.tables[0].rows == ()
    assert section.pictures == ()


def test_failed_trials_do_not_stop_the_report() -> None:
    failed = {**run("bound", 1, 30)[0], "status": "failed", "value": None, "trial": 9}
    (section,) = sections([*run("bound", 2, 30), failed])
    assert "of 2" in section.tables[0].rows[0][-1].text
    assert sections([failed]) == []
