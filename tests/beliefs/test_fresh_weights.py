"""Fresh pairs with weights: an integer weight is the same as repeating the row or the pair."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.fresh import FreshLikelihood
from likewise.statements.labels import read_labels
from likewise.statements.statements import Statements

Y = np.array([0, 1, 2, 0, 0, -1, 1, 3, 2, 0, -1, 3, 4, 4, -2, 0, -2, 0, 0])
OF_PAIR = {1: 3, 2: 1, 3: 2, 4: 0, -1: 2, -2: 1}


def integer_weights() -> np.ndarray:
    rng = np.random.default_rng(0)
    alone = rng.integers(0, 4, Y.size)
    return np.array([OF_PAIR.get(int(k), a) for k, a in zip(Y, alone, strict=True)], dtype=float)


def repeated(weights: np.ndarray) -> tuple[np.ndarray, Statements]:
    """Return row numbers and statements in which rows stand as often as they weigh."""
    rows: list[int] = []
    labels: list[int] = []
    next_code = 100
    for code in np.unique(Y):
        members = np.flatnonzero(code == Y)
        if code == 0:
            for row in members:
                rows += [int(row)] * int(weights[row])
                labels += [0] * int(weights[row])
            continue
        for _ in range(int(weights[members[0]])):
            next_code += 1
            rows += members.tolist()
            labels += [int(np.sign(code)) * next_code] * 2
    return np.array(rows), read_labels(labels)


@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_are_repetitions(pairing: str, n_classes: int) -> None:
    weights = integer_weights()
    scores = np.random.default_rng(1).standard_normal((Y.size, n_classes))
    log_p = log_probabilities(scores)
    one = FreshLikelihood(replace(read_labels(Y), weights=weights), n_classes, pairing)
    rows, said = repeated(weights)
    other = FreshLikelihood(said, n_classes, pairing)
    found, expected = one.evaluate(log_p), other.evaluate(log_p[rows])
    assert one.size == other.size
    exact = 1e-8 if pairing == "random" else 1e-4  # free shares settle to a tolerance
    assert found.value == pytest.approx(expected.value, abs=exact)
    np.testing.assert_allclose(found.shares, expected.shares, atol=exact)
    for ours, theirs in ((found.gradient, expected.gradient), (found.weights, expected.weights)):
        together = np.zeros_like(ours)
        np.add.at(together, rows, theirs)
        np.testing.assert_allclose(ours, together, atol=exact)
    np.testing.assert_allclose(
        one.share_covariance(log_p, found),
        other.share_covariance(log_p[rows], expected),
        atol=exact,
    )


@pytest.mark.parametrize("pairing", ["random", "free"])
def test_the_gradient_is_that_of_finite_differences(pairing: str) -> None:
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.2, 3.0, Y.size)
    for code in np.unique(Y[Y != 0]):
        weights[code == Y] = weights[code == Y][0]
    likelihood = FreshLikelihood(replace(read_labels(Y), weights=weights), 2, pairing)
    scores = rng.standard_normal((Y.size, 2))

    def value(flat: Any) -> float:
        return likelihood.evaluate(log_probabilities(flat.reshape(-1, 2))).value

    slope = approx_fprime(scores.ravel(), value, 1e-6).reshape(-1, 2)
    found = likelihood.evaluate(log_probabilities(scores)).gradient
    np.testing.assert_allclose(found, slope, atol=1e-4)


def test_folds_count_what_their_pairs_weigh() -> None:
    weights = integer_weights()
    likelihood = FreshLikelihood(replace(read_labels(Y), weights=weights), 2)
    fold = likelihood.leave_out(np.isin(Y, [1, 3]) | (np.arange(Y.size) < 4))
    assert fold.n_judged == OF_PAIR[1] + OF_PAIR[3]
