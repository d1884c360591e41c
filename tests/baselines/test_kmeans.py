"""K-means on the unlabeled rows."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import KMeansBaseline
from likewise.baselines.kmeans import nearer_to_second
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


def test_two_tight_blobs_far_apart_are_told_apart(rng: np.random.Generator) -> None:
    is_positive = rng.random(400) < 0.7
    rows = rng.standard_normal((400, 3)) + np.where(is_positive, 10.0, -10.0)[:, None]
    same = np.flatnonzero(is_positive)[:40].reshape(20, 2)
    clf = KMeansBaseline(random_state=0).fit(*lw.pack(rows, similar=same))
    np.testing.assert_array_equal(clf.predict(rows), np.where(is_positive, 1, -1))
    assert clf.share_ == pytest.approx(is_positive.mean())


def test_which_rows_are_paired_does_not_matter(
    draw_waveform: Draw, rng: np.random.Generator
) -> None:
    drawn = draw_waveform(100, 100)
    left, right = drawn.similar
    clf, other = (
        KMeansBaseline(random_state=0).fit(*lw.pack(drawn.unlabeled, similar=(left, partners)))
        for partners in (right, rng.permutation(right))
    )
    np.testing.assert_allclose(clf.cluster_centers_, other.cluster_centers_)
    np.testing.assert_array_equal(clf.predict(drawn.X_test), other.predict(drawn.X_test))


def test_it_is_scikit_learns_k_means_of_the_standardised_unlabeled_rows(
    draw_waveform: Draw,
) -> None:
    drawn = draw_waveform(100, 200)
    X, y = drawn.pack()
    clf = KMeansBaseline(random_state=3).fit(X, y)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    reference = KMeans(2, n_init=10, random_state=3).fit((drawn.unlabeled - mean) / scale)
    assert clf.objective_ == pytest.approx(reference.inertia_)
    labels = reference.predict((drawn.X_test - mean) / scale)
    agreement = np.mean(np.where(labels == 1, 1, -1) == clf.predict(drawn.X_test))
    assert agreement in (0.0, 1.0)


def test_a_row_in_the_middle_goes_to_the_first_centre() -> None:
    centers = np.array([[0.0, 1.0], [2.0, 1.0]])
    rows = np.array([[1.0, 5.0], [1.1, -3.0], [0.9, 0.0]])
    np.testing.assert_array_equal(nearer_to_second(rows, centers), [False, True, False])


def test_equal_unlabeled_rows_are_warned_of_and_called_collapsed(
    rng: np.random.Generator,
) -> None:
    X, y = lw.pack(np.zeros((6, 2)), similar=rng.standard_normal((3, 2, 2)))
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        clf = KMeansBaseline(random_state=0).fit(X, y)
    assert clf.collapsed_
