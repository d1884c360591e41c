"""The Dask engine: pairs by ids and row numbers, and workers that die."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import PairSource, open_engine
from tests.clusters import local_cluster
from tests.engines.conftest import NAMES, table

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

Draw = Callable[..., SUSample]


@pytest.fixture
def sample(draw_waveform: Draw) -> SUSample:
    return draw_waveform(60, 200)


@pytest.fixture
def pair_rows(rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(200)[:80].reshape(40, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", ["rows of an array", "ids of a frame"])
def test_pairs_by_ids_are_joined(sample: SUSample, pair_rows: np.ndarray, kind: str) -> None:
    source = PairSource(da.from_array(sample.unlabeled, chunks=(60, 21)), pair_rows)
    if kind == "ids of a frame":
        frame = table(sample.unlabeled).assign(id=np.arange(200) + 1000)
        pairs = pd.DataFrame(pair_rows + 1000, columns=["left", "right"])
        source = PairSource(
            dd.from_pandas(frame, npartitions=3), dd.from_pandas(pairs, npartitions=2)
        )
    expected = lw.SUClassifierCV(prior=0.7).fit(*lw.pack(sample.unlabeled, similar=pair_rows))
    found = lw.SUClassifierCV(prior=0.7).fit(source)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    if kind == "ids of a frame":
        np.testing.assert_array_equal(found.feature_names_in_, NAMES)
    both = PairSource(source.unlabeled, pair_rows[:20], pair_rows[20:])
    if kind == "ids of a frame":
        both = PairSource(source.unlabeled, pair_rows[:20] + 1000, pair_rows[20:] + 1000)
    packed = lw.pack(sample.unlabeled, similar=pair_rows[:20], dissimilar=pair_rows[20:])
    expected, found = (lw.SUClassifier(prior=0.7).fit(*p) for p in (packed, (both,)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-8)


@pytest.mark.usefixtures("client")
def test_bad_pairs_are_named(sample: SUSample) -> None:
    frame = dd.from_pandas(table(sample.unlabeled).assign(id=range(200)), npartitions=2)
    array = da.from_array(sample.unlabeled, chunks=(60, 21))
    for source, message in (
        (
            PairSource(frame, np.array([[1, 2], [3, 900]])),
            "Pair 1 names 900, but there is no such id",
        ),
        (PairSource(frame, np.array([[1, 1]])), "Pair 0 joins 1 with itself"),
        (PairSource(frame[NAMES], np.array([[1, 2]])), "no column 'id'"),
        (PairSource(frame, frame), "no column 'left_x0'"),
        (PairSource(array, np.array([[1, 200]])), "rows 0 to 199"),
        (PairSource(array, np.array([1, 2])), r"row numbers of shape \(n, 2\)"),
        (PairSource(array, (array, array[:50])), "200 left rows but 50 right"),
    ):
        with pytest.raises(ValueError, match=message):
            open_engine(source).every("similar", 1)


@pytest.mark.usefixtures("client")
def test_partitions_without_rows_are_passed_over(sample: SUSample) -> None:
    frame = dd.from_pandas(table(sample.unlabeled), npartitions=4)
    tall = frame[frame.x0.abs() >= 0].partitions[:3]
    none = frame[frame.x0 > 1e9].partitions[:1]
    engine = open_engine(PairSource(dd.concat([none, tall, none]), (tall, tall)))
    assert engine.count("unlabeled") == 150
    np.testing.assert_array_equal(engine.every("unlabeled", 1)[0], sample.unlabeled[:150])


def test_without_a_cluster_the_threads_of_this_process_do(sample: SUSample) -> None:
    import dask

    left, right = sample.similar
    arrays = [da.from_array(rows, chunks=(50, 21)) for rows in (sample.unlabeled, left, right)]
    with dask.config.set(scheduler="threads"):
        found = lw.SUClassifierCV(prior=0.7).fit(PairSource(arrays[0], (arrays[1], arrays[2])))
    expected = lw.SUClassifierCV(prior=0.7).fit(*sample.pack())
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)


def test_a_worker_that_is_killed_does_not_change_the_fit(sample: SUSample, tmp_path: Path) -> None:
    left, right = sample.similar
    mark = tmp_path / "killed"

    # Defined here so that it travels by value: a worker may not be able to import the tests.
    def kill_once(rows: np.ndarray) -> np.ndarray:
        """Kill the worker that first comes here, as a machine that fails would."""
        try:
            descriptor = os.open(mark, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return rows
        os.close(descriptor)
        os.kill(os.getpid(), signal.SIGKILL)
        return rows

    def deadly(rows: np.ndarray) -> Any:
        array = da.from_array(rows, chunks=(20, 21))
        return array.map_blocks(kill_once, dtype=float, meta=np.empty((0, 0)))

    with local_cluster(2) as cluster, distributed.Client(cluster):
        source = PairSource(deadly(sample.unlabeled), (da.from_array(left), da.from_array(right)))
        found = lw.SUClassifierCV(prior=0.7).fit(source)
    assert mark.exists()
    expected = lw.SUClassifierCV(prior=0.7).fit(*sample.pack())
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
