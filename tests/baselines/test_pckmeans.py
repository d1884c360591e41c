"""K-means in which separated pairs cost a penalty."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import PCKMeans
from likewise.baselines.assignment import LinkedRows
from likewise.baselines.base import Sample
from likewise.baselines.pckmeans import PairClusters, cluster_pairs
from likewise.datasets import SUSample
from tests.baselines.samples import fresh_sample

Draw = Callable[..., SUSample]


def standardised(drawn: SUSample) -> Sample:
    X, _ = drawn.pack()
    mean, scale = X.mean(axis=0), X.std(axis=0)
    parts = ((part - mean) / scale for part in (*drawn.similar, drawn.unlabeled))
    return fresh_sample(*parts)


def objective(rows: np.ndarray, in_second: np.ndarray, weight: float, n_pairs: int) -> float:
    """The objective at the best centres, as its definition reads."""
    squares = sum(
        np.sum((part - part.mean(axis=0)) ** 2) / 2 for part in (rows[in_second], rows[~in_second])
    )
    return float(squares + weight * np.sum(in_second[:n_pairs] != in_second[n_pairs : 2 * n_pairs]))


def run_from(
    sample: Sample, start: np.ndarray, weight: float, max_iter: int = 300
) -> PairClusters | None:
    linked = LinkedRows.of(sample.statements)
    return cluster_pairs(sample.rows, linked, start, weight=weight, max_iter=max_iter)


def test_weight_zero_is_k_means_of_all_rows(draw_waveform: Draw) -> None:
    drawn = draw_waveform(150, 200)
    clf = PCKMeans(weight=0.0, random_state=0).fit(*drawn.pack())
    rows = standardised(drawn).rows
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
        split = np.any(in_second[:3] != in_second[3:6])
        if 0 < in_second.sum() < 9 and not (split and np.isinf(weight)):
            best = min(best, objective(rows, in_second, 0.0 if not split else weight, 3))
    assert clf.objective_ == pytest.approx(best, rel=1e-12)


def test_the_objective_never_rises_and_is_what_it_says(draw_waveform: Draw) -> None:
    sample = standardised(draw_waveform(100, 100))
    start = sample.unlabeled[:2]
    runs = [run_from(sample, start, 5.0, n) for n in range(1, 12)]
    values = [run.outcome.objective for run in runs if run is not None]
    assert len(values) == 11
    assert all(later <= earlier for earlier, later in pairwise(values))
    last = runs[-1]
    assert last is not None
    assert last.outcome.objective == pytest.approx(objective(sample.rows, last.in_second, 5.0, 100))


def test_a_dearer_separation_separates_fewer_pairs(draw_waveform: Draw) -> None:
    sample = standardised(draw_waveform(200, 100))
    start = sample.unlabeled[:2]
    counts = []
    for weight in (0.0, 1.0, 3.0, np.inf):
        run = run_from(sample, start, weight)
        assert run is not None
        counts.append(int(np.sum(run.in_second[:200] != run.in_second[200:400])))
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


class TestOneTable:
    def test_no_labeling_of_a_few_rows_is_better(self, rng: np.random.Generator) -> None:
        rows = rng.standard_normal((8, 2))
        similar, dissimilar = [(0, 1), (1, 2)], [(3, 4), (5, 1)]
        clf = PCKMeans(weight=0.8, n_init=60, random_state=0)
        clf.fit(*lw.pack(rows, similar=similar, dissimilar=dissimilar))
        rows = (rows - clf.mean_) / clf.scale_
        best = np.inf
        for labels in product((False, True), repeat=8):
            in_second = np.array(labels)
            if 0 < in_second.sum() < 8:
                n_broken = sum(in_second[a] != in_second[b] for a, b in similar)
                n_broken += sum(in_second[a] == in_second[b] for a, b in dissimilar)
                best = min(best, objective(rows, in_second, 0.0, 0) + 0.8 * n_broken)
        assert clf.objective_ == pytest.approx(best, rel=1e-12)

    def test_every_row_counts_once(self, draw_waveform: Draw) -> None:
        rows = draw_waveform(20, 200).unlabeled
        chain = np.column_stack([np.arange(150), np.arange(1, 151)])
        clf = PCKMeans(weight=0.0, random_state=0).fit(*lw.pack(rows, similar=chain))
        scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        reference = KMeans(2, n_init=10, tol=0.0, random_state=0).fit(scaled)
        assert clf.objective_ == pytest.approx(reference.inertia_ / 2, rel=1e-10)

    def test_an_infinite_weight_keeps_all_statements(self, rng: np.random.Generator) -> None:
        rows, classes = rng.standard_normal((60, 2)), rng.random(60) < 0.5
        pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(70)])
        same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
        X, y = lw.pack(rows, similar=pairs[same], dissimilar=pairs[~same])
        hard = PCKMeans(weight=np.inf, random_state=0).fit(X, y)
        dear = PCKMeans(weight=1e6, random_state=0).fit(X, y)
        assert hard.objective_ == pytest.approx(dear.objective_, rel=1e-9)

    def test_hard_statements_that_contradict_each_other_are_refused(self) -> None:
        X, y = lw.pack(np.eye(4), similar=[(0, 1), (1, 2)], dissimilar=[(2, 0)])
        with pytest.raises(ValueError, match="contradict each other"):
            PCKMeans(weight=np.inf).fit(X, y)
        assert PCKMeans(weight=1.0, random_state=0).fit(X, y).converged_
