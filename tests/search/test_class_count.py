"""When one class more is looked for, and when it is likely."""

from collections.abc import Callable

import numpy as np
import pytest

from likewise.datasets import SUSample
from likewise.search.class_count import ClassCount, is_one_more_likely
from tests.classifiers.quick import quick

LEAST = 0.1 * np.log(2) * 200


@pytest.mark.parametrize(
    ("gain", "spread", "is_likely"),
    [(1.2 * LEAST, 0.0, True), (0.8 * LEAST, 0.0, False), (1.2 * LEAST, 5.0, False)],
)
def test_one_more_is_likely_if_it_gains_enough_for_its_error_and_for_every_statement(
    gain: float, spread: float, is_likely: bool
) -> None:
    of_two = np.full(5, -20.0)
    of_three = of_two + gain / 5 + spread * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    found = ClassCount((2, 3), np.array([of_two, of_three]), n_judged=200.0)
    assert is_one_more_likely(found, 2) is is_likely


def test_a_gain_of_less_than_a_nat_speaks_for_no_further_class() -> None:
    """All folds may agree on it: then its standard error is zero."""
    of_three = np.full(5, -20.0)
    counts = (2, 3, 4)
    for gain, chosen in ((0.1, 3), (0.3, 4)):
        found = ClassCount(counts, np.array([of_three - 9.0, of_three, of_three + gain]), 200.0)
        assert found.best == 4
        assert found.chosen == chosen


def test_held_out_pairs_are_not_asked_where_seen_ones_gain_too_little(
    draw_waveform: Callable[..., SUSample],
) -> None:
    clf = quick().fit(*draw_waveform(600, 600, 0.7, 1).pack())
    assert clf.has_signal_
    assert clf.class_count_ is None
