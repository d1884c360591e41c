"""The class prior from pair moments."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import likewise as lw
from likewise.datasets import SUSample
from likewise.pairs import locate
from likewise.prior import pair_moments
from likewise.prior.latent_classes import Counts
from likewise.prior.pair_moments import PairMomentPrior
from likewise.prior.scores import Triple, learn_score, rank

Draw = Callable[..., SUSample]


def draw_gaussians(
    n: int, prior: float, seed: int, noise_features: int = 0, separation: float = 3.0
) -> tuple[Any, Any]:
    """Draw n pairs and n rows from two Gaussians that differ in the first feature."""
    rng = np.random.default_rng(seed)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    labels = np.where(rng.random(n) < share, 1, -1), np.where(rng.random(n) < prior, 1, -1)

    def rows(y: np.ndarray) -> np.ndarray:
        X = rng.standard_normal((n, 2 + noise_features))
        X[:, 0] += separation / 2 * y
        return X

    return lw.pack(rows(labels[1]), similar=(rows(labels[0]), rows(labels[0])))


def errors(estimates: list[lw.PriorEstimate], prior: float) -> np.ndarray:
    return np.array([estimate.value - prior for estimate in estimates])


@pytest.mark.parametrize("prior", [0.6, 0.75, 0.9])
def test_the_error_is_small_and_falls_with_more_data(prior: float) -> None:
    spread = {
        n: np.abs(
            errors(
                [
                    lw.estimate_prior(*draw_gaussians(n, prior, seed), random_state=seed)
                    for seed in range(6)
                ],
                prior,
            )
        ).mean()
        for n in (250, 2000)
    }
    assert spread[2000] < 0.03
    assert spread[2000] < spread[250] + 0.005


def test_many_noise_features_do_not_bias_it() -> None:
    found = errors(
        [
            lw.estimate_prior(*draw_gaussians(500, 0.7, seed, noise_features=50), random_state=0)
            for seed in range(8)
        ],
        0.7,
    )
    assert abs(found.mean()) < 0.02 + 2 * found.std() / np.sqrt(8)


def test_near_one_half_the_interval_touches_one_half() -> None:
    for seed in range(3):
        estimate = lw.estimate_prior(*draw_gaussians(400, 0.5, seed), random_state=0)
        assert estimate.interval is not None
        assert estimate.interval[0] == 0.5
        assert estimate.value < 0.6


def test_pairs_without_signal_are_said_to_have_none(rng: np.random.Generator) -> None:
    X, y = lw.pack(rng.standard_normal((200, 3)), similar=tuple(rng.standard_normal((2, 200, 3))))
    estimate = PairMomentPrior(random_state=0).fit(X, y).estimate_
    assert "no signal" in str(estimate)
    assert estimate.interval[1] - estimate.interval[0] > 0.3


def test_classes_that_no_line_separates_are_found_with_kernel_features() -> None:
    rng = np.random.default_rng(0)

    def rings(radius: np.ndarray) -> np.ndarray:
        angle = rng.uniform(0, 2 * np.pi, radius.size)
        points = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
        return np.asarray(points + 0.2 * rng.standard_normal(points.shape))

    pairs = np.where(rng.random(400) < 0.49 / 0.58, 1.0, 3.0)
    rows = np.where(rng.random(400) < 0.7, 1.0, 3.0)
    X, y = lw.pack(rings(rows), similar=(rings(pairs), rings(pairs)))
    estimate = PairMomentPrior(random_state=0).fit(X, y).estimate_
    assert estimate.diagnostics["features"] == "rbf"
    assert estimate.value == pytest.approx(0.7, abs=0.07)


def test_bins_of_held_out_rows_are_those_of_their_ranks() -> None:
    X, y = draw_gaussians(60, 0.7, 0)
    rows = lw.unpack(X, y)
    sample = Triple(rows.left, rows.right, rows.unlabeled)
    candidate = learn_score(sample, 5, np.random.RandomState(0))
    counts = pair_moments._count_held_out(candidate, X, locate(y))
    ranks = [
        rank(candidate.score(table), candidate.quantiles)
        for table in (rows.left, rows.right, rows.unlabeled)
    ]
    expected = Counts.of_ranks(ranks[0], ranks[1], ranks[2], pair_moments._EDGES)
    np.testing.assert_array_equal(counts.pairs, expected.pairs)
    np.testing.assert_array_equal(counts.rows, expected.rows)


def test_large_samples_are_scored_on_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_moments, "_LEARNING_SIZE", 300)
    X, y = draw_gaussians(2500, 0.8, 0)
    estimate = PairMomentPrior(random_state=0).fit(X, y).estimate_
    assert estimate.diagnostics["n_pairs"] == 2200
    assert estimate.value == pytest.approx(0.8, abs=0.05)


def test_a_narrow_posterior_is_resolved() -> None:
    X, y = draw_gaussians(60_000, 0.8, 0, separation=4.0)
    estimate = PairMomentPrior(random_state=0).fit(X, y).estimate_
    low, high = estimate.interval
    assert 0.001 < high - low < 0.03
    assert estimate.value == pytest.approx(0.8, abs=0.01)


def test_sparse_rows_and_constant_columns_give_the_dense_estimate() -> None:
    X, y = draw_gaussians(150, 0.8, 1)
    X = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 3.0)])
    dense = PairMomentPrior(random_state=0).fit(X, y)
    sparse = PairMomentPrior(random_state=0).fit(sp.csr_matrix(X), y)
    assert sparse.prior_ == pytest.approx(dense.prior_, abs=1e-6)


def test_the_same_seed_gives_the_same_estimate_and_leaves_input_alone() -> None:
    X, y = draw_gaussians(100, 0.8, 1)
    before = X.copy()
    estimator = PairMomentPrior(random_state=3)
    assert estimator.fit(X, y).prior_ == clone(estimator).fit(X, y).prior_
    np.testing.assert_array_equal(X, before)


def test_a_higher_level_gives_a_wider_interval() -> None:
    X, y = draw_gaussians(200, 0.7, 2)
    narrow, wide = (lw.estimate_prior(X, y, level=p, random_state=0).interval for p in (0.5, 0.99))
    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, "high"])
def test_bad_levels_are_named(level: Any) -> None:
    with pytest.raises(ValueError, match="'level' parameter"):
        PairMomentPrior(level=level).fit(*draw_gaussians(20, 0.7, 0))


def test_too_few_pairs_and_unknown_methods_are_answered_with_what_to_do() -> None:
    X, y = draw_gaussians(9, 0.7, 0)
    with pytest.raises(ValueError, match=r"at least 10 similar pairs.*pass prior="):
        lw.estimate_prior(X, y)
    with pytest.raises(ValueError, match="pair_moments, km1, km2"):
        lw.estimate_prior(X, y, method="guess")


def test_the_unit_of_a_feature_does_not_matter() -> None:
    X, y = draw_gaussians(100, 0.8, 1)
    plain, tiny = (lw.estimate_prior(X * unit, y, random_state=0).value for unit in (1.0, 1e-12))
    assert tiny == pytest.approx(plain, abs=1e-3)


def test_too_many_features_are_answered_with_what_to_do() -> None:
    with pytest.raises(ValueError, match="TruncatedSVD"):
        lw.estimate_prior(*lw.pack(np.eye(12, 2001), similar=[(k, k + 1) for k in range(10)]))


def test_bad_rows_are_refused() -> None:
    X, y = draw_gaussians(20, 0.7, 0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        lw.estimate_prior(X, y)
    with pytest.raises(ValueError, match="similar pairs only"):
        lw.estimate_prior(*lw.pack(np.eye(8), similar=[(0, 1)], dissimilar=[(2, 3)]))


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.7, 0.85])
def test_nine_of_ten_intervals_hold_the_prior(draw_waveform: Draw, prior: float) -> None:
    held = 0
    for seed in range(100):
        X, y = draw_waveform(500, 500, prior, seed).pack()
        interval = lw.estimate_prior(X, y, level=0.9, random_state=seed).interval
        assert interval is not None
        held += interval[0] <= prior <= interval[1]
    assert 80 <= held <= 98  # 84 to 96 in expectation, give or take a standard error of 3
