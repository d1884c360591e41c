"""The pair likelihood."""

import numpy as np
import pytest
from scipy.special import expit

from likewise.likelihood import expand, negative_log_likelihood


def test_it_is_the_log_density_ratio_written_out(rng: np.random.Generator) -> None:
    left, right, unlabeled = rng.normal(size=(3, 20))
    a, b, q = expit(left), expit(right), expit(unlabeled).mean()
    ratio = (a * b + (1 - a) * (1 - b)) / (q**2 + (1 - q) ** 2)
    assert negative_log_likelihood(left, right, unlabeled) == pytest.approx(-np.log(ratio).mean())


def test_a_constant_score_carries_no_information() -> None:
    for level in (-3.0, 0.0, 2.0):
        constant = np.full(5, level)
        assert negative_log_likelihood(constant, constant, constant) == pytest.approx(0, abs=1e-12)


def test_swapping_the_classes_changes_nothing(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(3, 20))
    assert negative_log_likelihood(*scores) == pytest.approx(negative_log_likelihood(*-scores))


@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])
def test_derivatives_match_finite_differences(rng: np.random.Generator, size: float) -> None:
    scores = size * rng.normal(size=(3, 6))
    value, *slopes = expand(*scores)
    assert value == pytest.approx(negative_log_likelihood(*scores))
    step = 1e-5 * size
    for kind in range(3):
        for entry in range(6):
            moved = [scores.copy(), scores.copy()]
            for sign, copy in zip((1, -1), moved, strict=True):
                copy[kind, entry] += sign * step
            slope = (negative_log_likelihood(*moved[0]) - negative_log_likelihood(*moved[1])) / (
                2 * step
            )
            assert slopes[kind][entry] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_extreme_scores_stay_finite() -> None:
    scores = np.array([-500.0, 500.0])
    value, *slopes = expand(scores, -scores, scores)
    # Either pair disagrees by 500 nats up to log 2; the mean share of +1 is one half.
    assert value == pytest.approx(500 - np.log(2) + np.log(0.5), rel=1e-9)
    assert all(np.isfinite(slope).all() for slope in slopes)
