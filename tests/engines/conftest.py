"""The same rows and pairs on every engine."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likewise.datasets import SUSample
from likewise.engines import PairSource

NAMES = [f"x{k}" for k in range(21)]
Pass = tuple[Any, Any]
"""What is passed to ``fit``."""


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A Dask client of two worker processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def table(rows: np.ndarray, prefix: str = "") -> pd.DataFrame:
    """Rows as a data frame with named columns."""
    return pd.DataFrame(rows, columns=[prefix + name for name in NAMES])


def write_parts(frame: pd.DataFrame, folder: Path, n_files: int, row_group_size: int) -> Path:
    """Write a frame as several Parquet files of several row groups."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        path = folder / f"part-{number}.parquet"
        frame.iloc[rows].to_parquet(path, row_group_size=row_group_size, index=False)
    return folder


def in_memory(sample: SUSample, folder: Path) -> Pass:
    return sample.pack()


def parquet_columns(sample: SUSample, folder: Path) -> Pass:
    left, right = sample.similar
    pairs = pd.concat([table(left, "left_"), table(right, "right_")], axis=1)
    return PairSource(
        write_parts(table(sample.unlabeled), folder / "rows", 3, 37),
        write_parts(pairs, folder / "pairs", 2, 23),
    ), None


def parquet_tables(sample: SUSample, folder: Path) -> Pass:
    """Left and right members in files that are cut differently."""
    left, right = sample.similar
    return PairSource(
        write_parts(table(sample.unlabeled), folder / "rows", 1, 1000),
        (
            write_parts(table(left), folder / "left", 2, 17),
            write_parts(table(right), folder / "right", 1, 31),
        ),
    ), None


def dask_arrays(sample: SUSample, folder: Path) -> Pass:
    array = pytest.importorskip("dask.array")
    left, right = sample.similar
    return PairSource(
        array.from_array(sample.unlabeled, chunks=(40, 10)),
        (array.from_array(left, chunks=(33, 21)), array.from_array(right, chunks=(50, 7))),
    ), None


def dask_frames(sample: SUSample, folder: Path) -> Pass:
    frames = pytest.importorskip("dask.dataframe")
    left, right = sample.similar
    pairs = pd.concat([table(left, "left_"), table(right, "right_")], axis=1)
    return PairSource(
        frames.from_pandas(table(sample.unlabeled), npartitions=4),
        frames.from_pandas(pairs, npartitions=3),
    ), None


def tensors(sample: SUSample, folder: Path) -> Pass:
    torch = pytest.importorskip("torch")
    left, right = sample.similar
    return PairSource(
        torch.from_numpy(sample.unlabeled), (torch.from_numpy(left), torch.from_numpy(right))
    ), None


def single_tensors(sample: SUSample, folder: Path) -> Pass:
    torch = pytest.importorskip("torch")
    source = tensors(sample, folder)[0]
    similar = tuple(side.to(torch.float32) for side in source.similar)
    return PairSource(source.unlabeled.to(torch.float32), similar), None


ENGINES: dict[str, Callable[[SUSample, Path], Pass]] = {
    "memory": in_memory,
    "parquet_columns": parquet_columns,
    "parquet_tables": parquet_tables,
    "dask_arrays": dask_arrays,
    "dask_frames": dask_frames,
    "tensors": tensors,
    "single_tensors": single_tensors,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[SUSample], Pass]:
    """Bring a sample to one of the engines, as what is passed to ``fit``."""
    name: str = request.param
    if name.startswith("dask"):
        request.getfixturevalue("client")
    return lambda sample: ENGINES[name](sample, tmp_path)


@pytest.fixture
def tolerance(request: pytest.FixtureRequest) -> float:
    """How far results may differ from those in memory, in the precision of the rows."""
    return 1e-4 if "single" in request.node.name else 1e-8
