"""K-means in which separated pairs cost a penalty."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import PCKMeans
from likewise.baselines.base import Sample
from likewise.baselines.pckmeans import assign_rows, cluster_pairs, separated
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


def standardised(drawn: SUSample) -> Sample:
    X, _ = drawn.pack()
    mean, scale = X.mean(axis=0), X.std(axis=0)
    parts = ((part - mean) / scale for part in (*drawn.similar, drawn.unlabeled))
    return Sample(*parts)


def objective(rows: np.ndarray, in_second: np.ndarray, weight: float, n_pairs: int) -> float:
    """The objective at the best centres, as its definition reads."""
    squares = sum(
        np.sum((part - part.mean(axis=0)) ** 2) / 2 for part in (rows[in_second], rows[~in_second])
    )
    return float(squares + weight * np.sum(in_second[:n_pairs] != in_second[n_pairs : 2 * n_pairs]))


@pytest.mark.parametrize("penalty", [0.0, 0.7, np.inf])
def test_each_pair_is_assigned_at_the_least_cost(rng: np.random.Generator, penalty: float) -> None:
    advantages = rng.standard_normal(70)
    in_second = assign_rows(advantages, penalty, 30)
    for i in range(30):
        cost = {
            (left, right): -left * advantages[i]
            - right * advantages[30 + i]
            + (penalty if left != right else 0.0)
            for left, right in product((0, 1), repeat=2)
        }
        assert cost[int(in_second[i]), int(in_second[30 + i])] == min(cost.values())
    np.testing.assert_array_equal(in_second[60:], advantages[60:] > 0)


def test_a_pair_that_costs_the_same_apart_stays_together() -> None:
    np.testing.assert_array_equal(assign_rows(np.array([1.0, 0.0]), 0.0, 1), [True, True])
    np.testing.assert_array_equal(assign_rows(np.array([-1.0, 0.0]), 0.0, 1), [False, False])


def test_weight_zero_is_k_means_of_all_rows(draw_waveform: Draw) -> None:
    drawn = draw_waveform(150, 200)
    clf = PCKMeans(weight=0.0, random_state=0).fit(*drawn.pack())
    rows = standardised(drawn).everything
    reference = KMeans(2, n_init=5, tol=0.0, random_state=0).fit(rows)
    assert clf.objective_ == pytest.approx(reference.inertia_ / 2, rel=1e-10)


def test_an_infinite_weight_is_weighted_k_means_of_merged_pairs(draw_waveform: Draw) -> None:
    drawn = draw_waveform(150, 200)
    clf = PCKMeans(weight=np.inf, random_state=0).fit(*drawn.pack())
    sample = standardised(drawn)
    merged = np.vstack([(sample.left + sample.right) / 2, sample.unlabeled])
    sizes = np.repeat([2.0, 1.0], [150, 200])
    reference = KMeans(2, n_init=5, tol=0.0, random_state=0).fit(merged, sample_weight=sizes)
    inside = np.sum(sample.differences**2) / 2
    assert clf.objective_ == pytest.approx((reference.inertia_ + inside) / 2, rel=1e-10)
    centers = reference.cluster_centers_
    found = clf.cluster_centers_
    if np.sum((found[0] - centers[0]) ** 2) > np.sum((found[0] - centers[1]) ** 2):
        centers = centers[::-1]
    np.testing.assert_allclose(found, centers, atol=1e-8)


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0, np.inf])
def test_no_labeling_of_a_few_rows_is_better(rng: np.random.Generator, weight: float) -> None:
    left, right, unlabeled = (rng.standard_normal((3, 2)) for _ in range(3))
    clf = PCKMeans(weight=weight, n_init=60, random_state=0)
    clf.fit(*lw.pack(unlabeled, similar=(left, right)))
    rows = (np.vstack([left, right, unlabeled]) - clf.mean_) / clf.scale_
    best = np.inf
    for labels in product((False, True), repeat=9):
        in_second = np.array(labels)
        torn = np.any(in_second[:3] != in_second[3:6])
        if 0 < in_second.sum() < 9 and not (torn and np.isinf(weight)):
            best = min(best, objective(rows, in_second, 0.0 if not torn else weight, 3))
    assert clf.objective_ == pytest.approx(best, rel=1e-12)


def test_the_objective_never_rises_and_is_what_it_says(draw_waveform: Draw) -> None:
    sample = standardised(draw_waveform(100, 100))
    start = sample.unlabeled[:2]
    runs = [cluster_pairs(sample, start, weight=5.0, max_iter=n) for n in range(1, 12)]
    values = [run.outcome.objective for run in runs if run is not None]
    assert len(values) == 11
    assert all(later <= earlier for earlier, later in pairwise(values))
    last = runs[-1]
    assert last is not None
    assert last.outcome.objective == pytest.approx(
        objective(sample.everything, last.in_second, 5.0, 100)
    )


def test_a_dearer_separation_separates_fewer_pairs(draw_waveform: Draw) -> None:
    sample = standardised(draw_waveform(200, 100))
    start = sample.unlabeled[:2]
    counts = []
    for weight in (0.0, 1.0, 3.0, np.inf):
        run = cluster_pairs(sample, start, weight=weight, max_iter=300)
        assert run is not None
        counts.append(int(separated(run.in_second, 200).sum()))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 0


def test_the_usual_weight_is_half_the_number_of_varying_columns(draw_waveform: Draw) -> None:
    X, y = draw_waveform(50, 50).pack()
    X[:, 4] = 3.0
    assert PCKMeans(random_state=0).fit(X, y).weight_ == pytest.approx(10.0)


def test_rows_that_do_not_split_are_refused() -> None:
    X, y = lw.pack(np.zeros((4, 1)), similar=(np.ones((2, 1)), -np.ones((2, 1))))
    with pytest.raises(ValueError, match="empty cluster from every start"):
        PCKMeans(weight=np.inf, random_state=0).fit(X, y)


def test_too_few_sweeps_are_warned_of(draw_waveform: Draw) -> None:
    with pytest.warns(ConvergenceWarning, match="PCKMeans stopped after 1 iterations"):
        PCKMeans(max_iter=1, random_state=0).fit(*draw_waveform(50, 50).pack())
