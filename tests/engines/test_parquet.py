"""The Parquet engine: pairs by ids, faults of files, and what is read."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.svm import LinearSVC

import likewise as lw
from likewise.classifiers.rows import read_source
from likewise.datasets import SUSample
from likewise.engines import Engine, PairSource, open_engine
from likewise.statements.packing import pack
from tests.engines.conftest import NAMES, table, write_parts

Draw = Callable[..., SUSample]


@pytest.fixture
def sample(draw_waveform: Draw) -> SUSample:
    return draw_waveform(60, 200)


@pytest.fixture
def pair_rows(rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(200)[:80].reshape(40, 2)


@pytest.fixture
def rows_with_ids(sample: SUSample, tmp_path: Path) -> Path:
    frame = table(sample.unlabeled).assign(id=[f"r{k}" for k in range(200)])
    return write_parts(frame, tmp_path / "with_ids", 3, 29)


def as_ids(pairs: np.ndarray) -> np.ndarray:
    return np.array([[f"r{k}" for k in pair] for pair in pairs])


@pytest.mark.parametrize(
    "given",
    [
        as_ids,
        lambda pairs: pd.DataFrame(as_ids(pairs), columns=["left", "right"]),
        lambda pairs: pa.table(dict(zip(("left", "right"), as_ids(pairs).T, strict=True))),
    ],
    ids=["array", "pandas", "pyarrow"],
)
def test_pairs_by_ids_are_joined(
    sample: SUSample, pair_rows: np.ndarray, rows_with_ids: Path, given: Callable[..., object]
) -> None:
    expected = lw.SUClassifierCV(prior=0.7).fit(*pack(sample.unlabeled, similar=pair_rows))
    found = lw.SUClassifierCV(prior=0.7).fit(PairSource(rows_with_ids, given(pair_rows)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(found.feature_names_in_, NAMES)


def test_pairs_by_ids_may_be_in_a_file_too(
    pair_rows: np.ndarray, rows_with_ids: Path, tmp_path: Path
) -> None:
    ids = pd.DataFrame(as_ids(pair_rows), columns=["left", "right"])
    path = tmp_path / "ids.parquet"
    ids.to_parquet(path)
    from_file, from_memory = (
        open_engine(PairSource(rows_with_ids, pairs)).every("similar", 1) for pairs in (path, ids)
    )
    np.testing.assert_array_equal(from_file, from_memory)


@pytest.mark.parametrize(
    "read",
    [lambda engine: engine.every("similar", 1), lambda engine: engine.statements()],
    ids=["members", "statements"],
)
def test_unknown_and_repeated_ids_are_named(
    sample: SUSample, rows_with_ids: Path, tmp_path: Path, read: Callable[[Engine], object]
) -> None:
    with pytest.raises(ValueError, match="Pair 1 names nobody, but there is no such id"):
        read(open_engine(PairSource(rows_with_ids, np.array([["r1", "r2"], ["r3", "nobody"]]))))
    with pytest.raises(ValueError, match="Pair 0 joins r1 with itself"):
        open_engine(PairSource(rows_with_ids, np.array([["r1", "r1"]])))
    frame = table(sample.unlabeled).assign(id=["same"] * 2 + [f"r{k}" for k in range(198)])
    twice = write_parts(frame, tmp_path / "twice", 1, 100)
    with pytest.raises(ValueError, match="the id same more than once"):
        read(open_engine(PairSource(twice, np.array([["same", "r1"]]))))
    numbers = write_parts(frame.assign(id=range(200)), tmp_path / "numbers", 1, 100)
    with pytest.raises(ValueError, match="Pair 0 names r1, but there is no such id"):
        read(open_engine(PairSource(numbers, np.array([["r1", "r2"]]))))


def test_pack_returns_a_source_that_has_read_no_rows(
    sample: SUSample, rows_with_ids: Path, pair_rows: np.ndarray
) -> None:
    X, y = lw.pack(rows_with_ids, similar=as_ids(pair_rows))
    assert isinstance(X, PairSource)
    assert y is None
    assert lw.SUClassifier(prior=0.7).fit(X, y).n_passes_ == 1
    both, _ = lw.pack(rows_with_ids, similar=as_ids(pair_rows), dissimilar=as_ids(pair_rows[:9]))
    engine = open_engine(both)
    assert (engine.count("similar"), engine.count("dissimilar")) == (40, 9)
    with pytest.raises(ValueError, match="no pairs"):
        lw.pack(rows_with_ids)


def test_only_the_chosen_columns_are_read(sample: SUSample, tmp_path: Path) -> None:
    frame = table(sample.unlabeled).assign(text="never read")
    path = write_parts(frame, tmp_path / "text", 1, 100)
    left, right = (write_parts(frame, tmp_path / side, 1, 100) for side in ("left", "right"))
    with pytest.raises(ValueError, match=r"Column 'text' of .*/text holds text, not numbers"):
        open_engine(PairSource(path, (left, right)))
    engine = open_engine(PairSource(ds.dataset(path), (left, right), columns=["x3", "x1"]))
    assert engine.feature_names == ("x3", "x1")
    np.testing.assert_array_equal(engine.every("unlabeled", 1)[0], sample.unlabeled[:, [3, 1]])


def test_a_missing_column_or_side_is_named(sample: SUSample, tmp_path: Path) -> None:
    rows = write_parts(table(sample.unlabeled), tmp_path / "rows", 1, 100)
    fewer = write_parts(table(sample.unlabeled[:50]), tmp_path / "fewer", 1, 100)
    with pytest.raises(ValueError, match="no column 'left_x0'"):
        open_engine(PairSource(rows, rows))
    with pytest.raises(ValueError, match="200 left rows but 50 right rows"):
        open_engine(PairSource(rows, (rows, fewer)))
    with pytest.raises(ValueError, match="no column 'id'"):
        open_engine(PairSource(rows, np.array([[1, 2]])))


class TestFaults:
    """Files that cannot be read are named."""

    @pytest.fixture
    def folder(self, sample: SUSample, tmp_path: Path) -> Path:
        return write_parts(table(sample.unlabeled), tmp_path / "rows", 3, 40)

    def test_a_folder_that_is_not_there(self, folder: Path) -> None:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            open_engine(PairSource(folder / "nowhere", (folder, folder)))

    def test_a_file_that_is_not_parquet(self, folder: Path) -> None:
        (folder / "part-1.parquet").write_bytes(b"PAR1 but not really")
        with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as a Parquet file"):
            open_engine(PairSource(folder, (folder, folder)))

    def test_a_file_that_is_removed_before_it_is_read(self, folder: Path) -> None:
        engine = open_engine(PairSource(folder, (folder, folder)))
        (folder / "part-2.parquet").unlink()
        with pytest.raises(FileNotFoundError, match=r"part-2\.parquet"):
            engine.every("unlabeled", 1)

    def test_a_file_whose_rows_are_damaged(self, folder: Path) -> None:
        path = folder / "part-1.parquet"
        content = bytearray(path.read_bytes())
        content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as a Parquet file"):
            lw.SUClassifier(prior=0.7).fit(PairSource(folder, (folder, folder)))


@pytest.mark.parametrize("kind", ["unlabeled row", "pair"])
def test_missing_values_are_located(sample: SUSample, tmp_path: Path, kind: str) -> None:
    unlabeled, (left, right) = sample.unlabeled.copy(), (side.copy() for side in sample.similar)
    (unlabeled if kind == "unlabeled row" else right)[45, 5] = np.nan
    source = PairSource(
        *(
            write_parts(table(unlabeled), tmp_path / "rows", 2, 30),
            tuple(
                write_parts(table(side), tmp_path / name, 2, 30)
                for name, side in (("left", left), ("right", right))
            ),
        )
    )
    with pytest.raises(ValueError, match=f"contain NaN, first at {kind} 45, column 'x5'"):
        lw.SUClassifierCV(prior=0.7).fit(source)


def test_missing_values_in_dissimilar_pairs_are_located(sample: SUSample, tmp_path: Path) -> None:
    rows = write_parts(table(sample.unlabeled), tmp_path / "rows", 1, 100)
    spoiled = sample.unlabeled.copy()
    spoiled[45, 5] = np.nan
    others = write_parts(table(spoiled), tmp_path / "others", 2, 30)
    with pytest.raises(ValueError, match="first at dissimilar pair 45, column 'x5'"):
        lw.SUClassifier(prior=0.7).fit(PairSource(rows, None, (rows, others)))


def test_who_does_not_learn_from_dissimilar_pairs_says_so(sample: SUSample, tmp_path: Path) -> None:
    rows = write_parts(table(sample.unlabeled), tmp_path / "rows", 1, 100)
    with pytest.raises(ValueError, match="does not learn from dissimilar pairs"):
        read_source(LinearSVC(), PairSource(rows, None, (rows, rows)))


def test_folds_need_rows_and_go_in_turn(sample: SUSample, tmp_path: Path) -> None:
    rows = write_parts(table(sample.unlabeled), tmp_path / "rows", 1, 100)
    few = write_parts(table(sample.unlabeled[:3]), tmp_path / "few", 1, 100)
    with pytest.raises(ValueError, match="at least 5 similar pairs, but there are only 3"):
        lw.SUClassifierCV(prior=0.7).fit(PairSource(rows, (few, few)))
    with pytest.raises(ValueError, match="dealt to folds in turn"):
        lw.SUClassifierCV(prior=0.7, cv=lw.PairKFold(2, shuffle=True)).fit(
            PairSource(rows, (rows, rows))
        )
    with pytest.raises(ValueError, match="pass no y"):
        lw.SUClassifier(prior=0.7).fit(PairSource(rows, (rows, rows)), np.zeros(3, dtype=int))


def test_a_table_in_memory_is_sent_to_pack(sample: SUSample) -> None:
    with pytest.raises(TypeError, match=r"likewise\.pack"):
        open_engine(PairSource(sample.unlabeled, sample.similar))
