"""One table with statements about its rows, drawn from a labeled pool."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import binom, chisquare

import likewise as lw
from likewise.datasets import StatementSample, make_waveform, sample_statements
from likewise.statements.labels import read_labels

Pool = tuple[np.ndarray, np.ndarray]
N_POOL = 600


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Rows that say their own number, of three classes with shares of 1/6, 1/3 and 1/2."""
    return np.arange(2.0 * N_POOL).reshape(-1, 2), np.arange(N_POOL) % 6 // 2 + (
        np.arange(N_POOL) % 6 == 1
    )


def truth(sample: StatementSample, pairs: np.ndarray) -> np.ndarray:
    return np.asarray(sample.y_table[pairs[:, 0]] == sample.y_table[pairs[:, 1]])


def counts_of(pairs: np.ndarray, n_rows: int) -> dict[tuple[int, int], int]:
    found = dict.fromkeys(combinations(range(n_rows), 2), 0)
    for left, right in pairs.tolist():
        found[left, right] += 1
    return found


class TestRows:
    def test_no_row_of_the_pool_is_used_twice(self, pool: Pool) -> None:
        sample = sample_statements(*pool, 300, 10, n_test=200, random_state=0)
        used = np.concatenate([sample.table[:, 0], sample.X_test[:, 0]]) / 2
        assert np.unique(used).size == 500
        np.testing.assert_array_equal(pool[1][used[:300].astype(int)], sample.y_table)
        np.testing.assert_array_equal(pool[1][used[300:].astype(int)], sample.y_test)

    def test_without_a_prior_classes_have_their_shares_of_the_pool(self, pool: Pool) -> None:
        counts = np.zeros(3)
        for seed in range(40):
            sample = sample_statements(*pool, 100, 1, random_state=seed)
            counts += np.bincount(sample.y_table, minlength=3)
        np.testing.assert_allclose(counts / 4000, np.bincount(pool[1]) / N_POOL, atol=0.02)

    @pytest.mark.parametrize("prior", [0.3, 0.7])
    def test_a_prior_is_the_probability_of_the_last_of_two_classes(self, prior: float) -> None:
        X, y = lw.datasets.make_gaussians(4000, prior=0.5, random_state=0)
        drawn = [
            np.concatenate([sample.y_table, sample.y_test])
            for sample in (
                sample_statements(X, y, 150, 1, n_test=50, prior=prior, random_state=seed)
                for seed in range(30)
            )
        ]
        counts = np.array([np.count_nonzero(classes == 1) for classes in drawn])
        assert abs(counts.sum() - 6000 * prior) < 4 * binom.std(6000, prior)
        assert counts.std() == pytest.approx(binom.std(200, prior), rel=0.4)

    def test_classes_keep_their_names(self) -> None:
        X, y = np.arange(40.0).reshape(20, 2), np.repeat(["ham", "spam"], 10)
        sample = sample_statements(X, y, 10, 5, n_test=5, prior=0.5, random_state=0)
        assert set(sample.y_table) | set(sample.y_test) == {"ham", "spam"}
        np.testing.assert_array_equal(
            sample.y_table, np.where(sample.table[:, 0] < 20, "ham", "spam")
        )

    @pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, sp.coo_matrix, list])
    def test_other_tables_give_the_same_rows_and_can_be_packed(
        self, pool: Pool, container: Any
    ) -> None:
        X, y = pool
        other = container(X.tolist()) if container is list else container(X)
        plain = sample_statements(X, y, 50, 80, random_state=3)
        sample = sample_statements(other, y, 50, 80, random_state=3)
        rows = sample.table.toarray() if sp.issparse(sample.table) else np.asarray(sample.table)
        np.testing.assert_array_equal(rows, plain.table)
        np.testing.assert_array_equal(sample.similar, plain.similar)
        _, weak = sample.pack()
        np.testing.assert_array_equal(weak.toarray(), plain.pack()[1].toarray())


