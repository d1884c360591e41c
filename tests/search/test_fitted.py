"""From what was learned to what users ask for."""

from typing import Any

import numpy as np
import pytest

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.table import TableLikelihood
from likewise.search.fitted import calibrated, error_rate_interval
from likewise.search.learn import Learned, learn
from likewise.search.rows import MemoryRows
from likewise.search.settings import Settings
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, two_gaussians


def learned(X: Any, statements: Any, known: Any = None, **settings: Any) -> Learned:
    how = Settings(**{"cv": 3, "alphas": [0.03], "pairing": "asked", **settings})
    maps = [("linear", None)]
    return learn(MemoryRows(X, statements), maps, how, np.random.RandomState(0), known)


def test_shares_of_two_classes_and_their_intervals_are_complements(
    rng: np.random.Generator,
) -> None:
    X, classes = two_gaussians(rng, 300)
    found = calibrated(learned(X, answered(rng, classes, 400)), 0.9)
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares[1] == pytest.approx(classes.mean(), abs=0.03)
    np.testing.assert_allclose(found.intervals[0], 1 - found.intervals[1][::-1])
    assert found.intervals[1, 0] < classes.mean() < found.intervals[1, 1]
    assert found.offsets.shape == (1,)


def test_shares_of_three_classes_have_intervals_within_zero_and_one(
    rng: np.random.Generator,
) -> None:
    classes = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    X = 4.0 * np.eye(3)[classes] + rng.standard_normal((300, 3))
    found = calibrated(learned(X, answered(rng, classes, 500), n_classes=3), 0.95)
    np.testing.assert_allclose(
        np.sort(found.shares), np.sort(np.bincount(classes) / 300), atol=0.03
    )
    low, high = found.intervals.T
    assert (low <= found.shares).all()
    assert (found.shares <= high).all()
    assert (low >= 0).all()
    assert (high <= 1).all()


@pytest.mark.parametrize("is_named", [False, True])
def test_without_a_signal_nothing_is_known_of_the_share(
    rng: np.random.Generator, is_named: bool
) -> None:
    X, classes = rng.standard_normal((100, 3)), rng.integers(2, size=100)
    known = np.where(np.arange(100) < 5, classes, -1) if is_named else None
    one = learned(X, answered(rng, classes, 100), known)
    assert not one.has_signal
    low, high = calibrated(one, 0.95).intervals[1]
    assert (low, high) == ((0.0, 1.0) if is_named else (0.5, 1.0))


@pytest.mark.parametrize("rate", [0.1, 0.25])
def test_the_interval_of_the_error_rate_holds_it(rng: np.random.Generator, rate: float) -> None:
    X, classes = two_gaussians(rng, 200)
    log_p = log_probabilities(Gaussians(3.0, 0.7).log_odds(X[:, 0]))
    likelihood = TableLikelihood(answered(rng, classes, 1000, rate), 2, "asked", None)
    beliefs = likelihood.evaluate(log_p)
    narrow, wide = (error_rate_interval(likelihood, log_p, beliefs, p) for p in (0.5, 0.99))
    assert wide[0] < narrow[0] < beliefs.error_rate < narrow[1] < wide[1]
    assert wide[0] < rate < wide[1]
    assert wide[1] - wide[0] < 0.1


def test_the_interval_of_an_error_rate_near_zero_begins_at_zero(rng: np.random.Generator) -> None:
    X, classes = two_gaussians(rng, 60)
    log_p = log_probabilities(Gaussians(3.0, 0.7).log_odds(X[:, 0]))
    likelihood = TableLikelihood(answered(rng, classes, 40), 2, "asked", None)
    low, high = error_rate_interval(likelihood, log_p, likelihood.evaluate(log_p), 0.95)
    assert low == 0.0
    assert 0.0 < high < 0.3
