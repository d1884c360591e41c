"""Tests of loading by name: the order of places, damaged files, OpenML, the cache."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.datasets import list_datasets, load
from likewise.datasets.catalogue import CATALOGUE

from .conftest import FakeOpenML

NAMES = [
    *["adult", "banana", "cod-rna", "higgs", "ijcnn1", "magic"],
    *["phishing", "phoneme", "spambase", "susy", "w8a", "waveform"],
]
X_TINY = np.arange(8, dtype=np.float32).reshape(4, 2)
Y_TINY = np.array([1, -1, -1, -1], dtype=np.int8)

DENSE_ARFF = """% A comment
@RELATION tiny
@ATTRIBUTE V1 REAL
@ATTRIBUTE V2 REAL
@ATTRIBUTE Class {1, 2}
@DATA
0.5,1,1
-2,3.25,2
4,-5e-1,1
6,7,1
"""
DENSE_COLUMNS = {"V1": "numeric", "V2": "numeric", "Class": "nominal"}

# Sparse files name only what differs from zero; for a nominal column that is its first value.
SPARSE_ARFF = """@RELATION tiny
@ATTRIBUTE Y {-1, 1}
@ATTRIBUTE X1 numeric
@ATTRIBUTE X2 numeric
@ATTRIBUTE X3 numeric
@DATA
{0 -1, 1 1, 3 1}
{0 1, 2 1}
{0 1}
{0 -1, 3 1}
{0 -1, 1 1}
"""
SPARSE_COLUMNS = {"Y": "nominal", "X1": "numeric", "X2": "numeric", "X3": "numeric"}

MAGIC_ARFF = """@RELATION tiny
@ATTRIBUTE ID INTEGER
@ATTRIBUTE fLength: REAL
@ATTRIBUTE class: {g, h}
@DATA
1,0.5,g
2,1.5,g
3,2.5,h
"""

Shrink = Callable[..., None]


def _save(path: Path, **arrays: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    return path


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path / "own"))
    return tmp_path / "own"


class TestRealFiles:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_benchmark_loads_with_the_facts_of_the_catalogue(
        self, real_data: Path, name: str
    ) -> None:
        if not (real_data / f"{name}.npz").is_file():
            pytest.skip(f"LIKEWISE_DATA has no {name}.npz")
        found = load(name)
        facts = next(info for info in list_datasets() if info.name == name)
        assert found.data.shape == (facts.rows, facts.dims)
        assert found.data.dtype == np.float32
        assert found.target.dtype == np.int64
        assert set(np.unique(found.target)) == {-1, 1}
        assert np.mean(found.target == 1) == facts.positive_share
        assert found.source == facts.source == "folder"
        assert ("target_multiclass" in found) == (name == "waveform")

    def test_waveform_brings_its_three_classes(self, real_data: Path) -> None:
        if not (real_data / "waveform.npz").is_file():
            pytest.skip("LIKEWISE_DATA has no waveform.npz")
        found = load("waveform")
        np.testing.assert_array_equal(np.bincount(found.target_multiclass), [1657, 1647, 1696])


class TestPlaces:
    def test_the_named_folder_comes_before_the_cache(
        self, folder: Path, tmp_path: Path, tiny: Shrink
    ) -> None:
        tiny("banana", 4, 2, 1)
        _save(tmp_path / "cache" / "banana.npz", X=X_TINY + 1, y=Y_TINY)
        assert load("banana", data_home=tmp_path / "cache").source == "cache"
        _save(folder / "banana.npz", X=X_TINY, y=Y_TINY)
        found = load("banana", data_home=tmp_path / "cache")
        assert found.source == "folder"
        np.testing.assert_array_equal(found.data, X_TINY)

    def test_by_default_the_cache_lies_in_the_data_folder_of_scikit_learn(
        self, tmp_path: Path, tiny: Shrink
    ) -> None:
        tiny("banana", 4, 2, 1)
        _save(tmp_path / "home" / "likewise" / "banana.npz", X=X_TINY, y=Y_TINY)
        assert load("banana").source == "cache"

    def test_x_and_y_alone_are_those_of_the_bunch(self, folder: Path, tiny: Shrink) -> None:
        tiny("banana", 4, 2, 1)
        _save(folder / "banana.npz", X=X_TINY, y=Y_TINY)
        X, y = load("banana", return_X_y=True)
        found = load("banana")
        np.testing.assert_array_equal(X, found.data)
        np.testing.assert_array_equal(y, found.target)
        assert found.name == "banana"
        assert found.description == "made up; class +1 is: yes."

    @pytest.mark.parametrize("name", ["cod-rna", "higgs", "ijcnn1", "phishing", "susy", "w8a"])
    def test_a_set_that_openml_lacks_names_the_variable_to_set(
        self, fake_openml: FakeOpenML, name: str
    ) -> None:
        with pytest.raises(FileNotFoundError) as caught:
            load(name)
        assert f"OpenML does not hold {name!r} in this form" in str(caught.value)
        assert CATALOGUE[name].openml_note in str(caught.value)
        assert "environment variable LIKEWISE_DATA" in str(caught.value)
        assert fake_openml.requests == []

    def test_the_places_that_were_searched_are_named(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as caught:
            load("higgs", data_home=tmp_path / "cache")
        assert str(folder) in str(caught.value)
        assert str(tmp_path / "cache") in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "hint"),
        [("codrna", "'cod-rna'"), ("Banana", "'banana'"), ("higs", "'higgs'"), ("spam", None)],
    )
    def test_an_unknown_name_is_answered_with_the_names_there_are(
        self, name: str, hint: str | None
    ) -> None:
        with pytest.raises(ValueError, match="unknown dataset") as caught:
            load(name)
        assert all(known in str(caught.value) for known in NAMES)
        if hint is not None:
            assert f"Did you mean {hint}?" in str(caught.value)

    def test_a_name_is_not_a_path(self, folder: Path) -> None:
        _save(folder.parent / "banana.npz", X=X_TINY, y=Y_TINY)
        with pytest.raises(ValueError, match="unknown dataset"):
            load("../banana")


class TestDamagedFiles:
    @pytest.fixture
    def path(self, folder: Path, tiny: Shrink) -> Path:
        tiny("banana", 4, 2, 1)
        return _save(folder / "banana.npz", X=X_TINY, y=Y_TINY)

    def _message(self, path: Path) -> str:
        with pytest.raises(ValueError, match="banana") as caught:
            load("banana")
        assert str(path) in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
    def test_a_truncated_file_is_named(self, path: Path, share: float) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        assert "is damaged" in self._message(path)

    def test_a_flipped_byte_in_the_data_is_noticed(self, path: Path) -> None:
        np.savez(path, X=X_TINY, y=Y_TINY)
        content = path.read_bytes()
        at = content.index(X_TINY.tobytes()) + 5
        path.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        assert "is damaged" in self._message(path)

    def test_a_file_of_another_kind_is_named(self, path: Path) -> None:
        path.write_text("x,y\n1,2\n")
        assert "is damaged" in self._message(path)
        with path.open("wb") as stream:
            np.save(stream, X_TINY)
        assert "is damaged" in self._message(path)

    def test_pickled_objects_are_never_read(self, path: Path) -> None:
        _save(path, X=np.array([[object(), 1]] * 4), y=Y_TINY)
        assert "plain arrays" in self._message(path)

    def test_a_missing_array_is_named(self, path: Path) -> None:
        _save(path, X=X_TINY)
        assert "it must hold X, y" in self._message(path)

    @pytest.mark.parametrize(
        ("X", "y"),
        [(X_TINY[:3], Y_TINY), (X_TINY[:, :1], Y_TINY), (X_TINY, Y_TINY[:3]), (X_TINY, X_TINY)],
    )
    def test_a_wrong_shape_is_refused(self, path: Path, X: Any, y: Any) -> None:
        _save(path, X=X, y=y)
        assert "X must have shape (4, 2) and y (4,)" in self._message(path)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_values_that_are_not_finite_are_refused(self, path: Path, bad: float) -> None:
        X = X_TINY.copy()
        X[2, 1] = bad
        _save(path, X=X, y=Y_TINY)
        assert "finite numbers only" in self._message(path)

    def test_text_in_place_of_numbers_is_refused(self, path: Path) -> None:
        _save(path, X=X_TINY.astype(str), y=Y_TINY)
        assert "finite numbers only" in self._message(path)

    @pytest.mark.parametrize("y", [[1, 0, 0, 0], [1.0, -1.0, np.nan, -1.0], ["a", "b", "b", "b"]])
    def test_other_labels_are_refused(self, path: Path, y: Any) -> None:
        _save(path, X=X_TINY, y=np.array(y))
        assert "classes -1 and +1 only" in self._message(path)

    def test_another_number_of_positives_is_another_table(self, path: Path) -> None:
        _save(path, X=X_TINY, y=-Y_TINY)
        assert "1 rows must be of class +1, but 3 are" in self._message(path)

    def test_three_classes_must_agree_with_the_two(self, folder: Path, tiny: Shrink) -> None:
        tiny("waveform", 4, 2, 1, has_multiclass=True)
        path = _save(folder / "waveform.npz", X=X_TINY, y=Y_TINY)
        with pytest.raises(ValueError, match="it must hold X, y, y_multiclass"):
            load("waveform")
        _save(path, X=X_TINY, y=Y_TINY, y_multiclass=np.array([1, 0, 2, 2]))
        with pytest.raises(ValueError, match="y_multiclass must be 0 exactly where y is"):
            load("waveform")
        _save(path, X=X_TINY, y=Y_TINY, y_multiclass=np.array([0, 1, 2, 2]))
        np.testing.assert_array_equal(load("waveform").target_multiclass, [0, 1, 2, 2])


class TestOpenML:
    def test_a_set_is_downloaded_once_and_then_comes_from_the_cache(
        self, fake_openml: FakeOpenML, tmp_path: Path, tiny: Shrink
    ) -> None:
        tiny("banana", 4, 2, 1, openml_id=77, openml_note="digits are few")
        fake_openml.publish(77, DENSE_ARFF, columns=DENSE_COLUMNS, target="Class", rows=4)
        first = load("banana", data_home=tmp_path / "cache")
        fake_openml.close()
        second = load("banana", data_home=tmp_path / "cache")

        assert (first.source, second.source) == ("OpenML", "cache")
        for found in (first, second):
            np.testing.assert_array_equal(found.data, [[0.5, 1], [-2, 3.25], [4, -0.5], [6, 7]])
            np.testing.assert_array_equal(found.target, [-1, 1, -1, -1])
            assert found.data.dtype == np.float32
            assert found.description.endswith("In the copy from OpenML, digits are few.")
        assert [path.name for path in (tmp_path / "cache").iterdir()] == ["banana.npz"]

    def test_a_sparse_set_becomes_dense(self, fake_openml: FakeOpenML, tiny: Shrink) -> None:
        tiny("adult", 5, 3, 2, openml_id=78)
        fake_openml.publish(78, SPARSE_ARFF, columns=SPARSE_COLUMNS, target="Y", sparse=True)
        X, y = load("adult", return_X_y=True)
        assert isinstance(X, np.ndarray)
        expected = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
        np.testing.assert_array_equal(X, expected)
        np.testing.assert_array_equal(y, [-1, 1, 1, -1, -1])

    def test_a_row_number_is_no_feature(self, fake_openml: FakeOpenML, tiny: Shrink) -> None:
        tiny("magic", 3, 1, 2, openml_id=79)
        columns = {"ID": "numeric", "fLength:": "numeric", "class:": "nominal"}
        fake_openml.publish(79, MAGIC_ARFF, columns=columns, target="class:", rows=3)
        X, y = load("magic", return_X_y=True)
        np.testing.assert_array_equal(X, [[0.5], [1.5], [2.5]])
        np.testing.assert_array_equal(y, [1, 1, -1])

    def test_three_classes_are_kept_and_numbered(
        self, fake_openml: FakeOpenML, tiny: Shrink
    ) -> None:
        tiny("waveform", 6, 1, 1, openml_id=80, has_multiclass=True)
        rows = "5,2\n6,0\n7,1\n8,1\n9,2\n3,2\n"
        arff = "@RELATION w\n@ATTRIBUTE x REAL\n@ATTRIBUTE c {0,1,2}\n@DATA\n" + rows
        columns = {"x": "numeric", "c": "nominal"}
        fake_openml.publish(80, arff, columns=columns, target="c", rows=6)
        found = load("waveform")
        np.testing.assert_array_equal(found.target_multiclass, [2, 0, 1, 1, 2, 2])
        np.testing.assert_array_equal(found.target, [-1, 1, -1, -1, -1, -1])
        np.testing.assert_array_equal(load("waveform").target_multiclass, [2, 0, 1, 1, 2, 2])

    def test_a_numeric_target_is_coded_as_well(self, fake_openml: FakeOpenML, tiny: Shrink) -> None:
        tiny("banana", 4, 2, 1, openml_id=77)
        arff = DENSE_ARFF.replace("{1, 2}", "REAL")
        columns = DENSE_COLUMNS | {"Class": "numeric"}
        fake_openml.publish(77, arff, columns=columns, target="Class", rows=4)
        np.testing.assert_array_equal(load("banana").target, [-1, 1, -1, -1])

    def test_another_table_under_the_same_number_is_refused_and_not_kept(
        self, fake_openml: FakeOpenML, tmp_path: Path, tiny: Shrink
    ) -> None:
        fake_openml.publish(77, DENSE_ARFF, columns=DENSE_COLUMNS, target="Class", rows=4)
        tiny("banana", 4, 2, 2, openml_id=77)
        with pytest.raises(ValueError, match=r"no single class has 2 rows .*'1': 3, '2': 1"):
            load("banana", data_home=tmp_path / "cache")
        tiny("banana", 4, 3, 1, openml_id=77)
        with pytest.raises(ValueError, match=r"OpenML's copy of 'banana' .* got \(4, 2\)"):
            load("banana", data_home=tmp_path / "cache")
        assert list((tmp_path / "cache").iterdir()) == []


class TestFailedDownloads:
    @pytest.fixture(autouse=True)
    def _published(self, fake_openml: FakeOpenML, tiny: Shrink) -> None:
        tiny("banana", 4, 2, 1, openml_id=77)
        fake_openml.publish(77, DENSE_ARFF, columns=DENSE_COLUMNS, target="Class", rows=4)

    def _message(self, cache: Path) -> str:
        """The message of the failure, which must leave the cache empty and say a way out."""
        with pytest.raises(OSError, match="could not download 'banana' from OpenML") as caught:
            load("banana", data_home=cache)
        assert caught.value.__suppress_context__  # the client's tracebacks are not shown
        assert list(cache.iterdir()) == []
        assert "LIKEWISE_DATA" in str(caught.value)
        return str(caught.value)

    def test_a_missing_page_is_reported(self, fake_openml: FakeOpenML, tmp_path: Path) -> None:
        fake_openml.answers.clear()
        assert "404" in self._message(tmp_path / "cache")

    def test_a_missing_file_is_reported(self, fake_openml: FakeOpenML, tmp_path: Path) -> None:
        fake_openml.answers.pop("/data/v1/download/77/tiny.arff")
        assert "404" in self._message(tmp_path / "cache")

    def test_a_number_that_openml_does_not_know_is_reported(
        self, fake_openml: FakeOpenML, tmp_path: Path
    ) -> None:
        # The real server answers 412 to an identifier that it does not have.
        fake_openml.answers["/api/v1/json/data/77"] = (412, b'{"error": {"code": "111"}}')
        assert "not found" in self._message(tmp_path / "cache")

    def test_a_body_cut_short_is_not_kept(self, fake_openml: FakeOpenML, tmp_path: Path) -> None:
        fake_openml.cut_short = True
        self._message(tmp_path / "cache")
        fake_openml.cut_short = False
        assert load("banana", data_home=tmp_path / "cache").source == "OpenML"

    def test_a_wrong_checksum_is_reported(self, fake_openml: FakeOpenML, tmp_path: Path) -> None:
        fake_openml.publish(
            77, DENSE_ARFF, columns=DENSE_COLUMNS, target="Class", rows=4, md5="0" * 32
        )
        assert "md5 checksum" in self._message(tmp_path / "cache")

    def test_an_answer_that_is_not_json_is_reported(
        self, fake_openml: FakeOpenML, tmp_path: Path
    ) -> None:
        fake_openml.answers["/api/v1/json/data/77"] = (200, b"<html>Down for maintenance</html>")
        self._message(tmp_path / "cache")

    def test_a_server_that_is_down_is_reported(
        self, fake_openml: FakeOpenML, tmp_path: Path
    ) -> None:
        fake_openml.close()
        assert "refused" in self._message(tmp_path / "cache").lower()

    def test_a_write_that_fails_leaves_nothing_behind(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def fill_the_disk(stream: Any, **_arrays: Any) -> None:
            stream.write(b"half a file")
            raise OSError("no space left")

        monkeypatch.setattr(np, "savez_compressed", fill_the_disk)
        with pytest.raises(OSError, match="no space left"):
            load("banana", data_home=tmp_path / "cache")
        assert list((tmp_path / "cache").iterdir()) == []


class TestListing:
    def test_all_twelve_benchmarks_are_listed_with_their_facts(self) -> None:
        listed = {info.name: info for info in list_datasets()}
        assert list(listed) == NAMES
        waveform = listed["waveform"]
        assert (waveform.rows, waveform.dims, waveform.positive_share) == (5000, 21, 0.3314)

    def test_it_says_where_each_set_would_come_from(self, folder: Path, tmp_path: Path) -> None:
        folder.mkdir()
        (folder / "adult.npz").touch()
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "susy.npz").touch()
        source = {info.name: info.source for info in list_datasets(data_home=tmp_path / "cache")}
        assert source["adult"] == "folder"
        assert source["susy"] == "cache"
        assert source["banana"] == "OpenML"
        assert source["higgs"] == "not available"

    def test_it_creates_no_folder(self, tmp_path: Path) -> None:
        list_datasets()
        assert list(tmp_path.iterdir()) == []


def test_importing_the_folder_needs_nothing_that_is_optional_or_slow() -> None:
    code = (
        "import sys, likewise.datasets; "
        "print([m for m in ('pandas', 'polars', 'pooch', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
