"""Statements about one table, on any engine: what is learned from the same table in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import likewise as lw
from likewise.engines import PairSource, base, open_engine
from likewise.engines import torch as torch_engine
from likewise.engines.scaled import ScaledEngine
from likewise.engines.source import OpenSource
from likewise.search import learn
from tests.engines.conftest import table, write_parts
from tests.search.samples import random_pairs

N_ROWS = 1000


@dataclass(frozen=True)
class Stated:
    """A table and statements about its rows, by row numbers."""

    rows: np.ndarray
    similar: np.ndarray
    dissimilar: np.ndarray | None

    def pack(self) -> tuple[Any, Any]:
        return lw.pack(self.rows, similar=self.similar, dissimilar=self.dissimilar)

    def named(self, name: Callable[[np.ndarray], Any]) -> dict[str, Any]:
        """The statements in another form."""
        found: dict[str, Any] = {"similar": name(self.similar)}
        return found if self.dissimilar is None else {**found, "dissimilar": name(self.dissimilar)}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 21 * 64)
    monkeypatch.setattr(torch_engine, "_HOST_BYTES", 21 * 64 * 8)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Selection and calibration on so few rows that scores are learned by passes."""
    monkeypatch.setattr(learn, "_SELECTION_SIZE", 150)
    monkeypatch.setattr(learn, "_SAMPLE_SIZE", 300)


def draw(n_statements: int = 1300, error_rate: float = 0.0, *, is_met: bool = False) -> Stated:
    rng = np.random.default_rng(0)
    rows, classes = lw.datasets.make_waveform(N_ROWS, prior=0.7, random_state=0)
    pairs = random_pairs(rng, N_ROWS, n_statements)
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    if is_met:
        return Stated(rows, pairs[same], None)
    same ^= rng.random(n_statements) < error_rate
    return Stated(rows, pairs[same], pairs[~same])


def ids(rows: np.ndarray) -> np.ndarray:
    return np.array([[f"r{k:05}" for k in pair] for pair in rows])


def as_frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(ids(rows), columns=["left", "right"])


def with_ids(rows: np.ndarray) -> pd.DataFrame:
    frame = table(rows)
    frame["id"] = [f"r{k:05}" for k in range(len(rows))]
    return frame


def parquet(stated: Stated, folder: Path) -> Any:
    if not (folder / "rows").exists():
        write_parts(with_ids(stated.rows), folder / "rows", 3, 170)
    rows = folder / "rows"
    return PairSource(rows, **stated.named(as_frame))


def dask_frame(stated: Stated, folder: Path) -> Any:
    frames = pytest.importorskip("dask.dataframe")
    rows = frames.from_pandas(with_ids(stated.rows), npartitions=4, sort=False)
    return PairSource(rows, **stated.named(as_frame))


def dask_array(stated: Stated, folder: Path) -> Any:
    array = pytest.importorskip("dask.array")
    rows = array.from_array(stated.rows, chunks=(333, 10))
    return PairSource(rows, **stated.named(np.asarray))


def tensor(stated: Stated, folder: Path) -> Any:
    torch = pytest.importorskip("torch")
    return PairSource(torch.from_numpy(stated.rows), **stated.named(np.asarray))


@pytest.fixture(params=[parquet, dask_frame, dask_array, tensor])
def source_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Stated], Any]:
    """Bring a table and statements to one of the engines."""
    return lambda stated: request.param(stated, tmp_path)


_IN_MEMORY: dict[Any, Any] = {}
"""Fits in memory, which all engines are compared with."""


def in_memory(case: Any, clf: Any, stated: Stated) -> Any:
    if case not in _IN_MEMORY:
        _IN_MEMORY[case] = clone(clf).fit(*stated.pack())
    return _IN_MEMORY[case]


