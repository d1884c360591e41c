"""The same rows and pairs on every engine."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pytest

from likewise.engines import PairSource
from tests.clusters import local_cluster

NAMES = [f"x{k}" for k in range(21)]
Pass = tuple[Any, Any]
"""What is passed to ``fit``."""


@pytest.fixture(scope="package")
def client() -> Iterator[Any]:
    """A Dask client of two worker processes, which other tests need not wait for."""
    distributed = pytest.importorskip("distributed")
    with local_cluster(2) as cluster, distributed.Client(cluster) as client:
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


class Sample(Protocol):
    """Rows and pairs in memory."""

    @property
    def unlabeled(self) -> np.ndarray: ...

    @property
    def similar(self) -> Any: ...

    def pack(self) -> Pass: ...


def pairs_of(sample: Sample) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The left and the right members of each kind of pairs."""
    kinds = {kind: getattr(sample, kind, None) for kind in ("similar", "dissimilar")}
    return {kind: pairs for kind, pairs in kinds.items() if pairs is not None}


def side_by_side(pairs: tuple[np.ndarray, np.ndarray]) -> pd.DataFrame:
    """Left and right members in the columns of one frame."""
    return pd.concat([table(pairs[0], "left_"), table(pairs[1], "right_")], axis=1)


def in_memory(sample: Sample, folder: Path) -> Pass:
    return sample.pack()


def parquet_columns(sample: Sample, folder: Path) -> Pass:
    pairs: dict[str, Any] = {
        kind: write_parts(side_by_side(sides), folder / kind, 2, 23)
        for kind, sides in pairs_of(sample).items()
    }
    return PairSource(write_parts(table(sample.unlabeled), folder / "rows", 3, 37), **pairs), None


def parquet_tables(sample: Sample, folder: Path) -> Pass:
    """Left and right members in files that are cut differently."""
    pairs: dict[str, Any] = {
        kind: (
            write_parts(table(left), folder / f"{kind}_left", 2, 17),
            write_parts(table(right), folder / f"{kind}_right", 1, 31),
        )
        for kind, (left, right) in pairs_of(sample).items()
    }
    return PairSource(write_parts(table(sample.unlabeled), folder / "rows", 1, 1000), **pairs), None


def dask_arrays(sample: Sample, folder: Path) -> Pass:
    array = pytest.importorskip("dask.array")
    n_columns = sample.unlabeled.shape[1]
    pairs: dict[str, Any] = {
        kind: (
            array.from_array(left, chunks=(33, n_columns)),
            array.from_array(right, chunks=(50, 7)),
        )
        for kind, (left, right) in pairs_of(sample).items()
    }
    return PairSource(array.from_array(sample.unlabeled, chunks=(40, 10)), **pairs), None


def dask_frames(sample: Sample, folder: Path) -> Pass:
    frames = pytest.importorskip("dask.dataframe")
    pairs: dict[str, Any] = {
        kind: frames.from_pandas(side_by_side(sides), npartitions=3)
        for kind, sides in pairs_of(sample).items()
    }
    return PairSource(frames.from_pandas(table(sample.unlabeled), npartitions=4), **pairs), None


def tensors(sample: Sample, folder: Path) -> Pass:
    torch = pytest.importorskip("torch")
    pairs: dict[str, Any] = {
        k: tuple(map(torch.from_numpy, sides)) for k, sides in pairs_of(sample).items()
    }
    return PairSource(torch.from_numpy(sample.unlabeled), **pairs), None


def single_tensors(sample: Sample, folder: Path) -> Pass:
    torch = pytest.importorskip("torch")
    source = tensors(sample, folder)[0]
    pairs: dict[str, Any] = {
        k: tuple(side.to(torch.float32) for side in p) for k, p in source.pairs.items()
    }
    return PairSource(source.unlabeled.to(torch.float32), **pairs), None


ENGINES: dict[str, Callable[[Sample, Path], Pass]] = {
    "memory": in_memory,
    "parquet_columns": parquet_columns,
    "parquet_tables": parquet_tables,
    "dask_arrays": dask_arrays,
    "dask_frames": dask_frames,
    "tensors": tensors,
    "single_tensors": single_tensors,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Sample], Pass]:
    """Bring a sample to one of the engines, as what is passed to ``fit``."""
    name: str = request.param
    if name.startswith("dask"):
        request.getfixturevalue("client")
    return lambda sample: ENGINES[name](sample, tmp_path)


@pytest.fixture
def tolerance(request: pytest.FixtureRequest) -> float:
    """How far results may differ from those in memory, in the precision of the rows."""
    return 1e-4 if "single" in request.node.name else 1e-8
