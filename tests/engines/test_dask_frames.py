"""Dask data frames as people make them: from folders of files, with any index, of any types."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likewise as lw
from likewise.engines import PairSource, frames, open_engine
from tests.engines.conftest import write_parts

dd = pytest.importorskip("dask.dataframe")

PAIRS = np.array([[f"r{k}", f"r{k + 30}"] for k in range(30)])


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    import dask

    settings: Any = dask.config
    # A client that other tests left open would shuffle on its workers.
    with settings.set({"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}):
        yield


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) + (rng.random(60) < 0.7)[:, None]
    return pd.DataFrame(rows, columns=list("abc")).assign(id=[f"r{k}" for k in range(60)])


def weights(rows: Any, pairs: Any = PAIRS) -> np.ndarray:
    return np.asarray(lw.SUClassifier(prior=0.7).fit(*lw.pack(rows, similar=pairs)).coef_)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own reader, of pandas
@pytest.mark.filterwarnings("ignore:An error occurred while calling the read_parquet method")
@pytest.mark.parametrize(
    "indexed",
    [
        lambda frame: frame,
        lambda frame: frame.set_index("id"),
        lambda frame: frame.set_index(np.arange(60) * 2),
        lambda frame: frame.set_index(pd.Index(["x", "y"] * 30)),
    ],
    ids=["numbers", "ids", "other numbers", "repeated labels"],
)
@pytest.mark.parametrize("is_changed", [False, True])
def test_folders_of_several_files_are_read(
    frame: pd.DataFrame, tmp_path: Path, indexed: Callable[..., Any], is_changed: bool
) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    for number, part in enumerate(np.array_split(np.arange(60), 4)):
        indexed(frame).iloc[part].to_parquet(rows / f"{number}.parquet")
    read = dd.read_parquet(rows)
    if is_changed:  # then it is no longer the files alone
        read = read.assign(c=read["c"] * 1.0)
    expected = weights(write_parts(frame, tmp_path / "plain", 1, 100))
    np.testing.assert_allclose(weights(read), expected, rtol=1e-8)


def test_pairs_that_one_worker_cannot_hold_are_joined_by_a_shuffle(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = dd.from_pandas(frame, npartitions=3)

    def members() -> Any:
        return open_engine(PairSource(rows, PAIRS)).every("similar", 1)

    together = members()
    monkeypatch.setattr(frames, "_FEW_VALUES", 0)
    engine = open_engine(PairSource(rows, PAIRS))
    np.testing.assert_array_equal(engine.every("similar", 1), together)
    left = frame.set_index("id").loc[PAIRS[:, 0]].to_numpy()
    np.testing.assert_array_equal(together[0], left)


def test_statements_of_a_folder_are_found(frame: pd.DataFrame, tmp_path: Path) -> None:
    read = dd.read_parquet(write_parts(frame, tmp_path / "rows", 3, 100))
    found = open_engine(PairSource(read, PAIRS)).statements()
    assert found is not None
    assert found["similar"][4].tolist() == [4, 34]


def test_a_partition_of_flags_beside_one_of_numbers_is_refused(frame: pd.DataFrame) -> None:
    flags, numbers = frame.assign(c=frame["c"] > 0), frame.assign(c=2)
    mixed = dd.concat([dd.from_pandas(part, npartitions=1) for part in (flags, flags)])
    changed = mixed.map_partitions(lambda part: part, meta=numbers.iloc[:0])
    with pytest.raises(ValueError, match="Column 'c' holds true and false in some partitions"):
        weights(changed, (changed, changed))


def test_text_is_no_feature(frame: pd.DataFrame) -> None:
    rows = dd.from_pandas(frame.assign(word="x"), npartitions=2)
    with pytest.raises(ValueError, match=r"Column 'word' holds .*, not numbers; leave it out"):
        weights(rows)


@pytest.mark.parametrize("by_dask", [False, True], ids=["parquet", "dask"])
class TestIds:
    """Ids are compared as text by every engine."""

    @pytest.fixture
    def read(self, by_dask: bool) -> Callable[[Path], Any]:
        return dd.read_parquet if by_dask else lambda path: path

    @pytest.mark.parametrize(
        ("kind", "of_pairs"), [(int, float), (float, str), (str, int), (np.uint8, float)]
    )
    def test_numbers_match_their_text(
        self,
        frame: pd.DataFrame,
        tmp_path: Path,
        read: Callable[[Path], Any],
        kind: Any,
        of_pairs: Any,
    ) -> None:
        expected = weights(write_parts(frame, tmp_path / "plain", 1, 100))
        numbered = frame.assign(id=np.arange(60).astype(kind))
        rows = read(write_parts(numbered, tmp_path / "rows", 2, 100))
        pairs = np.arange(60).reshape(2, 30).T.astype(of_pairs)
        np.testing.assert_allclose(weights(rows, pairs), expected, rtol=1e-8)

    def test_categories_are_ids(
        self, frame: pd.DataFrame, tmp_path: Path, read: Callable[[Path], Any]
    ) -> None:
        expected = weights(write_parts(frame, tmp_path / "plain", 1, 100))
        rows = read(write_parts(frame.astype({"id": "category"}), tmp_path / "rows", 2, 100))
        pairs = pd.DataFrame(PAIRS, columns=["left", "right"]).astype("category")
        np.testing.assert_allclose(weights(rows, pairs), expected, rtol=1e-8)

    def test_leading_zeros_count(
        self, frame: pd.DataFrame, tmp_path: Path, read: Callable[[Path], Any]
    ) -> None:
        rows = read(write_parts(frame.assign(id=np.arange(60)), tmp_path / "rows", 2, 100))
        with pytest.raises(ValueError, match="Pair 1 names 007, but there is no such id"):
            weights(rows, np.array([["1", "2"], ["007", "8"]]))

    def test_text_beside_numbers_is_refused(
        self, frame: pd.DataFrame, tmp_path: Path, read: Callable[[Path], Any]
    ) -> None:
        rows = read(write_parts(frame, tmp_path / "rows", 2, 100))
        mixed = pa.table({"left": ["r1"], "right": [[2]]})
        with pytest.raises(ValueError, match="values of type list cannot be used as text or ids"):
            weights(rows, mixed)
        several = pd.DataFrame({"left": ["r1", 2], "right": ["r3", "r4"]}, dtype=object)
        with pytest.raises(ValueError, match="ids are of several types"):
            weights(rows, several)