class TestAsked:
    def test_every_pair_is_as_likely_as_any_other(self, pool: Pool) -> None:
        counts = np.zeros(45)
        for seed in range(300):
            sample = sample_statements(*pool, 10, 9, random_state=seed)
            pairs = np.concatenate([sample.similar, sample.dissimilar])
            counts += list(counts_of(pairs, 10).values())
        assert counts.sum() == 2700
        assert chisquare(counts).pvalue > 0.01

    def test_answers_are_true_without_errors(self, pool: Pool) -> None:
        sample = sample_statements(*pool, 100, 800, random_state=0)
        assert len(sample.similar) + len(sample.dissimilar) == 800
        assert truth(sample, sample.similar).all()
        assert not truth(sample, sample.dissimilar).any()
        assert not sample.wrong.any()

    def test_wrong_answers_are_known_and_as_many_as_said(self, pool: Pool) -> None:
        sample = sample_statements(*pool, 200, 6000, error_rate=0.2, random_state=0)
        assert abs(sample.wrong.sum() - 1200) < 4 * binom.std(6000, 0.2)
        told = np.concatenate([truth(sample, sample.similar), ~truth(sample, sample.dissimilar)])
        np.testing.assert_array_equal(told, ~sample.wrong)
        of_similar = sample.wrong[: len(sample.similar)].sum()
        n_different = of_similar + np.sum(~sample.wrong[len(sample.similar) :])
        assert abs(of_similar - 0.2 * n_different) < 4 * binom.std(n_different, 0.2)