@pytest.mark.slow
@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(
    ("drawn", "settings"),
    [
        ({}, {}),
        ({"error_rate": 0.1}, {"error_rate": 0.1}),
        ({"is_met": True}, {"pairing": "random"}),
    ],
    ids=["asked", "with errors", "met"],
)
def test_all_rows_teach_the_same_wherever_they_are(
    source_of: Callable[[Stated], Any], drawn: dict[str, Any], settings: dict[str, Any]
) -> None:
    stated = draw(**drawn)
    clf = lw.PairClassifier(features="linear", alphas=[0.03], cv=2, random_state=0, **settings)
    found, expected = clf.fit(source_of(stated)), in_memory(tuple(drawn), clf, stated)
    assert found.has_signal_
    assert found.pairing_ == expected.pairing_ == settings.get("pairing", "asked")
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.row_proba_, expected.row_proba_, atol=1e-6)
    np.testing.assert_array_equal(found.suspects_[:20], expected.suspects_[:20])
    assert found.error_rate_ == expected.error_rate_
    assert found.prior_ == pytest.approx(expected.prior_, abs=1e-6)
    assert found.n_passes_ <= 20
    assert expected.n_passes_ is None


def test_few_rows_are_read_once(source_of: Callable[[Stated], Any]) -> None:
    stated = draw()
    clf = lw.PairClassifier(features="linear", alphas=[0.03], cv=2, random_state=0)
    expected, found = clone(clf).fit(*stated.pack()), clf.fit(source_of(stated))
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.n_passes_ == 1


def test_row_numbers_of_statements_are_found_without_a_pass(
    source_of: Callable[[Stated], Any],
) -> None:
    stated = draw()
    engine = open_engine(source_of(stated))
    found = engine.statements()
    assert found is not None
    assert engine.n_passes == 0
    assert stated.dissimilar is not None
    np.testing.assert_array_equal(found["similar"], stated.similar)
    np.testing.assert_array_equal(found["dissimilar"], stated.dissimilar)
    assert engine.count("similar") == len(stated.similar)
    scaled = ScaledEngine(engine, np.zeros(21), np.full(21, 2.0)).statements()
    assert scaled is not None
    np.testing.assert_array_equal(scaled["similar"], stated.similar)


def test_values_of_rows_meet_their_rows(source_of: Callable[[Stated], Any]) -> None:
    stated = draw()
    engine = open_engine(source_of(stated))
    values = np.arange(N_ROWS, dtype=np.float64)

    def kernel(block: Any, here: Any) -> tuple[list[Any], Any]:
        assert len(here) == block.tables[0].shape[0]
        return [here], np.asarray(block.tables[0]).T @ here

    for scale, one in ((1.0, engine), (2.0, ScaledEngine(engine, np.zeros(21), np.full(21, 2.0)))):
        pieces, sums = one.map_reduce_with(values, kernel)
        np.testing.assert_array_equal(np.concatenate(pieces), values)
        np.testing.assert_allclose(sums, stated.rows.T @ values / scale, rtol=1e-9)
        assert one.n_passes == 1


def test_pairs_of_rows_of_their_own_stay_fresh_pairs(tmp_path: Path) -> None:
    rows = write_parts(table(draw().rows), tmp_path / "rows", 1, 500)
    source = PairSource(rows, (rows, rows))
    assert open_engine(source).statements() is None
    with pytest.raises(ValueError, match="these are fresh pairs"):
        lw.PairClassifier(pairing="asked").fit(source)
    with pytest.raises(ValueError, match="does not learn from dissimilar pairs"):
        lw.PairClassifier().fit(PairSource(rows, (rows, rows), (rows, rows)))


@pytest.mark.slow
def test_groups_may_be_said_of_the_rows_of_an_open_engine(tmp_path: Path) -> None:
    stated = draw(is_met=True)
    groups = [np.append(stated.similar[0], stated.similar[1]), *stated.similar[2:]]
    clf = lw.PairClassifier(
        features="linear", alphas=[0.03], cv=2, random_state=0, pairing="random"
    )
    expected = clone(clf).fit(*lw.pack(stated.rows, similar=groups))
    engine = open_engine(PairSource(write_parts(table(stated.rows), tmp_path / "rows", 2, 500)))
    found = clf.fit(OpenSource(engine=engine, similar=groups))
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)


def test_bad_statements_are_named(source_of: Callable[[Stated], Any]) -> None:
    stated, clf = draw(), lw.PairClassifier()
    for pair, message in (
        ([3, N_ROWS + 7], "no such id|rows 0 to 999"),
        ([4, 4], "with itself"),
    ):
        wrong = Stated(stated.rows, np.vstack([stated.similar[:3], [pair]]), None)
        with pytest.raises(ValueError, match=message):
            clf.fit(source_of(wrong))
    none = PairSource(source_of(stated).unlabeled)
    with pytest.raises(ValueError, match="needs at least one pair"):
        clf.fit(none)
