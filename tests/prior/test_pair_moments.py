"""The class prior from pair moments."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import likewise as lw
from likewise.datasets import SUSample
from likewise.prior import pair_moments, scores
from likewise.prior.latent_classes import Counts
from likewise.prior.pair_moments import PairMomentPrior
from likewise.prior.scores import HeldOut, learn_scores
from likewise.search.rows import MemoryRows
from likewise.search.settings import Settings
from likewise.statements.labels import read_labels
from tests.prior.draws import draw_gaussians, draw_rings, draw_table

Draw = Callable[..., SUSample]


def estimate(X: Any, y: Any, **settings: Any) -> lw.PriorEstimate:
    return lw.estimate_prior(X, y, method="pair_moments", **{"random_state": 0, **settings})


def errors(estimates: list[lw.PriorEstimate], prior: float) -> np.ndarray:
    return np.array([estimate.value - prior for estimate in estimates])


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.6, 0.75, 0.9])
def test_the_error_is_small_and_falls_with_more_data(prior: float) -> None:
    spread = {
        n: np.abs(
            errors(
                [estimate(*draw_gaussians(n, prior, seed), random_state=seed) for seed in range(6)],
                prior,
            )
        ).mean()
        for n in (250, 2000)
    }
    assert spread[2000] < 0.03
    assert spread[2000] < spread[250] + 0.005


@pytest.mark.usefixtures("linear_only")
@pytest.mark.parametrize("prior", [0.6, 0.75, 0.9])
def test_the_prior_is_found(prior: float) -> None:
    assert estimate(*draw_gaussians(400, prior, 0)).value == pytest.approx(prior, abs=0.08)


@pytest.mark.slow
def test_many_noise_features_do_not_bias_it() -> None:
    found = errors(
        [estimate(*draw_gaussians(500, 0.7, seed, noise_features=50)) for seed in range(8)],
        0.7,
    )
    assert abs(found.mean()) < 0.02 + 2 * found.std() / np.sqrt(8)


@pytest.mark.usefixtures("linear_only")
def test_near_one_half_the_interval_touches_one_half() -> None:
    for seed in range(2):
        found = estimate(*draw_gaussians(300, 0.5, seed))
        assert found.interval[0] == 0.5
        assert found.value < 0.6


@pytest.mark.usefixtures("linear_only")
def test_pairs_without_signal_are_said_to_have_none_and_leave_the_prior_open(
    rng: np.random.Generator,
) -> None:
    said = []
    for _ in range(5):
        rows, *members = rng.standard_normal((3, 150, 3))
        found = estimate(*lw.pack(rows, similar=tuple(members)))
        assert found.interval[1] - found.interval[0] > 0.3
        said.append("no signal" in str(found))
    assert sum(said) >= 3


def test_classes_that_no_line_separates_are_found_with_kernel_features() -> None:
    found = estimate(*draw_rings(300, 0))
    assert found.diagnostics["features"].startswith("rbf")
    assert found.value == pytest.approx(0.7, abs=0.07)


@pytest.mark.usefixtures("linear_only")
def test_bins_of_held_out_rows_are_those_of_their_ranks() -> None:
    X, y = draw_gaussians(60, 0.7, 0)
    source = MemoryRows(X, read_labels(y))
    assert source.engine is not None
    learned, _ = learn_scores(source, Settings(), np.random.RandomState(0))
    # Of every two, the first was learned from.
    others = HeldOut(
        source.whole.split([2, 2, 2])[1], source.engine, {"unlabeled": 2, "similar": 2}
    )
    counts = pair_moments._count_held_out(learned, others)
    reference = np.sort(learned.candidate.scores[learned.likelihood.population, 0])
    parts = lw.unpack(X, y)
    ranks = [
        np.searchsorted(reference, learned.scores(table[1::2])[:, 0]) / reference.size
        for table in (parts.left, parts.right, parts.unlabeled)
    ]
    expected = Counts.of_ranks(ranks[0], ranks[1], ranks[2], pair_moments._EDGES)
    np.testing.assert_array_equal(counts.pairs, expected.pairs)
    np.testing.assert_array_equal(counts.rows, expected.rows)


@pytest.mark.usefixtures("linear_only")
def test_large_samples_are_scored_on_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_LEARNING_SIZE", 300)
    X, y = draw_gaussians(1500, 0.8, 0)
    found = PairMomentPrior(random_state=0).fit(X, y).estimate_
    assert found.diagnostics["n_pairs"] == 1200
    assert found.value == pytest.approx(0.8, abs=0.05)


@pytest.mark.usefixtures("linear_only")
def test_pairs_met_in_one_table_tell_the_prior() -> None:
    sample = draw_table("met", 300, 200, seed=1)
    found = estimate(*sample.pack())
    assert found.interval[0] < 0.7 < found.interval[1]
    assert found.diagnostics["n_pairs"] == 200
    assert found.diagnostics["n_rows"] == 300


@pytest.mark.usefixtures("linear_only")
def test_many_pairs_of_one_table_tell_no_more_than_all_its_classes_would() -> None:
    found = estimate(*draw_table("met", 100, 1500, seed=1).pack(), level=0.9)
    low, high = found.interval
    assert high - low > 2 * 1.645 * np.sqrt(found.value * (1 - found.value) / 100)


@pytest.mark.usefixtures("linear_only")
def test_a_narrow_posterior_is_resolved() -> None:
    X, y = draw_gaussians(60_000, 0.8, 0, separation=4.0)
    found = PairMomentPrior(random_state=0).fit(X, y).estimate_
    low, high = found.interval
    assert 0.001 < high - low < 0.03
    assert found.value == pytest.approx(0.8, abs=0.01)


@pytest.mark.usefixtures("linear_only")
def test_sparse_rows_and_constant_columns_give_the_dense_estimate() -> None:
    X, y = draw_gaussians(150, 0.8, 1)
    X = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 3.0)])
    dense = PairMomentPrior(random_state=0).fit(X, y)
    sparse = PairMomentPrior(random_state=0).fit(sp.csr_matrix(X), y)
    assert sparse.prior_ == pytest.approx(dense.prior_, abs=1e-6)


@pytest.mark.usefixtures("linear_only")
def test_the_same_seed_gives_the_same_estimate_and_leaves_input_alone() -> None:
    X, y = draw_gaussians(100, 0.8, 1)
    before = X.copy()
    estimator = PairMomentPrior(random_state=3)
    assert estimator.fit(X, y).prior_ == clone(estimator).fit(X, y).prior_
    np.testing.assert_array_equal(X, before)


@pytest.mark.usefixtures("linear_only")
def test_a_higher_level_gives_a_wider_interval() -> None:
    X, y = draw_gaussians(100, 0.7, 2)
    narrow, wide = (estimate(X, y, level=p).interval for p in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, "high"])
def test_bad_levels_are_named(level: Any) -> None:
    with pytest.raises(ValueError, match="'level' parameter"):
        PairMomentPrior(level=level).fit(*draw_gaussians(20, 0.7, 0))


def test_too_few_pairs_and_unknown_methods_are_answered_with_what_to_do() -> None:
    X, y = draw_gaussians(9, 0.7, 0)
    with pytest.raises(ValueError, match=r"at least 10 pairs.*pass prior="):
        estimate(X, y)
    with pytest.raises(ValueError, match="pair_likelihood, pair_moments, km1, km2"):
        lw.estimate_prior(X, y, method="guess")


@pytest.mark.usefixtures("linear_only")
def test_the_unit_of_a_feature_does_not_matter() -> None:
    X, y = draw_gaussians(100, 0.8, 1)
    plain, tiny = (estimate(X * unit, y).value for unit in (1.0, 1e-12))
    assert tiny == pytest.approx(plain, abs=1e-3)


def test_bad_rows_are_refused() -> None:
    X, y = draw_gaussians(20, 0.7, 0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimate(X, y)
    with pytest.raises(ValueError, match="similar pairs only"):
        estimate(*lw.pack(np.eye(8), similar=[(0, 1)], dissimilar=[(2, 3)]))


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.7, 0.85])
def test_nine_of_ten_intervals_hold_the_prior(draw_waveform: Draw, prior: float) -> None:
    held = 0
    for seed in range(100):
        X, y = draw_waveform(500, 500, prior, seed).pack()
        interval = estimate(X, y, level=0.9, random_state=seed).interval
        held += interval[0] <= prior <= interval[1]
    assert 80 <= held <= 98  # 84 to 96 in expectation, give or take a standard error of 3
