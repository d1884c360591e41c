"""KM1 and KM2: against the published procedure, against mathematics, and as estimators."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

import likewise as lw
from likewise.datasets import SUSample
from likewise.prior import simplex
from likewise.prior.distance_curve import DistanceCurve
from likewise.prior.embedding import TwoSamples, embed_exactly, pivoted_cholesky
from likewise.prior.kernel_mean import KernelMeanPrior
from likewise.prior.mixture_proportion import (
    KernelMeanResult,
    Steps,
    Variant,
    find_crossing,
    kernel_mean_embedding,
)
from likewise.prior.simplex import (
    DenseGram,
    FactoredGram,
    Projection,
    project_on_simplex,
)
from tests.prior.published_km import published_kappas, squared_distance_to_simplex

FloatArray = NDArray[np.float64]
Sample = tuple[FloatArray, FloatArray]


def _gaussian_samples(
    n_similar: int, n_unlabeled: int, *, prior: float, seed: int, n_features: int, gap: float = 3.0
) -> Sample:
    """Draw unlabeled rows and members of similar pairs from two Gaussian classes."""
    rng = np.random.default_rng(seed)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    pairs = np.tile(rng.random(n_similar) < share, 2)
    classes = np.concatenate([rng.random(n_unlabeled) < prior, pairs])
    rows = rng.normal(size=(classes.size, n_features))
    rows[:, 0] += gap * classes
    rows /= rows.std(axis=0)
    return rows[:n_unlabeled], rows[n_unlabeled:]


def _waveform_samples(n_similar: int, n_unlabeled: int, *, prior: float, seed: int) -> Sample:
    X, y = lw.datasets.make_waveform(6000, random_state=seed)
    sample = lw.datasets.sample_su(
        X / X.std(axis=0), y, n_similar, n_unlabeled, prior=prior, random_state=seed
    )
    return sample.unlabeled, np.concatenate(sample.similar)


def _kernel(rows: FloatArray, width: float) -> FloatArray:
    distances = np.square(rows[:, None] - rows[None]).sum(axis=2)
    return np.asarray(np.exp(-distances / (2 * width**2)))


def _target(n_mixture: int, n_component: int, value: float) -> FloatArray:
    return np.concatenate(
        [np.full(n_mixture, value / n_mixture), np.full(n_component, (1 - value) / n_component)]
    )


class TestProjection:
    @pytest.mark.parametrize("width", [0.1, 1.0, 5.0])
    @pytest.mark.parametrize("value", [1.05, 2.0, 6.0])
    def test_finds_the_distance_that_a_cone_solver_finds(self, width: float, value: float) -> None:
        mixture, component = _gaussian_samples(20, 40, prior=0.7, seed=0, n_features=2)
        kernel = _kernel(np.concatenate([mixture, component]), width)
        target = _target(40, 40, value)
        found = project_on_simplex(DenseGram(kernel), target, kernel @ target, tol=1e-8)
        reference = squared_distance_to_simplex(kernel, target)
        assert found.squared_distance == pytest.approx(reference, abs=1e-9)
        assert found.distance_error <= 5e-8
        assert found.weights.min() >= 0
        assert found.weights.sum() == pytest.approx(1.0)

    @pytest.mark.parametrize("value", [1.05, 1.5, 3.0])
    def test_a_kernel_of_low_rank_is_no_trouble(self, value: float) -> None:
        mixture, component = _gaussian_samples(100, 100, prior=0.7, seed=9, n_features=1)
        gram = DenseGram(_kernel(np.concatenate([mixture, component]), 1.0))
        assert gram._factored is not None
        assert gram._factored.rank < 50
        target = _target(100, 200, value)
        found = project_on_simplex(gram, target, gram.times(target), tol=1e-7)
        reference = squared_distance_to_simplex(gram._matrix, target)
        assert found.squared_distance == pytest.approx(reference, abs=1e-9)
        assert found.distance_error <= 1e-7

    @pytest.mark.parametrize("n_features", [1, 2, 5])
    @pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
    def test_the_asked_accuracy_is_reached(self, n_features: int, width: float) -> None:
        samples = _gaussian_samples(100, 200, prior=0.7, seed=10, n_features=n_features)
        gram = DenseGram(_kernel(np.concatenate(samples), width))
        for value in (1.05, 1.3, 2.0, 4.0, 8.0):
            target = _target(200, 200, value)
            found = project_on_simplex(gram, target, gram.times(target), tol=1e-6)
            assert found.distance_error <= 1e-6

    def test_the_gap_bounds_the_error_of_any_point(self, rng: np.random.Generator) -> None:
        kernel = _kernel(rng.normal(size=(60, 2)), 1.0)
        gram, target = DenseGram(kernel), _target(30, 30, 3.0)
        image = kernel @ target
        best = project_on_simplex(gram, target, image, tol=1e-10).squared_distance
        for _ in range(20):
            other = simplex._certified(gram, target, image, rng.dirichlet(np.ones(60)), 0)
            assert other.squared_distance - other.gap <= best + 1e-12 <= other.squared_distance

    def test_a_start_changes_the_work_but_not_the_answer(self) -> None:
        mixture, component = _gaussian_samples(100, 100, prior=0.7, seed=2, n_features=5)
        gram = DenseGram(_kernel(np.concatenate([mixture, component]), 1.0))
        near, target = _target(100, 200, 3.1), _target(100, 200, 3.0)
        cold = project_on_simplex(gram, target, gram.times(target), tol=1e-9)
        start = project_on_simplex(gram, near, gram.times(near), tol=1e-9)
        warm = project_on_simplex(gram, target, gram.times(target), tol=1e-9, start=start.weights)
        assert warm.distance == pytest.approx(cold.distance, abs=2e-9)
        assert warm.n_iter < cold.n_iter

    @pytest.mark.parametrize("rank", [5, 150])
    def test_a_factor_stands_for_its_matrix(self, rng: np.random.Generator, rank: int) -> None:
        factor = rng.normal(size=(120, rank)) / np.sqrt(rank)
        residual = rng.random(120) * 0.1
        target = _target(60, 60, 3.0)
        dense = DenseGram(factor @ factor.T + np.diag(residual))
        factored = FactoredGram(factor, residual)
        assert factored.diagonal() == pytest.approx(dense.diagonal())
        answers = [
            project_on_simplex(gram, target, gram.times(target), tol=1e-9)
            for gram in (dense, factored)
        ]
        assert answers[0].distance == pytest.approx(answers[1].distance, abs=2e-9)

    def test_repeated_rows_make_a_singular_kernel_but_no_trouble(self) -> None:
        rows = np.repeat(np.arange(10.0), 8)[:, None]
        kernel = _kernel(rows, 2.0)
        target = _target(40, 40, 2.5)
        found = project_on_simplex(DenseGram(kernel), target, kernel @ target, tol=1e-8)
        assert found.distance_error <= 1e-8


class TestDistanceCurve:
    @pytest.fixture(params=[2, 10])
    def curve(self, request: pytest.FixtureRequest) -> DistanceCurve:
        samples = _gaussian_samples(50, 100, prior=0.7, seed=3, n_features=request.param)
        return DistanceCurve(embed_exactly(TwoSamples.stacked(*samples)))

    def test_begins_at_zero(self, curve: DistanceCurve) -> None:
        assert curve.at(1.0).distance < 1e-6

    def test_is_convex_and_rises(self, curve: DistanceCurve) -> None:
        distances = np.array([curve.at(value).distance for value in np.linspace(1, 8, 15)])
        assert np.all(np.diff(distances) > -1e-6)
        assert np.all(np.diff(distances, 2) > -1e-6)

    @pytest.mark.parametrize("value", [2.5, 4.0])
    def test_slope_is_that_of_central_differences(self, curve: DistanceCurve, value: float) -> None:
        step = 1e-3
        low, _, high = (curve.at(value + k * step, 1e-9).distance for k in (-1, 0, 1))
        assert curve.slope(value) == pytest.approx((high - low) / (2 * step), rel=1e-3)

    @pytest.mark.parametrize("threshold", [0.01, 0.03, 0.06])
    def test_bounds_decide_as_the_difference_itself(
        self, curve: DistanceCurve, threshold: float
    ) -> None:
        for value in np.linspace(2, 7, 6):
            here, ahead = curve.at(value).distance, curve.at(value + 0.02).distance
            expected = (ahead - here) / 0.02 > threshold
            assert curve.rises_faster(value, 0.02, threshold) == expected

    @pytest.mark.parametrize("threshold", [0.001, 0.01, 0.02, 0.03, 0.045, 0.06, 0.3])
    @pytest.mark.parametrize(("left", "tol"), [(2.0, 0.04), (1.0, 0.1), (2.0, 7.0)])
    def test_the_search_ends_where_bisection_does(
        self, curve: DistanceCurve, threshold: float, left: float, tol: float
    ) -> None:
        low, high = left, 8.0
        while high - low > tol:
            middle = (low + high) / 2
            rise = curve.at(middle + tol / 2).distance - curve.at(middle).distance
            low, high = (low, middle) if rise > threshold * tol / 2 else (middle, high)
        fresh = DistanceCurve(curve._embedding)
        found = find_crossing(fresh, threshold, left, 8.0, tol, Steps(None, 0))
        assert found == pytest.approx((low + high) / 2)
        assert fresh.n_projections <= 16


def _same_as_published(mixture: FloatArray, component: FloatArray) -> None:
    result = kernel_mean_embedding(mixture, component)
    assert (result.km1, result.km2) == pytest.approx(published_kappas(mixture, component), abs=0.01)


class TestPublishedProcedure:
    @pytest.mark.parametrize("prior", [0.6, 0.7, 0.9])
    def test_same_shares_on_two_features(self, prior: float) -> None:
        _same_as_published(*_gaussian_samples(25, 50, prior=prior, seed=4, n_features=2))

    def test_same_shares_on_waveform(self) -> None:
        _same_as_published(*_waveform_samples(30, 50, prior=0.7, seed=0))

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [1, 2])
    @pytest.mark.parametrize("prior", [0.6, 0.7, 0.9])
    @pytest.mark.parametrize("n_features", [2, 5])
    def test_same_shares_on_300_gaussian_points(
        self, n_features: int, prior: float, seed: int
    ) -> None:
        samples = _gaussian_samples(100, 100, prior=prior, seed=seed, n_features=n_features)
        _same_as_published(*samples)

    @pytest.mark.slow
    @pytest.mark.parametrize("prior", [0.6, 0.7])
    def test_same_shares_on_300_waveform_points(self, prior: float) -> None:
        _same_as_published(*_waveform_samples(100, 100, prior=prior, seed=5))

    @pytest.mark.parametrize("seed", [0, 1])
    def test_finds_the_share_of_the_authors_demonstration(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        component = rng.normal(size=(400, 2)) + 2
        mixture = np.concatenate([rng.normal(size=(240, 2)), rng.normal(size=(160, 2)) + 2])
        result = kernel_mean_embedding(mixture, component, lambda_left=1.0)
        assert (result.km1, result.km2) == pytest.approx((0.4, 0.4), abs=0.1)


class TestInconsistency:
    """The bounds come from the records of docs/figures/km_limit.csv, the seeds do not."""

    @pytest.mark.parametrize("seed", [100, 101, 102])
    def test_the_share_found_is_far_above_the_probability_of_agreeing(self, seed: int) -> None:
        samples = _gaussian_samples(500, 500, prior=0.7, seed=seed, n_features=2, gap=6.0)
        result = kernel_mean_embedding(*samples)
        assert min(result.km1, result.km2) > 0.58 + 0.08

    @pytest.mark.slow
    def test_the_share_found_tends_to_the_limit_of_separable_classes(self) -> None:
        results = [
            kernel_mean_embedding(
                *_gaussian_samples(2000, 2000, prior=0.7, seed=seed, n_features=2, gap=6.0)
            )
            for seed in (100, 101, 102)
        ]
        means = [np.mean([r.km1 for r in results]), np.mean([r.km2 for r in results])]
        assert means == pytest.approx([0.58 / 0.7] * 2, abs=0.04)


class TestLargeSamples:
    def test_a_low_rank_kernel_gives_the_shares_of_the_exact_one(self) -> None:
        samples = _gaussian_samples(150, 300, prior=0.7, seed=6, n_features=2, gap=6.0)
        exact = kernel_mean_embedding(*samples)
        short = kernel_mean_embedding(*samples, exact_rows=599)
        assert (exact.kernel, short.kernel) == ("exact", "low-rank")
        assert exact.kernel_error == 0.0
        assert exact.rank is None
        assert short.rank is not None
        assert short.rank < 200
        assert short.kernel_error <= 1e-10
        assert (short.km1, short.km2) == pytest.approx((exact.km1, exact.km2), abs=0.01)

    def test_the_kernel_error_bounds_every_entry(self) -> None:
        rows = np.concatenate(_gaussian_samples(50, 50, prior=0.7, seed=7, n_features=4))
        factor, residual = pivoted_cholesky(rows, 2.0, 30)
        difference = _kernel(rows, 2.0) - factor @ factor.T - np.diag(residual)
        assert factor.shape == (150, 30)
        assert np.abs(np.diagonal(difference)).max() < 1e-12
        assert np.abs(difference).max() <= residual.max()

    @pytest.mark.slow
    def test_20000_rows_take_less_than_2_gibibytes(self) -> None:
        resource = pytest.importorskip("resource")
        code = (
            "import resource, numpy as np\n"
            "from likewise.prior.kernel_mean import kernel_mean_embedding\n"
            "rows = np.random.default_rng(0).normal(size=(20000, 2))\n"
            "rows[:8000] += 1\n"
            "kernel_mean_embedding(rows[:10000], rows[10000:])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        output = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
        unit = 1 if sys.platform == "darwin" else 1024
        assert resource is not None
        assert int(output) * unit < 2 * 2**30


@pytest.fixture
def packed(draw_waveform: Callable[..., SUSample]) -> tuple[FloatArray, NDArray[np.int64]]:
    return draw_waveform(60, 80).pack()


@pytest.fixture
def separated() -> tuple[FloatArray, NDArray[np.int64]]:
    """Weak labels of two classes far apart: the search ends in the middle of its interval."""
    mixture, component = _gaussian_samples(100, 150, prior=0.7, seed=8, n_features=2, gap=6.0)
    return lw.pack(mixture, (component[:100], component[100:]))


class TestEstimator:
    def test_turns_the_share_into_the_prior_of_algorithm_1(self, separated: Any) -> None:
        estimator = KernelMeanPrior().fit(*separated)
        expected = (1 + np.sqrt(2 * estimator.kappa_ - 1)) / 2
        estimate = estimator.estimate_
        assert estimator.prior_ == estimate.value == pytest.approx(expected)
        assert (estimate.method, estimate.interval, estimate.level) == ("km2", None, None)
        assert not any(estimate.diagnostics[key] for key in ("at_floor", "at_ceiling", "clipped"))
        assert estimator.n_iter_ > 0

    @pytest.mark.parametrize("variant", ["km1", "km2"])
    def test_both_variants_come_from_one_run(self, packed: Any, variant: Variant) -> None:
        both = KernelMeanPrior().fit(*packed).estimates_
        assert KernelMeanPrior(variant).fit(*packed).estimate_ == both[variant]

    def test_says_when_the_search_ended_at_its_left_end(self, packed: Any) -> None:
        estimate = KernelMeanPrior("km1", lambda_left=7.0).fit(*packed).estimate_
        assert estimate.diagnostics["at_floor"]
        assert not estimate.diagnostics["at_ceiling"]
        assert "lambda_left" in str(estimate)

    def test_says_when_the_search_ended_at_its_right_end(self, separated: Any) -> None:
        estimate = KernelMeanPrior("km1", lambda_right=3.0).fit(*separated).estimate_
        assert estimate.diagnostics["at_ceiling"]
        assert not estimate.diagnostics["at_floor"]

    def test_says_when_the_share_is_no_probability_of_agreeing(
        self, rng: np.random.Generator
    ) -> None:
        unlabeled = np.concatenate([rng.normal(size=(90, 1)), rng.normal(size=(30, 1)) + 8])
        left, right = rng.normal(size=(2, 50, 1)) + 8
        estimator = KernelMeanPrior(lambda_left=1.0).fit(*lw.pack(unlabeled, (left, right)))
        assert estimator.kappa_ < 0.5
        assert estimator.prior_ == 0.5
        assert estimator.estimate_.diagnostics["clipped"]

    def test_says_when_a_flat_curve_does_not_decide_the_end(self, rng: np.random.Generator) -> None:
        unlabeled, left, right = rng.normal(size=(3, 60, 200))
        estimate = KernelMeanPrior().fit(*lw.pack(unlabeled, (left, right))).estimate_
        assert estimate.diagnostics["flat"]

    def test_does_not_look_at_the_pairing_or_the_order(self, separated: Any) -> None:
        X, y = separated
        shuffled = np.random.default_rng(0).permutation(len(y))
        expected = KernelMeanPrior().fit(X, y).kappa_
        assert KernelMeanPrior().fit(X[shuffled], y[shuffled]).kappa_ == pytest.approx(expected)

    def test_units_of_features_do_not_matter_when_standardised(self, separated: Any) -> None:
        X, y = separated
        expected = KernelMeanPrior().fit(X, y).kappa_
        assert KernelMeanPrior().fit(X * [1e3, 1e-3] + 7, y).kappa_ == pytest.approx(expected)

    def test_features_are_taken_as_they_are_when_not_standardised(self, separated: Any) -> None:
        X, y = separated
        result = kernel_mean_embedding(X[y == 0], X[y != 0])
        assert KernelMeanPrior(standardize=False).fit(X, y).result_ == result

    @pytest.mark.parametrize("constant", [0.0, 1e6])
    def test_constant_columns_change_nothing(self, separated: Any, constant: float) -> None:
        X, y = separated
        wider = np.column_stack([X, np.full(len(y), constant)])
        expected = KernelMeanPrior().fit(X, y).kappa_
        assert KernelMeanPrior().fit(wider, y).kappa_ == pytest.approx(expected)

    def test_sparse_tables_and_frames_give_the_answer_of_arrays(self, separated: Any) -> None:
        X, y = separated
        expected = KernelMeanPrior().fit(X, y).prior_
        frame = KernelMeanPrior().fit(pd.DataFrame(X, columns=["a", "b"]), y)
        assert frame.prior_ == expected
        assert frame.feature_names_in_.tolist() == ["a", "b"]
        assert KernelMeanPrior().fit(sp.csr_array(X), y).prior_ == expected

    def test_one_pair_is_enough_for_an_answer(self, rng: np.random.Generator) -> None:
        X, y = lw.pack(rng.normal(size=(5, 2)), [(0, 1)])
        assert 0.5 <= KernelMeanPrior().fit(X, y).prior_ <= 1.0

    def test_a_clone_has_the_same_parameters(self) -> None:
        estimator = KernelMeanPrior("km1", lambda_left=1.5, lambda_right=20.0, tol=0.1)
        assert clone(estimator).get_params() == estimator.get_params()

    def test_progress_counts_up_to_its_total(self, packed: Any) -> None:
        calls: list[tuple[int, int]] = []
        KernelMeanPrior(progress=lambda *call: calls.append(call)).fit(*packed)
        assert [done for done, _ in calls] == list(range(1, calls[0][1] + 1))
        assert {total for _, total in calls} == {calls[0][1]}

    def test_an_interrupt_reaches_the_caller(self, packed: Any) -> None:
        def interrupt(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            KernelMeanPrior(progress=interrupt).fit(*packed)


class TestBadInput:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"variant": "km3"},
            {"lambda_left": 0.5},
            {"lambda_right": 1.0},
            {"tol": 0.0},
            {"standardize": 1.5},
            {"progress": 3},
        ],
    )
    def test_parameters_out_of_range_are_named(
        self, packed: Any, parameters: dict[str, Any]
    ) -> None:
        with pytest.raises(ValueError, match=next(iter(parameters))):
            KernelMeanPrior(**parameters).fit(*packed)

    def test_an_empty_search_interval_is_refused(self, packed: Any) -> None:
        with pytest.raises(ValueError, match="lambda_left < lambda_right"):
            KernelMeanPrior(lambda_left=8.0).fit(*packed)

    def test_not_a_number_is_refused(self, packed: Any) -> None:
        X, y = packed
        X = X.copy()
        X[3, 2] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            KernelMeanPrior().fit(X, y)

    def test_values_too_large_to_be_squared_are_refused(self, packed: Any) -> None:
        X, y = packed
        with pytest.raises(ValueError, match="too large"):
            KernelMeanPrior().fit(X * 1e200, y)

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, 0, 0, 0], "at least one pair"),
            ([1, 1, 2, 2], "same rows"),
            ([0, 0, -1, -1], "all pairs in y are dissimilar"),
            ([0, 0, 0, 5], "split"),
            ([0, 3, 3], "4 rows but y"),
            (None, "requires y"),
        ],
    )
    def test_labels_without_the_needed_rows_are_refused(self, labels: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            KernelMeanPrior().fit(np.arange(8.0).reshape(4, 2), labels)

    def test_rows_that_are_all_alike_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no width"):
            KernelMeanPrior().fit(np.ones((6, 2)), [0, 0, 1, 1, 2, 2])

    def test_pairs_that_are_the_unlabeled_rows_are_refused(self) -> None:
        rows = np.arange(6.0).reshape(6, 1)
        X, y = lw.pack(rows, (rows[:3], rows[3:]))
        with pytest.raises(ValueError, match="same rows"):
            KernelMeanPrior().fit(X, y)

    def test_a_sparse_table_too_large_to_be_dense_is_refused(self) -> None:
        X = sp.csr_array((4, 10**8))
        with pytest.raises(ValueError, match="GiB as a dense table"):
            KernelMeanPrior().fit(X, [0, 0, 1, 1])


def test_a_result_knows_its_own_ends() -> None:
    rng = np.random.default_rng(0)
    result = kernel_mean_embedding(rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 3)
    assert isinstance(result, KernelMeanResult)
    assert isinstance(result.distance_error, float)
    for variant, value in (("km1", result.lambda1), ("km2", result.lambda2)):
        name: Variant = "km1" if variant == "km1" else "km2"
        assert result.at_floor(name) == (value - 2.0 <= 0.04)
        assert result.at_ceiling(name) == (8.0 - value <= 0.04)


def test_projection_error_is_zero_for_an_exact_point() -> None:
    exact = Projection(np.ones(1), 4.0, 0.0, np.zeros(1), 0)
    assert (exact.distance, exact.distance_error) == (2.0, 0.0)
