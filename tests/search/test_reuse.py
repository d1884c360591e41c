"""Rows in several pairs: known again by their values, and held out as rows."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import likewise as lw
from likewise._types import FloatArray
from likewise.scores.design import Design, Sample, in_order
from likewise.search.crossfit import partner_of, parts_of
from likewise.search.learn import Learned, Settings, learn
from likewise.search.reuse import Reuse, _fingerprints, find_reuse
from likewise.statements.labels import locate

Pairs = NDArray[np.intp]


def random_pairs(rng: np.random.Generator, classes: NDArray[Any], n_pairs: int) -> Pairs:
    """Pairs of rows of one class, drawn with rows put back: rows are in several."""
    pairs: list[tuple[int, int]] = []
    while len(pairs) < n_pairs:
        one, other = rng.integers(classes.size, size=2)
        if one != other and classes[one] == classes[other]:
            pairs.append((one, other))
    return np.array(pairs)


def learned(U: FloatArray, pairs: Pairs) -> Learned:
    X, y = lw.pack(U, similar=pairs)
    return learn(X, locate(y), [("linear", None)], Settings(5, [0.1]), np.random.RandomState(0))


def test_rows_of_one_pair_each_are_no_reuse(rng: np.random.Generator) -> None:
    U = rng.standard_normal((200, 3))
    X, y = lw.pack(U, similar=rng.permutation(200).reshape(100, 2))
    assert find_reuse(X, locate(y)) is None


def test_rows_that_are_equal_by_chance_are_no_reuse(rng: np.random.Generator) -> None:
    """Sixteen kinds of people: every row has many equals, paired or not."""
    U, A, B = (rng.integers(2, size=(n, 4)).astype(float) for n in (300, 200, 200))
    X, y = lw.pack(U, similar=(A, B))
    assert find_reuse(X, locate(y)) is None


@pytest.mark.parametrize("kind", ["dense", "sparse", "dissimilar"])
def test_rows_in_several_pairs_are_known_again(rng: np.random.Generator, kind: str) -> None:
    U = rng.standard_normal((50, 3)) * (rng.random((50, 3)) < 0.7)
    U[0], U[1] = 1.0, 2.0  # no empty rows in the pairs that are looked at
    pairs = random_pairs(rng, np.zeros(50), 80)
    table = sp.csr_array(U) if kind == "sparse" else U
    if kind == "dissimilar":
        X, y = lw.pack(table, similar=pairs[:30], dissimilar=pairs[30:])
    else:
        X, y = lw.pack(table, similar=pairs)
    found = find_reuse(X, locate(y))
    assert found is not None
    distinct = np.unique(U[pairs.ravel()], axis=0).shape[0]
    assert found.freshness == pytest.approx(distinct / 160)
    same_row = pairs.T.ravel()[:, None] == pairs.T.ravel()
    same_number = found.members.ravel()[:, None] == found.members.ravel()
    assert np.all(same_number[same_row])


def test_a_pair_that_is_listed_twice_is_reuse(rng: np.random.Generator) -> None:
    U = rng.standard_normal((100, 2))
    pairs = rng.permutation(100).reshape(50, 2)
    X, y = lw.pack(U, similar=np.vstack([pairs, pairs[:, ::-1]]))
    found = find_reuse(X, locate(y))
    assert found is not None
    assert found.freshness == 0.5


def test_fingerprints_are_of_values_and_not_of_how_they_are_stored() -> None:
    rows = np.array([[0.0, 1.0, 0.0], [-0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    prints = _fingerprints(rows)
    assert prints[0] == prints[1]
    assert np.unique(prints).size == 3
    np.testing.assert_array_equal(_fingerprints(sp.csr_array(rows)), prints)
    grid = np.array(np.meshgrid(*[[0.0, 1.0, 2.0, 0.5]] * 6)).reshape(6, -1).T
    assert np.unique(_fingerprints(grid)).size == 4**6


def test_a_row_is_in_one_fold_and_short_chains_are_whole(rng: np.random.Generator) -> None:
    triples = np.arange(300).reshape(100, 3)
    short = np.vstack([triples[:, :2], triples[:, 1:]])  # 100 chains of two pairs each
    long = 300 + random_pairs(rng, np.zeros(40), 100)
    members = np.vstack([short, long]).T
    folds = Reuse(members).deal(5, np.random.RandomState(0))
    for row in np.unique(members):
        assert np.unique(folds[members == row]).size == 1
    np.testing.assert_array_equal(folds[0, :200], folds[1, :200])
    assert np.ptp(np.bincount(folds[0, :200], minlength=5)) <= 2
    rows = np.unique(np.column_stack([members[:, 200:].ravel(), folds[:, 200:].ravel()]), axis=0)
    assert np.ptp(np.bincount(rows[:, 1], minlength=5)) <= 1  # rows of the long one dealt evenly


def test_no_model_sees_a_row_of_its_fold(rng: np.random.Generator) -> None:
    U = rng.standard_normal((60, 3))
    X, y = lw.pack(U, similar=random_pairs(rng, np.zeros(60), 100))
    found = learn(X, locate(y), [("linear", None)], Settings(5, [0.1]), np.random.RandomState(0))
    rows, counts = in_order(X, locate(y))
    sample = Sample(Design(rows, np.zeros(3), np.ones(3)), counts)
    n_held_out = 0
    for part in parts_of(sample, found.folds):
        train, own = part.train, part.own
        members = train.design.rows[train.counts.unlabeled :]
        held_out = own.rows[int(np.sum(part.inside[counts.alone])) :]
        assert not set(map(bytes, members)) & set(map(bytes, held_out))
        n_held_out += part.test.counts.pairs
    together = found.folds == found.folds[partner_of(counts)]
    assert n_held_out == together[counts.left].sum() < counts.similar


@pytest.mark.parametrize("repeats", [1, 3])
def test_noise_learned_by_heart_is_no_signal(rng: np.random.Generator, repeats: int) -> None:
    """The rows' classes can be learned from the pairs, and say nothing of other rows."""
    for _ in range(5):
        U, classes = rng.standard_normal((100, 5)), rng.random(100) < 0.6
        pairs = np.tile(random_pairs(rng, classes, 400 // repeats), (repeats, 1))
        assert not learned(U, pairs).has_signal


def test_a_row_in_every_pair_is_no_obstacle(rng: np.random.Generator) -> None:
    U = rng.standard_normal((80, 2))
    found = learned(U, np.array([(0, k) for k in range(1, 60)]))
    assert np.isfinite(found.candidate.scores).all()
    assert not found.has_signal


def test_accuracy_is_that_of_new_rows(rng: np.random.Generator) -> None:
    """Where pairs are held out one by one, this report says 0.98."""

    def draw(n: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        classes = rng.random(n) < 0.65
        return rng.standard_normal((n, 5)) + 3.0 * np.outer(classes, np.eye(5)[0]), classes

    (U, classes), (new, truth) = draw(300), draw(4000)
    X, y = lw.pack(U, similar=random_pairs(rng, classes, 900))
    clf = lw.PairClassifier(features="linear", random_state=0).fit(X, y)
    accuracy = np.mean((clf.predict(new) == 1) == truth)
    report = lw.label_free_report(clf, X, y, random_state=0)
    assert accuracy > 0.88
    assert report.accuracy.value == pytest.approx(accuracy, abs=0.05)
    assert report.accuracy.interval[0] < accuracy < report.accuracy.interval[1]
    assert [check.passed for check in report.checks] == [True, None]
