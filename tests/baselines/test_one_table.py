"""Every baseline on one table and statements about its rows, and on fresh pairs as ever."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import likewise as lw
from likewise.baselines import (
    DIMC,
    IMSAT,
    ITML,
    SERAPH,
    KMeansBaseline,
    MPCKMeans,
    PCKMeans,
    ThreeSMIC,
)
from likewise.baselines.base import Baseline
from likewise.datasets import StatementSample, make_gaussians, make_waveform, sample_statements
from likewise.statements.labels import TableLabels

ALL = [
    DIMC(random_state=0),
    IMSAT(random_state=0),
    ITML(random_state=0),
    KMeansBaseline(random_state=0),
    MPCKMeans(random_state=0),
    PCKMeans(random_state=0),
    SERAPH(random_state=0),
    ThreeSMIC(),
]
USE_DISSIMILAR = [DIMC, ITML, MPCKMeans, PCKMeans, SERAPH]


@pytest.fixture(scope="module")
def met() -> StatementSample:
    """Similar pairs met among 300 rows, some rows in several."""
    X, y = make_gaussians(4000, prior=0.5, separation=3.0, random_state=0)
    return sample_statements(X, y, 300, 250, kind="met", n_test=400, prior=0.7, random_state=0)


@pytest.fixture(scope="module")
def asked() -> StatementSample:
    """Answers about 300 rows of the waveform generator, two classes."""
    X, y = make_waveform(4000, random_state=0)
    return sample_statements(X, y, 300, 500, n_test=400, prior=0.7, random_state=0)


def accuracy(clf: Baseline, sample: StatementSample) -> float:
    if isinstance(clf, DIMC):
        return clf.score(sample.table, sample.y_table)
    return clf.score(sample.X_test, sample.y_test)


def ids(value: Any) -> str:
    return type(value).__name__


@pytest.mark.parametrize("clf", ALL, ids=ids)
class TestEveryBaseline:
    def test_rows_in_several_statements_are_learned_from(
        self, clf: Baseline, met: StatementSample
    ) -> None:
        X, y = met.pack()
        assert sp.issparse(y)
        assert accuracy(clf.fit(X, y), met) > 0.85
        assert clf.n_ignored_ == (250 if isinstance(clf, KMeansBaseline) else 0)

    def test_a_vector_and_a_matrix_of_the_same_statements_give_the_same(
        self, clf: Baseline, met: StatementSample, rng: np.random.Generator
    ) -> None:
        same = [np.flatnonzero(met.y_table == label)[:60].reshape(30, 2) for label in (-1, 1)]
        X, vector = lw.pack(met.table, similar=np.concatenate(same))
        assert isinstance(vector, TableLabels)
        columns = np.abs(vector) - 1
        stated = np.flatnonzero(vector)
        entries = (np.ones(stated.size, dtype=np.int8), (stated, columns[stated]))
        matrix = sp.csr_matrix(entries, shape=(len(vector), 60))
        first = clf.fit(X, vector)
        objective, predicted = first.objective_, first.predict(X)
        again = clf.fit(X, matrix)
        assert again.objective_ == objective
        np.testing.assert_array_equal(again.predict(X), predicted)

    def test_what_is_not_used_changes_nothing_and_is_counted(
        self, clf: Baseline, asked: StatementSample
    ) -> None:
        X, y = asked.pack()
        objective = clf.fit(X, y).objective_
        n_ignored = clf.n_ignored_
        similar_only = clf.fit(*lw.pack(asked.table, similar=asked.similar)).objective_
        if type(clf) in USE_DISSIMILAR:
            assert objective != similar_only
            assert n_ignored == 0
        else:
            assert objective == similar_only
            assert n_ignored == (500 if isinstance(clf, KMeansBaseline) else len(asked.dissimilar))

    def test_dissimilar_pairs_alone_are_learned_from_or_refused(self, clf: Baseline) -> None:
        X, y = make_gaussians(4000, prior=0.5, separation=3.0, random_state=0)
        sample = sample_statements(X, y, 300, 500, n_test=400, prior=0.7, random_state=0)
        X, y = lw.pack(sample.table, dissimilar=sample.dissimilar)
        if type(clf) in (IMSAT, ThreeSMIC):
            with pytest.raises(ValueError, match=f"{ids(clf)} learns from similar pairs only"):
                clf.fit(X, y)
        else:
            assert accuracy(clf.fit(X, y), sample) > 0.85

    def test_wrong_answers_that_contradict_each_other_are_no_error(self, clf: Baseline) -> None:
        X, y = make_gaussians(2000, prior=0.5, separation=3.0, random_state=1)
        sample = sample_statements(X, y, 100, 600, prior=0.7, error_rate=0.2, random_state=0)
        clf.fit(*sample.pack())
        assert clf.converged_

    def test_fresh_dissimilar_pairs_stand_beside_unlabeled_rows(
        self, clf: Baseline, met: StatementSample
    ) -> None:
        same = [np.flatnonzero(met.y_test == label)[:60].reshape(30, 2) for label in (-1, 1)]
        left, right = np.concatenate(same).T
        apart = [np.flatnonzero(met.y_test == label)[60:100] for label in (-1, 1)]
        X, y = lw.pack(
            met.table,
            similar=(met.X_test[left], met.X_test[right]),
            dissimilar=(met.X_test[apart[0]], met.X_test[apart[1]]),
        )
        clf.fit(X, y)
        assert clf.score(met.table, met.y_table) > 0.85


@pytest.mark.parametrize("cls", [PCKMeans, MPCKMeans])
def test_dissimilar_pairs_help_where_clusters_alone_mislead(
    cls: Any, rng: np.random.Generator
) -> None:
    X = rng.standard_normal((300, 2)) * [1.0, 6.0]  # a wide column without a meaning
    y = np.where(rng.random(300) < 0.6, 1, -1)
    X[:, 0] += 2.5 * y
    X[:, 1] += 8.0 * np.sign(X[:, 1])
    sample = sample_statements(X, y, 300, 600, random_state=0)
    similar = cls(random_state=0).fit(*lw.pack(sample.table, similar=sample.similar))
    everything = cls(random_state=0).fit(*sample.pack())
    scores = [clf.score(sample.table, sample.y_table) for clf in (similar, everything)]
    assert scores[1] > 0.95
    assert scores[1] >= scores[0] - 0.01


# Of 40 fresh pairs and 90 unlabeled rows of the waveform generator: objective, iterations, share of
# the larger cluster, and predictions of +1 among 200 test rows (DIMC: among its own rows).
FRESH = {
    "DIMC": (0.024712207278866034, 16, 0.7222222222222222, 138),
    "IMSAT": (-0.09552784957719875, 903, 0.6555555555555556, 144),
    "ITML": (3.2368839270727365, 6, 0.7555555555555555, 166),
    "KMeansBaseline": (1352.4805931491048, 5, 0.5222222222222223, 109),
    "MPCKMeans": (1168.5587167558335, 5, 0.7777777777777778, 162),
    "PCKMeans": (1392.1127547671351, 12, 0.5222222222222223, 108),
    "SERAPH": (-36.08226082783805, 9, 0.5222222222222223, 119),
    "ThreeSMIC": (-0.48845527489144663, 41, 0.5111111111111111, 92),
}


@pytest.mark.parametrize("clf", ALL, ids=ids)
def test_fresh_pairs_give_what_they_always_gave(clf: Baseline) -> None:
    X, y = make_waveform(9000, random_state=0)
    drawn = lw.datasets.sample_su(X, y, 40, 90, n_test=200, prior=0.7, random_state=3)
    X, y = drawn.pack()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    predicted = clf.predict(X if isinstance(clf, DIMC) else drawn.X_test)
    objective, n_iter, share, n_positive = FRESH[ids(clf)]
    assert clf.objective_ == pytest.approx(objective, rel=1e-9)
    assert clf.n_iter_ == n_iter
    assert clf.share_ == pytest.approx(share)
    assert np.sum(predicted == 1) == n_positive
