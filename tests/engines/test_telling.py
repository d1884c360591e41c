"""Engines tell how far a pass has come, and scale rows on the way."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import PairSource, base, open_engine
from likewise.engines import torch as torch_engine
from likewise.engines.scaled import Moments, ScaledEngine
from likewise.engines.source import OpenSource
from likewise.su.objective import summarise

Engine = Callable[[SUSample], tuple[Any, Any]]
Draw = Callable[..., SUSample]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_engine, "_HOST_BYTES", 21 * 16 * 8)
    monkeypatch.setattr("likewise.engines.parquet._TASK_ROWS", 50)


def opened(engine: Engine, sample: SUSample) -> base.Engine:
    source, _ = engine(sample)
    if not isinstance(source, PairSource):
        pytest.skip("rows in memory are read at once")
    return open_engine(source)


@pytest.mark.usefixtures("small_blocks")
def test_an_engine_tells_how_many_rows_it_has_summed(
    engine: Engine, draw_waveform: Draw, request: pytest.FixtureRequest
) -> None:
    rows = opened(engine, draw_waveform(103, 211))
    told: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rows.on_rows = lambda part, done, total: told[part].append((done, total))
    summarise(rows)
    rows.every("similar", 1)
    for part, times, total in (("unlabeled", 1, 211), ("similar", 2, 103)):
        done = [number for number, _ in told[part]]
        assert all(all_rows == total for _, all_rows in told[part])
        assert done.count(total) == times
        first_pass = done[: done.index(total) + 1]
        assert first_pass == sorted(first_pass)
        # Here all rows are one row group.
        is_told_at_once = "parquet_tables" in request.node.name and part == "unlabeled"
        assert (len(first_pass) == 1) == is_told_at_once


def test_scaled_rows_are_learned_from_as_if_they_were_scaled_before(
    engine: Engine, draw_waveform: Draw, tolerance: float
) -> None:
    sample = draw_waveform(103, 211)
    scaler = StandardScaler().fit(sample.unlabeled)
    inner = opened(engine, sample)
    scaled = ScaledEngine(inner, scaler.mean_, scaler.scale_)
    found = lw.SUClassifierCV(prior=0.7).fit(OpenSource(engine=scaled))
    expected = lw.SUClassifierCV(prior=0.7).fit(
        *lw.pack(
            scaler.transform(sample.unlabeled), similar=tuple(map(scaler.transform, sample.similar))
        )
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=tolerance, atol=tolerance)
    assert scaled.feature_names == inner.feature_names
    assert (scaled.n_features, scaled.count("similar")) == (21, 103)


def test_moments_of_parts_are_those_of_all_rows(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((1000, 3)) * [1.0, 1e-3, 0.0] + [0.0, 1e6, 7.0]
    moments = Moments([Moments.of_rows(part) for part in np.split(rows, [10, 300])])
    assert moments.count == 1000
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(moments.variance[:2], rows.var(axis=0)[:2], rtol=1e-6)
    np.testing.assert_allclose(moments.scale, [*rows.std(axis=0)[:2], 1.0], rtol=1e-6)
