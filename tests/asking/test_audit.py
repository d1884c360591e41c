"""The accuracy on rows that were drawn at random."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import likewise as lw
from likewise.asking import Asker
from likewise.asking.audit import accuracy_of
from tests.asking.test_asker import QuickAsker, ask
from tests.classifiers.quick import share_right


def said(codes: Any, error_rate: float, n_classes: int = 2) -> Any:
    """Return the likelihood of one answer for every class of a row, where it says `codes`."""
    found = np.full((codes.size, n_classes), error_rate)
    found[np.arange(codes.size), codes] = 1.0 - error_rate
    return found


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("right", [0, 3, 36, 40])
def test_right_answers_give_the_interval_of_jeffreys(right: int, level: float) -> None:
    codes = np.repeat([0, 1], [right, 40 - right])
    value, low, high = accuracy_of(np.zeros(40, np.intp), [(0.0, said(codes, 0.0))], level)
    truth = beta(right + 0.5, 40 - right + 0.5)
    tail = (1.0 - level) / 2.0
    assert value == pytest.approx(truth.mean(), abs=1e-3)
    assert (low, high) == pytest.approx(tuple(truth.ppf([tail, 1.0 - tail])), abs=1e-3)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_levels_outside_of_zero_and_one_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        Asker(np.zeros((4, 2)), level=level)


@pytest.mark.parametrize(("n_classes", "error_rate"), [(2, 0.1), (4, 0.0), (4, 0.1)])
def test_the_interval_holds_where_some_answers_are_wrong(n_classes: int, error_rate: float) -> None:
    rng = np.random.default_rng(1)
    accuracy, held, values = 0.85, [], []
    for _ in range(400):
        predicted = rng.integers(n_classes, size=60)
        step = rng.integers(1, n_classes, size=60)
        truth = (predicted + step * (rng.random(60) > accuracy)) % n_classes
        told = (truth + rng.integers(1, n_classes, 60) * (rng.random(60) < error_rate)) % n_classes
        share = error_rate / (n_classes - 1)
        likelihood = np.full((60, n_classes), share)
        likelihood[np.arange(60), told] = 1.0 - error_rate
        value, low, high = accuracy_of(predicted, [(0.0, likelihood)])
        held.append(low <= accuracy <= high)
        values.append(value)
    assert 0.92 < np.mean(held) < 0.98
    assert np.mean(values) == pytest.approx(accuracy, abs=0.02)


def test_a_row_of_which_nothing_is_known_changes_nothing() -> None:
    codes, posteriors = np.zeros(21, np.intp), np.full((21, 2), 0.5)
    posteriors[:20] = said(np.repeat([0, 1], [15, 5]), 0.0)
    found = accuracy_of(codes, [(0.0, posteriors)])
    assert found == pytest.approx(accuracy_of(codes[:20], [(0.0, posteriors[:20])]))


def test_error_rates_count_for_how_likely_they_make_the_answers() -> None:
    codes, told = np.zeros(40, np.intp), np.repeat([0, 1], [30, 10])
    none, some = said(told, 1e-4), said(told, 0.2)
    # All answers right: 30 of 40. One in five wrong: 30 of 40 are what an accuracy of 0.92 gives.
    assert accuracy_of(codes, [(0.0, none), (-50.0, some)])[0] == pytest.approx(0.744, abs=0.01)
    assert accuracy_of(codes, [(-50.0, none), (0.0, some)])[0] == pytest.approx(0.9, abs=0.03)
    low, high = accuracy_of(codes, [(0.0, none), (0.0, some)])[1:]
    assert low < 0.7
    assert high > 0.95


def test_random_rows_are_a_sample_whatever_else_is_asked_about() -> None:
    X, y = lw.datasets.make_gaussians(200, separation=2.0, random_state=0)
    asker = QuickAsker(X, random_state=0)
    asker._fitter.close()  # it does not choose questions here
    ask(asker, y, 60)
    rows = asker._chooser.random_rows()
    again = QuickAsker(X, random_state=1)
    again._fitter.close()
    ask(again, y, 60)
    shared = min(rows.size, again._chooser.random_rows().size)
    assert shared >= 5
    assert rows[:shared].tolist() == again._chooser.random_rows()[:shared].tolist()
    # Some of them were asked about since they were open, before it was their turn.
    reasons = {answer.left: answer.reason for answer in asker.told}
    assert {reasons.get(row) for row in rows.tolist()} >= {"random"}
    assert sum(reason == "random" for reason in reasons.values()) <= rows.size


@pytest.mark.slow
def test_open_rows_do_not_bend_the_accuracy() -> None:
    """Rows near the boundary are asked about most, and are predicted worse than others."""
    X, y = lw.datasets.make_gaussians(400, separation=2.0, random_state=0)
    asker = QuickAsker(X, random_state=0)
    asker._estimate = Asker._estimate.__get__(asker)  # type: ignore[method-assign]
    ask(asker, y, 150)
    fresh, truth = lw.datasets.make_gaussians(5000, separation=2.0, random_state=1)
    right = share_right(asker.classifier_.predict(fresh), truth)  # type: ignore[union-attr]
    progress = asker.progress()
    assert progress.interval is not None
    assert progress.interval[0] < right < progress.interval[1]
    asked = np.array([answer.left for answer in asker.told if answer.reason == "uncertain"])
    predicted = asker.classifier_.predict(X[asked])  # type: ignore[union-attr]
    of_asked = np.mean(predicted == y[asked])
    assert max(of_asked, 1.0 - of_asked) < right - 0.1
    lengths = [high - low for _, _, low, high in asker.history()]
    assert max(lengths) - min(lengths) < 0.15  # all points are of the same rows
