"""What all baselines share: input, scales, which cluster is +1, and the report of a fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


class Threshold(Baseline):
    """A baseline that splits rows by the first column, and remembers what it was given."""

    def __init__(self, cut: float = 0.0, above: bool = True, converges: bool = True) -> None:
        self.cut = cut
        self.above = above
        self.converges = converges

    def _fit(self, sample: Sample) -> Outcome:
        self.sample_ = sample
        return Outcome(objective=2.5, n_iter=7, converged=self.converges)

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        return np.asarray((rows[:, 0] > self.cut) == self.above)


def test_rows_are_standardised_by_all_training_rows(draw_waveform: Draw) -> None:
    drawn = draw_waveform(40, 60)
    X, y = drawn.pack()
    sample = Threshold().fit(X, y).sample_
    np.testing.assert_allclose(sample.rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(sample.rows.std(axis=0), 1)
    for part, raw in zip(
        (sample.left, sample.right, sample.unlabeled),
        (*drawn.similar, drawn.unlabeled),
        strict=True,
    ):
        np.testing.assert_allclose(part, (raw - X.mean(axis=0)) / X.std(axis=0))


def test_rows_of_fresh_pairs_are_left_then_right_then_unlabeled() -> None:
    labels = np.array([0, 2, 1, -1, 1, 0, 2, -1])
    clf = Threshold().fit(np.arange(8.0)[:, None], labels)
    rows = clf.sample_.rows * clf.scale_ + clf.mean_
    np.testing.assert_allclose(rows[:, 0], [2.0, 1.0, 4.0, 6.0, 0.0, 5.0])
    np.testing.assert_array_equal(clf.sample_.is_unlabeled, [False] * 4 + [True] * 2)
    np.testing.assert_allclose(clf.sample_.differences * clf.scale_, [[-2.0], [-5.0]])
    np.testing.assert_allclose(clf.sample_.left - clf.sample_.right, clf.sample_.differences)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e12 + 0.1])
def test_a_constant_column_is_left_at_its_scale(draw_waveform: Draw, value: float) -> None:
    X, y = draw_waveform(40, 61).pack()
    X[:, 3] = value
    clf = Threshold().fit(X, y)
    assert clf.scale_[3] == 1.0
    np.testing.assert_array_equal(clf.sample_.rows[:, 3], 0)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("cut", [-0.5, 0.5])
def test_the_larger_cluster_of_the_unlabeled_rows_is_positive(
    draw_waveform: Draw, cut: float, above: bool
) -> None:
    drawn = draw_waveform(40, 200)
    clf = Threshold(cut, above).fit(*drawn.pack())
    predicted = clf.predict(drawn.unlabeled)
    share = np.mean(predicted == 1)
    assert share > 0.5
    assert clf.share_ == pytest.approx(share)
    assert not clf.collapsed_
    higher = clf.sample_.unlabeled[:, 0] > cut
    np.testing.assert_array_equal(predicted, np.where(higher == (cut < 0), 1, -1))


def test_one_big_cluster_is_called_collapsed(draw_waveform: Draw) -> None:
    drawn = draw_waveform(40, 200)
    clf = Threshold(cut=-20.0).fit(*drawn.pack())
    assert clf.collapsed_
    assert clf.share_ == 1.0
    assert np.all(clf.predict(drawn.X_test) == 1)


def test_the_outcome_is_kept_and_a_stop_too_early_is_warned_of(draw_waveform: Draw) -> None:
    X, y = draw_waveform(20, 20).pack()
    clf = Threshold().fit(X, y)
    assert (clf.objective_, clf.n_iter_, clf.converged_) == (2.5, 7, True)
    np.testing.assert_array_equal(clf.classes_, [-1, 1])
    with pytest.warns(ConvergenceWarning, match="Threshold stopped after 7 iterations") as caught:
        early = Threshold(converges=False).fit(X, y)
    assert caught[0].filename == __file__
    assert not early.converged_


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, pd.DataFrame])
def test_other_tables_give_the_same_answer(draw_waveform: Draw, container: Any) -> None:
    drawn = draw_waveform(40, 60)
    X, y = drawn.pack()
    plain, other = Threshold().fit(X, y), Threshold().fit(container(X), y)
    np.testing.assert_array_equal(other.sample_.rows, plain.sample_.rows)
    np.testing.assert_array_equal(
        other.predict(container(drawn.X_test)), plain.predict(drawn.X_test)
    )


def test_the_order_of_packed_rows_does_not_matter(
    draw_waveform: Draw, rng: np.random.Generator
) -> None:
    drawn = draw_waveform(40, 60)
    X, y = drawn.pack()
    order = rng.permutation(len(y))
    sample = Threshold().fit(X[order], y[order]).sample_
    in_order = Threshold().fit(X, y).sample_
    np.testing.assert_allclose(np.abs(sample.differences), np.abs(in_order.differences))
    np.testing.assert_allclose(
        np.sort(sample.unlabeled, axis=0), np.sort(in_order.unlabeled, axis=0)
    )


class TestBadInput:
    def test_values_that_are_not_finite_are_refused(self, draw_waveform: Draw) -> None:
        X, y = draw_waveform(20, 30).pack()
        X[3, 2] = np.nan
        with pytest.raises(ValueError, match="contains NaN"):
            Threshold().fit(X, y)

    def test_values_too_large_to_square_are_refused(self, draw_waveform: Draw) -> None:
        X, y = draw_waveform(20, 30).pack()
        X[:, 2] *= 1e200
        with pytest.raises(ValueError, match="too large"):
            Threshold().fit(X, y)

    def test_rows_that_do_not_vary_are_refused(self) -> None:
        X, y = lw.pack(np.ones((5, 2)), similar=[(0, 1)])
        with pytest.raises(ValueError, match="Every column of X is constant"):
            Threshold().fit(X, y)

    def test_a_split_pair_is_answered_with_pairkfold(self, draw_waveform: Draw) -> None:
        X, y = draw_waveform(20, 30).pack()
        with pytest.raises(ValueError, match=r"Pair 20 is split.*PairKFold"):
            Threshold().fit(X[:-1], y[:-1])

    def test_dissimilar_pairs_alone_are_refused(self) -> None:
        X, y = lw.pack(np.eye(6), dissimilar=[(2, 3)])
        with pytest.raises(ValueError, match="Threshold learns from similar pairs only, but all"):
            Threshold().fit(X, y)

    def test_labels_without_any_pair_are_refused(self) -> None:
        with pytest.raises(ValueError, match="Threshold needs at least one pair"):
            Threshold().fit(np.eye(6), np.zeros(6, dtype=int))

    def test_one_unlabeled_row_is_too_few(self) -> None:
        with pytest.raises(ValueError, match="makes two clusters of the unlabeled rows"):
            Threshold().fit(np.eye(3), np.array([1, 1, 0]))

    def test_scoring_on_weak_labels_is_refused(self, draw_waveform: Draw) -> None:
        drawn = draw_waveform(20, 30)
        X, y = drawn.pack()
        clf = Threshold().fit(X, y)
        with pytest.raises(ValueError, match="su_risk_scorer"):
            clf.score(X, y)
        accuracy = np.mean(clf.predict(drawn.X_test) == drawn.y_test)
        assert clf.score(drawn.X_test, drawn.y_test) == pytest.approx(accuracy)
