"""Pairs that were found: the saddle point, against sums by the number of rows of either class."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.table import Pairing
from likewise.search.calibration import calibrate
from tests.beliefs.brute_force import Block, Said, free_by_counts, random_by_counts
from tests.beliefs.cases import draw_answers, likelihood
from tests.search.gaussians import Gaussians


@dataclass(frozen=True)
class Found:
    """Statements about rows of two classes, in both forms, and scores of the rows."""

    said: Said
    blocks: list[Block]
    scores: FloatArray


def draw_found(n_rows: int, sizes: list[int], seed: int, n_apart: int = 0) -> Found:
    """Draw rows, groups of such sizes among alike ones, and groups that differ from the next."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_rows) < 0.6).astype(int)
    left = [rng.permutation(np.flatnonzero(labels == c)).tolist() for c in (0, 1)]
    groups: list[list[int]] = []
    for size in sizes:
        c = int(rng.random() < 0.65)
        c = c if len(left[c]) >= size else 1 - c
        groups.append([left[c].pop() for _ in range(size)])
    blocks: list[Block] = []
    apart: list[tuple[int, int]] = []
    for group in groups:
        other = left[1 - labels[group[0]]]
        if len(apart) < n_apart and other:
            blocks.append(Block(group, [other.pop()], 1))
            apart.append((group[0], blocks[-1].other[0]))
        else:
            blocks.append(Block(group))
    blocks += [Block([row]) for rows in left for row in rows]
    scores = 1.5 * (2 * labels - 1) + 1.5 * rng.normal(size=n_rows)
    return Found(Said(n_rows, groups, apart), blocks, scores)


SHAPES: dict[str, Callable[[int], list[int]]] = {
    "pairs": lambda n: [2] * (n // 4),
    "small groups": lambda n: [5] * (n // 10),
    "several medium components": lambda n: [max(3, n // 12)] * 4 + [2] * (n // 12),
    "one giant component": lambda n: [n // 4] + [2] * (n // 8),
}


def errors_of(
    found: Found, pairing: Pairing, exactly: Callable[[FloatArray], float], seed: int
) -> tuple[float, float]:
    """Return how wrong a difference of values and some posteriors are."""
    model = likelihood(found.said, pairing=pairing)
    step = 0.3 * np.random.default_rng(seed).normal(size=found.scores.size)
    log_p, moved = (log_probabilities(found.scores + s) for s in (0.0, step))
    here = model.evaluate(log_p)
    exact = exactly(log_p)
    gain = model.evaluate(moved).value - here.value
    posteriors = []
    for row in (found.blocks[0].own[0], found.blocks[3].own[0], found.blocks[-1].own[0]):
        without = log_p.copy()
        without[row, 0] = -1e8
        posteriors.append(np.exp(exactly(without) - exact) - here.posteriors[row, 1])
    return abs(gain - (exactly(moved) - exact)), float(np.abs(posteriors).max())


@pytest.mark.parametrize("n_apart", [0, 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_found_at_random_the_saddle_point_nears_the_exact_sum(shape: str, n_apart: int) -> None:
    sizes = {}
    for n_rows in (50, 200, 800):
        draws = [draw_found(n_rows, SHAPES[shape](n_rows), seed, n_apart) for seed in range(3)]
        pairs = [
            errors_of(draw, "random", lambda p, d=draw: random_by_counts(p, d.blocks), 1)  # type: ignore[misc]
            for draw in draws
        ]
        sizes[n_rows] = np.max(pairs, axis=0)
    assert (sizes[50] < 0.05).all()
    assert (sizes[200] < 0.02).all()
    # Posteriors of single rows are wrong by the order of one over n.
    assert sizes[800][0] < 0.01
    assert sizes[800][1] < 0.005
    assert sizes[800][1] < sizes[50][1]


@pytest.mark.parametrize("shape", SHAPES)
def test_found_freely_the_saddle_point_nears_the_exact_sum(shape: str) -> None:
    found = draw_found(200, SHAPES[shape](200), 0)
    gain, posterior = errors_of(
        found, "free", lambda log_p: free_by_counts(log_p, found.blocks)[0], 1
    )
    assert gain < 0.03
    assert posterior < 0.02
    share = free_by_counts(log_probabilities(found.scores), found.blocks)[1]
    shares = likelihood(found.said, pairing="free").evaluate(log_probabilities(found.scores))
    assert shares.pair_shares is not None
    assert shares.pair_shares[1] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_with_the_other_sign_are_followed_from_a_nearby_start(
    shape: str, pairing: Pairing
) -> None:
    found = draw_found(100, SHAPES[shape](100), 2)
    model = likelihood(found.said, pairing=pairing)
    cold = model.evaluate(log_probabilities(-found.scores))
    warm = model.evaluate(
        log_probabilities(-found.scores), model.evaluate(log_probabilities(found.scores))
    )
    assert warm.value == pytest.approx(cold.value, abs=1e-5)
    np.testing.assert_allclose(warm.posteriors, cold.posteriors, atol=1e-5)
    same = model.evaluate(log_probabilities(found.scores))
    np.testing.assert_allclose(cold.posteriors, same.posteriors[:, ::-1], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("n_pairs", [300, 1000])
def test_the_prior_of_met_pairs_has_no_bias(n_pairs: int) -> None:
    model, errors = Gaussians(prior=0.7), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = (rng.random(600) < model.prior).astype(int)
        scores = model.log_odds(model.separation * (labels - 0.5) + rng.standard_normal(600))
        said = draw_answers(rng, labels, n_pairs, is_found=True)
        found = calibrate(scores, likelihood(said, pairing="random"))
        errors.append(found.share - labels.mean())
    assert abs(np.mean(errors)) < 3 * np.std(errors, ddof=1) / np.sqrt(20)
    assert abs(np.mean(errors)) < 0.01
