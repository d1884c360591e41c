"""Tests of the SU sampler: class mixes, no row twice, every kind of table, clear errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import likewise
from likewise.datasets import SUSample, sample_su

# Not imported as such, because it comes without types.
pd = pytest.importorskip("pandas")

N_ROWS = 400


def _pool(n_rows: int = N_ROWS) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A pool whose first column is the row number and whose second is the class."""
    y = np.where(np.arange(n_rows) % 2 == 0, 1, -1)
    return np.column_stack([np.arange(n_rows), y]).astype(float), y


def _rows(sample: SUSample) -> NDArray[np.float64]:
    return np.concatenate([*sample.similar, sample.unlabeled, sample.X_test])


def test_no_row_of_the_pool_is_used_twice() -> None:
    sample = sample_su(*_pool(), 40, 100, n_test=60, prior=0.5, random_state=0)
    used = _rows(sample)[:, 0]
    assert used.size == 240
    assert np.unique(used).size == used.size


def test_every_row_is_of_the_class_that_is_said_of_it() -> None:
    sample = sample_su(*_pool(), 30, 70, n_test=50, prior=0.6, random_state=0)
    left, right = sample.similar
    np.testing.assert_array_equal(left[:, 1], sample.y_similar)
    np.testing.assert_array_equal(right[:, 1], sample.y_similar)
    np.testing.assert_array_equal(sample.unlabeled[:, 1], sample.y_unlabeled)
    np.testing.assert_array_equal(sample.X_test[:, 1], sample.y_test)


def test_the_whole_pool_can_be_drawn() -> None:
    # Found by its seed: 5 of 10 rows are of each class and so are the 10 drawn.
    X, y = _pool(10)
    for seed in range(200):
        if sum(np.random.default_rng(seed).random(10) < 0.5) == 5:
            break
    sample = sample_su(X, y, 0, 10, prior=0.5, random_state=seed)
    np.testing.assert_array_equal(np.sort(sample.unlabeled[:, 0]), np.arange(10))


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
def test_class_counts_are_binomial_with_the_shares_of_the_paper(prior: float) -> None:
    X, y = _pool()
    n_draws, n_similar, n_unlabeled, n_test = 600, 20, 50, 30
    pair_share = prior**2 / (prior**2 + (1 - prior) ** 2)
    rng = np.random.default_rng(1)
    samples = [
        sample_su(X, y, n_similar, n_unlabeled, n_test=n_test, prior=prior, random_state=rng)
        for _ in range(n_draws)
    ]
    for part, size, share in [
        ("y_similar", n_similar, pair_share),
        ("y_unlabeled", n_unlabeled, prior),
        ("y_test", n_test, prior),
    ]:
        counts = np.array([np.sum(getattr(sample, part) == 1) for sample in samples])
        variance = size * share * (1 - share)
        assert abs(counts.mean() - size * share) < 4 * np.sqrt(variance / n_draws)
        # The variance of a sample variance is about 2 / n of its square.
        assert abs(counts.var(ddof=1) / variance - 1) < 4 * np.sqrt(2 / n_draws)


def test_members_of_a_pair_and_rows_of_a_class_are_drawn_uniformly() -> None:
    X, y = _pool(20)
    rng = np.random.default_rng(2)
    hits = np.zeros(20)
    n_draws = 4000
    for _ in range(n_draws):
        sample = sample_su(X, y, 1, 0, prior=0.5, random_state=rng)
        hits[sample.similar[0][:, 0].astype(int)] += 1
    error = np.sqrt(n_draws * 0.05 * 0.95)
    assert np.all(np.abs(hits - n_draws / 20) < 4 * error)


def test_parts_that_are_not_asked_for_are_empty_tables() -> None:
    sample = sample_su(*_pool(), 0, 5, random_state=0)
    assert sample.X_test.shape == sample.similar[0].shape == sample.similar[1].shape == (0, 2)
    assert sample.y_test.size == sample.y_similar.size == 0


def test_a_sample_packs_into_weak_labels() -> None:
    sample = sample_su(*_pool(), 3, 5, prior=0.5, random_state=0)
    X, y = sample.pack()
    X_direct, y_direct = likewise.pack(unlabeled=sample.unlabeled, similar=sample.similar)
    np.testing.assert_array_equal(X, X_direct)
    np.testing.assert_array_equal(y, y_direct)
    np.testing.assert_array_equal(y, [0, 0, 0, 0, 0, 1, 2, 3, 1, 2, 3])
    np.testing.assert_array_equal(X, np.vstack([sample.unlabeled, *sample.similar]))


def _frame(X: NDArray[np.float64]) -> Any:
    # An index that does not count from 0 must not be mistaken for row numbers.
    return pd.DataFrame(X, columns=["row", "class"], index=np.arange(len(X))[::-1])