class TestMet:
    def test_every_alike_pair_is_as_likely_as_any_other(self, pool: Pool) -> None:
        X, y = pool
        X, y = X[:12], y[:12]  # all rows of the pool, so that classes are known
        counts: dict[tuple[float, float], int] = {}
        for seed in range(600):
            sample = sample_statements(X, y, 12, 3, kind="met", random_state=seed)
            for pair in np.sort(sample.table[sample.similar, 0], axis=1).tolist():
                key = (pair[0], pair[1])
                counts[key] = counts.get(key, 0) + 1
        sizes = np.bincount(y)
        assert len(counts) == np.sum(sizes * (sizes - 1) // 2)
        assert chisquare(list(counts.values())).pvalue > 0.01

    def test_all_are_said_to_be_alike_and_are(self, pool: Pool) -> None:
        sample = sample_statements(*pool, 100, 400, kind="met", random_state=0)
        assert sample.similar.shape == (400, 2)
        assert sample.dissimilar.shape == (0, 2)
        assert truth(sample, sample.similar).all()

    def test_wrong_ones_are_any_pairs_of_different_classes(self, pool: Pool) -> None:
        X, y = pool
        X, y = X[:12], y[:12]
        counts: dict[tuple[float, float], int] = {}
        n_wrong = 0
        for seed in range(800):
            sample = sample_statements(X, y, 12, 4, kind="met", error_rate=0.5, random_state=seed)
            np.testing.assert_array_equal(truth(sample, sample.similar), ~sample.wrong)
            n_wrong += int(sample.wrong.sum())
            wrong = np.sort(sample.table[sample.similar[sample.wrong], 0], axis=1)
            for pair in wrong.tolist():
                key = (pair[0], pair[1])
                counts[key] = counts.get(key, 0) + 1
        assert abs(n_wrong - 1600) < 4 * binom.std(3200, 0.5)
        sizes = np.bincount(y)
        assert len(counts) == 66 - np.sum(sizes * (sizes - 1) // 2)
        assert chisquare(list(counts.values())).pvalue > 0.01


@pytest.mark.parametrize("kind", ["asked", "met"])
class TestStatements:
    def test_the_smaller_row_comes_first_and_no_pair_comes_twice(
        self, pool: Pool, kind: Any
    ) -> None:
        sample = sample_statements(*pool, 40, 200, kind=kind, error_rate=0.1, random_state=1)
        pairs = np.concatenate([sample.similar, sample.dissimilar])
        assert np.all(pairs[:, 0] < pairs[:, 1])
        assert len({tuple(pair) for pair in pairs.tolist()}) == 200

    def test_pairs_come_again_only_after_all_have_come(self, kind: Any) -> None:
        X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
        sample = sample_statements(X, y, 4, 15, kind=kind, random_state=0)
        counts = counts_of(np.concatenate([sample.similar, sample.dissimilar]), 4).values()
        several = [count for count in counts if count]
        assert max(several) - min(several) <= 1
        assert len(several) == (6 if kind == "asked" else 2)

    def test_a_seed_gives_the_same_sample_again(self, pool: Pool, kind: Any) -> None:
        first, again, other = (
            sample_statements(*pool, 50, 60, kind=kind, n_test=9, error_rate=0.2, random_state=seed)
            for seed in (5, 5, 6)
        )
        for name in ("table", "similar", "dissimilar", "y_table", "X_test", "y_test", "wrong"):
            np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(first.similar, other.similar)

    def test_a_generator_goes_on(self, pool: Pool, kind: Any) -> None:
        rng = np.random.default_rng(0)
        first, second = (
            sample_statements(*pool, 50, 60, kind=kind, random_state=rng) for _ in range(2)
        )
        assert not np.array_equal(first.table, second.table)

    def test_packed_labels_say_what_was_said(self, pool: Pool, kind: Any) -> None:
        sample = sample_statements(*pool, 50, 60, kind=kind, error_rate=0.3, random_state=0)
        X, y = sample.pack()
        assert X is sample.table
        links = read_labels(y).links
        found = np.stack([links.left, links.right], axis=1)
        np.testing.assert_array_equal(found[links.is_similar], sample.similar)
        np.testing.assert_array_equal(found[~links.is_similar], sample.dissimilar)


def test_pairs_of_many_rows_are_numbered_without_rounding() -> None:
    X, y = np.zeros((200_000, 1)), np.arange(200_000) % 2
    sample = sample_statements(X, y, 200_000, 2000, random_state=0)
    pairs = np.concatenate([sample.similar, sample.dissimilar])
    assert pairs.min() >= 0
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert pairs.max() < 200_000


def test_it_says_how_much_there_is() -> None:
    X, y = make_waveform(100, random_state=0)
    shown = repr(sample_statements(X, y, 50, 20, kind="met", n_test=10, random_state=0))
    assert shown == (
        "StatementSample(n_rows=50, n_similar=20, n_dissimilar=0, n_wrong=0, n_test=10)"
    )


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"n_rows": 1}, ValueError, "n_rows must be at least 2"),
        ({"n_rows": 2.5}, TypeError, "n_rows must be an integer"),
        ({"n_rows": 601}, ValueError, "601 rows are wanted.*only 600"),
        ({"n_test": 581}, ValueError, "601 rows are wanted.*only 600"),
        ({"n_test": -1}, ValueError, "n_test must be at least 0"),
        ({"n_statements": 0}, ValueError, "n_statements must be at least 1"),
        ({"kind": "told"}, ValueError, 'kind must be "asked" or "met"'),
        ({"error_rate": 1.0}, ValueError, "error_rate must be at least 0 and below 1"),
        ({"error_rate": -0.1}, ValueError, "error_rate must be at least 0 and below 1"),
        ({"error_rate": "few"}, TypeError, "error_rate must be a number"),
        ({"prior": 0.5}, ValueError, "prior is for two classes, but y holds 3"),
        ({"y": np.zeros(600)}, ValueError, "at least two classes, but it holds 1"),
        ({"y": np.zeros(5)}, ValueError, "one class for each of the 600 rows"),
        ({"X": np.zeros(600)}, ValueError, "X must have rows and columns"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
    ],
)
def test_bad_arguments_are_refused_by_name(
    pool: Pool, changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments = {"X": pool[0], "y": pool[1], "n_rows": 20, "n_statements": 5, **changed}
    with pytest.raises(error, match=message):
        sample_statements(**arguments)


def test_a_prior_that_the_pool_cannot_give_is_refused() -> None:
    X, y = np.zeros((30, 1)), np.repeat(["a", "b"], [28, 2])
    with pytest.raises(ValueError, match="class 'b': needs"):
        sample_statements(X, y, 20, 5, prior=0.9, random_state=0)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        sample_statements(X, y, 20, 5, prior=1.0, random_state=0)


def test_a_table_without_the_pairs_is_refused() -> None:
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="no two rows of one class"):
        sample_statements(X, np.array([0, 1]), 2, 1, kind="met", random_state=0)
    with pytest.raises(ValueError, match="no two rows of different classes"):
        sample_statements(
            X=np.zeros((50, 1)),
            y=np.arange(50) == 49,
            n_rows=2,
            n_statements=30,
            kind="met",
            error_rate=0.9,
            random_state=0,
        )
