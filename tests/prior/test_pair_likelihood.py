"""The class prior from the pair likelihood."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import likewise as lw
from likewise.datasets import SUSample
from likewise.prior import PairLikelihoodPrior, scores
from tests.prior.draws import draw_gaussians, draw_rings, draw_table

Draw = Callable[..., SUSample]


def estimate(X: Any, y: Any, **settings: Any) -> lw.PriorEstimate:
    fitted = PairLikelihoodPrior(**{"random_state": 0, **settings}).fit(X, y)
    assert fitted.prior_ == fitted.estimate_.value
    found: lw.PriorEstimate = fitted.estimate_
    return found


@pytest.mark.usefixtures("linear_only")
@pytest.mark.parametrize("prior", [0.6, 0.75, 0.9])
def test_the_prior_is_found(prior: float) -> None:
    found = np.array([estimate(*draw_gaussians(300, prior, seed)).value for seed in range(2)])
    assert np.abs(found - prior).mean() < 0.05


@pytest.mark.usefixtures("linear_only")
def test_it_is_what_estimate_prior_returns_by_default() -> None:
    X, y = draw_gaussians(60, 0.8, 1)
    found = lw.estimate_prior(X, y, level=0.8, random_state=0)
    assert found == estimate(X, y, level=0.8)
    assert (found.method, found.level) == ("pair_likelihood", 0.8)


@pytest.mark.slow
def test_it_beats_pair_moments(draw_waveform: Draw) -> None:
    errors: dict[str, list[float]] = {"pair_likelihood": [], "pair_moments": []}
    for seed in range(5):
        X, y = draw_waveform(300, 300, 0.7, seed).pack()
        for method, found in errors.items():
            found.append(abs(lw.estimate_prior(X, y, method=method, random_state=0).value - 0.7))
    assert np.mean(errors["pair_likelihood"]) < np.mean(errors["pair_moments"]) + 0.005
    assert np.mean(errors["pair_likelihood"]) < 0.04


@pytest.mark.usefixtures("linear_only")
def test_near_one_half_the_interval_touches_one_half() -> None:
    for seed in range(2):
        found = estimate(*draw_gaussians(200, 0.5, seed))
        assert found.interval[0] == 0.5
        assert found.value < 0.62
        assert "reaches one half" in str(found)


@pytest.mark.usefixtures("linear_only")
def test_pairs_without_signal_are_said_to_have_none(rng: np.random.Generator) -> None:
    X, y = lw.pack(rng.standard_normal((150, 3)), similar=tuple(rng.standard_normal((2, 150, 3))))
    found = estimate(X, y)
    assert "no signal" in str(found)
    assert found.interval[0] == 0.5


@pytest.mark.usefixtures("linear_only")
def test_dissimilar_pairs_narrow_the_interval() -> None:
    X, y = draw_gaussians(150, 0.7, 0, n_dissimilar=300)
    both, similar = estimate(X, y), estimate(X[y >= 0], y[y >= 0])
    assert np.ptp(both.interval) < np.ptp(similar.interval)
    assert both.diagnostics["n_pairs"] == 450


def test_classes_that_no_line_separates_are_found_with_kernel_features() -> None:
    found = estimate(*draw_rings(200, 0))
    assert found.diagnostics["features"].startswith("rbf")
    assert found.value == pytest.approx(0.7, abs=0.06)


@pytest.mark.usefixtures("linear_only")
def test_large_samples_are_read_off_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_LEARNING_SIZE", 200)
    X, y = draw_gaussians(1500, 0.8, 0)
    found = estimate(X, y)
    # Every eighth is learned from.
    assert found.diagnostics["n_pairs"] == found.diagnostics["n_rows"] == 1500 - 188
    assert found.value == pytest.approx(0.8, abs=0.04)
    monkeypatch.setattr(scores, "_SAMPLE_SIZE", 600)
    # Every third is looked at; of these 500, every third is learned from.
    assert estimate(X, y).diagnostics["n_pairs"] == 500 - 167


@pytest.mark.usefixtures("linear_only")
def test_sparse_rows_and_constant_columns_give_the_dense_estimate() -> None:
    X, y = draw_gaussians(120, 0.8, 1)
    X = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 3.0)])
    dense, sparse = estimate(X, y), estimate(sp.csr_matrix(X), y)
    assert sparse.value == pytest.approx(dense.value, abs=1e-3)


@pytest.mark.usefixtures("linear_only")
def test_the_same_seed_gives_the_same_estimate_and_leaves_input_alone() -> None:
    X, y = draw_gaussians(60, 0.8, 1)
    before = X.copy()
    estimator = PairLikelihoodPrior(random_state=3)
    assert estimator.fit(X, y).prior_ == clone(estimator).fit(X, y).prior_
    np.testing.assert_array_equal(X, before)


@pytest.mark.usefixtures("linear_only")
def test_a_higher_level_gives_a_wider_interval() -> None:
    X, y = draw_gaussians(100, 0.7, 2)
    narrow, wide = (estimate(X, y, level=level).interval for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.usefixtures("linear_only")
def test_the_unit_of_a_feature_does_not_matter() -> None:
    X, y = draw_gaussians(80, 0.8, 1)
    plain, tiny = (estimate(X * unit, y).value for unit in (1.0, 1e-12))
    assert tiny == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, "high"])
def test_bad_levels_are_named(level: Any) -> None:
    with pytest.raises(ValueError, match="'level' parameter"):
        PairLikelihoodPrior(level=level).fit(*draw_gaussians(20, 0.7, 0))


def test_bad_rows_are_refused() -> None:
    X, y = draw_gaussians(20, 0.7, 0)
    with pytest.raises(ValueError, match=r"Pair 20 is split.*PairKFold"):
        estimate(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="at least 10 pairs"):
        estimate(*draw_gaussians(9, 0.7, 0))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimate(X, y)


# --- one table --------------------------------------------------------------------------------


@pytest.mark.usefixtures("linear_only")
@pytest.mark.parametrize(("kind", "n_statements"), [("asked", 400), ("met", 300)])
def test_statements_about_one_table_tell_the_prior(kind: str, n_statements: int) -> None:
    sample = draw_table(kind, 300, n_statements, seed=1)
    found = lw.estimate_prior(*sample.pack(), random_state=0)
    assert found.interval[0] < 0.7 < found.interval[1]
    assert found.value == pytest.approx(np.mean(sample.y_table == 1), abs=0.03)
    assert found.diagnostics["n_pairs"] == n_statements
    assert found.diagnostics["n_rows"] == 300


@pytest.mark.slow
@pytest.mark.usefixtures("linear_only")
def test_pairing_can_be_told() -> None:
    X, y = draw_table("met", 80, 60).pack()
    random, free, auto = (
        lw.estimate_prior(X, y, pairing=pairing, random_state=0)
        for pairing in ("random", "free", "auto")
    )
    assert auto == random
    assert free != random
    assert free.value == pytest.approx(random.value, abs=0.15)


@pytest.mark.usefixtures("linear_only")
@pytest.mark.parametrize("error_rate", [0.15, "auto"])
def test_wrong_answers_are_allowed_for(error_rate: Any) -> None:
    sample = draw_table("asked", 120, 480, error_rate=0.15)
    found = lw.estimate_prior(*sample.pack(), error_rate=error_rate, random_state=0)
    assert found.value == pytest.approx(np.mean(sample.y_table == 1), abs=0.03)
    with pytest.raises(ValueError, match=r"contradict.*error_rate='auto'"):
        lw.estimate_prior(*sample.pack())


@pytest.mark.usefixtures("linear_only")
def test_shares_of_three_classes_are_an_array_the_largest_first(rng: np.random.Generator) -> None:
    shares = np.array([0.2, 0.5, 0.3])
    classes = rng.choice(3, 1000, p=shares)
    X = 4.0 * np.eye(3)[classes] + rng.standard_normal((1000, 3))
    sample = lw.datasets.sample_statements(X, classes, 200, 300, random_state=0)
    found = lw.estimate_prior(*sample.pack(), n_classes=3, random_state=0)
    assert found.value.shape == (3,)
    assert found.interval.shape == (3, 2)
    ordered = np.sort(shares)[::-1]
    assert (found.interval[:, 0] < ordered).all()
    assert (ordered < found.interval[:, 1]).all()
    np.testing.assert_allclose(found.value.sum(), 1.0, atol=0.01)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"pairing": "asked"}, "pairing='asked' is for"), ({"error_rate": 0.1}, "error_rate is for")],
)
def test_what_is_for_one_table_is_refused_beside_fresh_pairs(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=rf"{words}.*one table.*fresh pairs"):
        lw.estimate_prior(*draw_gaussians(20, 0.7, 0), **settings)


@pytest.mark.parametrize("method", ["pair_moments", "km1", "km2"])
@pytest.mark.parametrize(
    "settings", [{"n_classes": 3}, {"pairing": "free"}, {"error_rate": "auto"}]
)
def test_settings_of_the_pair_likelihood_are_refused_with_other_methods(
    method: str, settings: dict[str, Any]
) -> None:
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name} is for method='pair_likelihood'"):
        lw.estimate_prior(*draw_gaussians(20, 0.7, 0), method=method, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.6, 0.7, 0.85])
def test_nine_of_ten_intervals_hold_the_prior(draw_waveform: Draw, prior: float) -> None:
    held = 0
    for seed in range(60):
        interval = estimate(*draw_waveform(300, 300, prior, seed).pack(), level=0.9).interval
        held += interval[0] <= prior <= interval[1]
    assert 0.8 * 60 <= held <= 0.99 * 60  # nine of ten, give or take a standard error of 4 %