TABLES: dict[str, Callable[..., Any]] = {
    "list": np.ndarray.tolist,
    "pandas": _frame,
    "polars": lambda X: pl.DataFrame(X, schema=["row", "class"]),
    "csr matrix": sp.csr_matrix,
    "csc array": sp.csc_array,
    "coo array": sp.coo_array,
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_gives_the_same_rows(kind: str) -> None:
    X, y = _pool()
    expected = sample_su(X, y, 10, 20, n_test=5, random_state=0)
    make = TABLES[kind]
    sample = sample_su(make(X), y.tolist(), 10, 20, n_test=5, random_state=0)
    for table, wanted in zip(
        [*sample.similar, sample.unlabeled, sample.X_test],
        [*expected.similar, expected.unlabeled, expected.X_test],
        strict=True,
    ):
        if kind != "list":
            assert sp.issparse(table) == sp.issparse(make(X))
        dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
        np.testing.assert_array_equal(dense, wanted)
    assert sample.pack()[0].shape == (40, 2)


def test_frames_keep_their_type_and_column_names() -> None:
    X, y = _pool()
    from_pandas = sample_su(_frame(X), pd.Series(y, index=np.arange(N_ROWS) + 7), 5, 5)
    assert isinstance(from_pandas.similar[1], pd.DataFrame)
    assert list(from_pandas.unlabeled.columns) == ["row", "class"]
    from_polars = sample_su(pl.DataFrame(X, schema=["row", "class"]), pl.Series(y), 5, 5)
    assert isinstance(from_polars.similar[1], pl.DataFrame)
    assert from_polars.unlabeled.columns == ["row", "class"]


def test_a_sample_cannot_be_changed_and_prints_in_one_line() -> None:
    sample = sample_su(*_pool(), 3, 5, n_test=2, random_state=0)
    with pytest.raises(AttributeError):
        sample.prior = 0.5  # type: ignore[misc]
    assert repr(sample) == "SUSample(n_similar=3, n_unlabeled=5, n_test=2, prior=0.7)"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(6), "two classes -1 and .1, but it holds: 1.0"),
        ([0, 1, 0, 1, 0, 1], "but it holds: 0, 1"),
        ([-1, 1, 0, 1, -1, 1], "but it holds: -1, 0, 1"),
        (["a", "b", "a", "b", "a", "b"], "but it holds: 'a', 'b'"),
        ([1, -1, np.nan, 1, -1, 1], "but it holds: .*nan"),
        (np.arange(6), "but it holds: 0, 1, 2, 3, 4, ..."),
        ([1, -1], r"each of the 6 rows of X, but its shape is \(2,\)"),
        (np.ones((6, 1)), r"but its shape is \(6, 1\)"),
    ],
)
def test_labels_other_than_one_of_two_classes_per_row_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_su(np.zeros((6, 2)), y, 1, 1)


def test_a_pool_without_columns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"X must have rows and columns, but its shape is \(4,\)"):
        sample_su(np.zeros(4), [1, -1, 1, -1], 1, 1)


def test_a_pool_that_is_too_small_says_what_is_missing() -> None:
    X, y = _pool(20)
    message = (
        r"^class \+1: needs 3000 rows, the pool has 10; ask for fewer pairs/rows or another prior"
    )
    with pytest.raises(ValueError, match=message):
        sample_su(X, y, 1000, 1000, prior=1 - 1e-12, random_state=0)
    with pytest.raises(ValueError, match=r"^class -1: needs 2000 rows, the pool has 10; ask"):
        sample_su(X, y, 1000, 0, prior=1e-12, random_state=0)
    with pytest.raises(ValueError, match=r"^class \+1: needs \d+ .* 10; class -1: needs \d+ "):
        sample_su(X, y, 1000, 0, prior=0.5, random_state=0)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"n_similar": -1}, ValueError, "n_similar must be at least 0, got -1"),
        ({"n_unlabeled": -1}, ValueError, "n_unlabeled must be at least 0, got -1"),
        ({"n_test": -1}, ValueError, "n_test must be at least 0, got -1"),
        ({"n_test": 2.5}, TypeError, "n_test must be an integer, got 2.5"),
        ({"prior": 0.0}, ValueError, "prior must lie strictly between 0 and 1, got 0.0"),
        ({"prior": 1.0}, ValueError, "prior must lie strictly between 0 and 1, got 1.0"),
        ({"prior": np.nan}, ValueError, "prior must lie strictly between 0 and 1, got nan"),
        ({"random_state": "a"}, TypeError, "random_state must be an integer"),
    ],
)
def test_a_number_out_of_range_is_named(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments = {"n_similar": 1, "n_unlabeled": 1} | changed
    with pytest.raises(error, match=message):
        sample_su(*_pool(), **arguments)


@pytest.mark.parametrize("kind", [int, np.random.RandomState, np.random.default_rng])
def test_the_same_seed_gives_the_same_sample(kind: Callable[[int], Any]) -> None:
    draw = [_rows(sample_su(*_pool(), 5, 9, n_test=3, random_state=kind(s))) for s in (1, 1, 2)]
    np.testing.assert_array_equal(draw[0], draw[1])
    assert not np.array_equal(draw[0], draw[2])
