"""Samples: fixed by their numbers, on one scale, with the truth kept apart."""

from dataclasses import replace

import numpy as np
import pytest

from likewise.experiments.samples import Draw, check_pools, draw_task, pool, standardise
from likewise.prior import KernelMeanPrior

DRAW = Draw("gaussians", 300, 400, 200, prior=0.7, trial=0)


def test_a_sample_is_fixed_by_its_numbers() -> None:
    first, y_first = draw_task(DRAW)
    draw_task.cache_clear()
    again, y_again = draw_task(DRAW)
    assert first is not again
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.X_test, again.X_test)
    np.testing.assert_array_equal(y_first, y_again)


@pytest.mark.parametrize(
    "other", [{"trial": 1}, {"prior": 0.71}, {"n_test": 201}, {"n_unlabeled": 401}]
)
def test_another_number_is_another_sample(other: dict[str, float]) -> None:
    task, _ = draw_task(DRAW)
    changed, _ = draw_task(replace(DRAW, **other))  # type: ignore[arg-type]
    assert not np.array_equal(task.X[:5], changed.X[:5])


def test_training_rows_have_mean_zero_and_deviation_one() -> None:
    task, _ = draw_task(DRAW)
    np.testing.assert_allclose(task.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(task.X.std(axis=0), 1, atol=1e-12)
    assert np.abs(task.X_test.mean(axis=0)).max() > 1e-6


def test_hidden_classes_stand_on_the_rows_they_belong_to() -> None:
    task, y_test = draw_task(DRAW)
    assert task.hidden.shape == task.y.shape == (400 + 2 * 300,)
    for k in (1, 150, 300):
        assert len(set(task.hidden[task.y == k])) == 1  # similar pairs are of one class
    assert np.mean(task.hidden[task.y == 0] == 1) == pytest.approx(0.7, abs=0.07)
    assert np.mean(task.hidden[task.y > 0] == 1) == pytest.approx(0.49 / 0.58, abs=0.07)
    assert np.mean(y_test == 1) == pytest.approx(0.7, abs=0.1)
    # The first feature tells the classes apart, in both kinds of rows.
    for rows in (task.y == 0, task.y > 0):
        positive = task.hidden[rows] == 1
        assert task.X[rows][positive, 0].mean() > task.X[rows][~positive, 0].mean() + 1


def test_a_column_that_does_not_vary_is_centred() -> None:
    rows = np.array([[1.0, 5.0], [3.0, 5.0]], dtype=np.float32)
    (found,) = standardise(rows, rows)
    np.testing.assert_array_equal(found, [[-1, 0], [1, 0]])
    assert found.dtype == np.float64


def test_the_kernel_mean_estimates_are_computed_once() -> None:
    task, _ = draw_task(replace(DRAW, n_similar=30, n_unlabeled=30))
    estimates, seconds = task.kernel_mean
    assert task.kernel_mean[0] is estimates
    assert task.kernel_mean[1] == seconds > 0
    alone = KernelMeanPrior().fit(task.X, task.y).estimates_
    assert {name: one.value for name, one in estimates.items()} == {
        name: one.value for name, one in alone.items()
    }


def test_an_unknown_set_is_refused() -> None:
    check_pools(["gaussians"])
    assert pool("gaussians")[0].shape == (20_000, 5)
    with pytest.raises(ValueError, match=r"Did you mean 'banana'.*Here also: gaussians, .*norm\.$"):
        check_pools(["banaan"])


def test_breiman_s_problems_have_the_error_of_the_best_rule() -> None:
    """By Breiman (1996), 1.3 % for ringnorm and 10.5 % for threenorm; the means are known."""
    shift = 2.0 / np.sqrt(20.0)
    X, y = pool("ringnorm")
    wide = 0.5 * (X**2).sum(axis=1) / 4.0 + 20.0 * np.log(2.0)
    narrow = 0.5 * ((X - shift) ** 2).sum(axis=1)
    assert np.mean((wide < narrow) != (y == 1)) == pytest.approx(0.013, abs=0.003)
    X, y = pool("threenorm")
    along, turned = X.sum(axis=1) * shift, X @ np.tile([shift, -shift], 10)
    # Of equal shares and spreads: log-sums of the densities around the three means.
    inside = np.logaddexp(along, -along) - np.log(2.0)
    assert np.mean((inside > turned) != (y == 1)) == pytest.approx(0.105, abs=0.006)
