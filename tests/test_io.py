"""Tables, pairs and models as files: what is read, what is refused, what is never run."""

import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import skops.io
from sklearn.linear_model import LinearRegression

import likewise as lw
from likewise.io import (
    Features,
    Model,
    check_output,
    choose_features,
    feature_matrix,
    load_model,
    read_pairs,
    read_table,
    replacing,
    save_model,
    write_table,
)


def csv_file(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def parquet_file(folder: Path, name: str = "rows.parquet", **columns: Any) -> Path:
    path = folder / name
    pa.parquet.write_table(pa.table(columns), path)
    return path


# ------------------------------------------------------------------------------------- tables


def test_the_id_column_is_the_one_called_id_or_else_the_first(tmp_path: Path) -> None:
    assert read_table(csv_file(tmp_path, "a,Id\n1,x\n")).id_column == "Id"
    assert read_table(csv_file(tmp_path, "key,b\nx,2\n")).id_column == "key"
    assert read_table(csv_file(tmp_path, "id,b\n1,2\n"), id_column="b").keys.to_pylist() == ["2"]


def test_ids_of_a_csv_file_stay_as_they_are_written(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, 'id,a\n007,1\n1.0,2\n 8,3\nNA,4\n"x, y",5\ntrue,6\n'))
    assert table.keys.to_pylist() == ["007", "1.0", " 8", "NA", "x, y", "true"]


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        ([1, 20], ["1", "20"]),
        ([1.0, 20.0], ["1", "20"]),
        ([1.5, 20.0], ["1.5", "20"]),
        (["01", "x"], ["01", "x"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    ],
)
def test_ids_of_a_parquet_file_are_compared_as_text(
    tmp_path: Path, ids: Any, keys: list[str]
) -> None:
    table = read_table(parquet_file(tmp_path, id=ids, a=[1.0, 2.0]))
    assert table.keys.to_pylist() == keys
    assert table.ids.to_pylist() == (ids if isinstance(ids, list) else ids.to_pylist())


def test_numbers_booleans_and_text_become_features(tmp_path: Path) -> None:
    path = parquet_file(
        tmp_path,
        id=[1, 2],
        whole=pa.array([3, 4], pa.uint8()),
        exact=[Decimal("0.5"), Decimal("1.5")],
        flag=[True, False],
        word=pa.array(["x", "y"]).dictionary_encode(),
    )
    table = read_table(path)
    features = choose_features(table)
    assert features == Features(("whole", "exact", "flag", "word"), frozenset({"word"}))
    assert feature_matrix(table, features).tolist() == [[3, 0.5, 1, "x"], [4, 1.5, 0, "y"]]
    numbers = feature_matrix(table, choose_features(table, drop=["word"]))
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [[3, 0.5, 1], [4, 1.5, 0]]


def test_chosen_columns_keep_the_order_they_were_asked_for(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a,b,c\n1,2,3,4\n"))
    assert choose_features(table, keep=["c", "a", "c"]).names == ("c", "a")


def test_a_column_that_is_whole_at_first_and_broken_a_megabyte_later_is_read(
    tmp_path: Path,
) -> None:
    lines = [f"{i},{i}" for i in range(200_000)]
    table = read_table(csv_file(tmp_path, "\n".join(["id,a", *lines, "last,0.5"])))
    assert feature_matrix(table, choose_features(table))[-1, 0] == 0.5


def test_a_byte_order_mark_and_line_breaks_in_quotes_are_understood(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, '\ufeffid,word\n1,"two\nlines"\n2,é\n'))
    assert table.id_column == "id"
    assert feature_matrix(table, choose_features(table)).tolist() == [["two\nlines"], ["é"]]


def test_numbers_kept_as_text_are_numbers_where_numbers_are_expected(tmp_path: Path) -> None:
    table = read_table(parquet_file(tmp_path, id=[1, 2], a=[" 1.5", "-2e3"]))
    assert feature_matrix(table, Features(("a",))).tolist() == [[1.5], [-2000.0]]


def test_numbers_are_text_where_text_is_expected(tmp_path: Path) -> None:
    table = read_table(parquet_file(tmp_path, id=[1, 2], a=[1.0, 2.0]))
    assert feature_matrix(table, Features(("a",), frozenset({"a"}))).tolist() == [["1"], ["2"]]


def test_a_stray_word_in_a_column_of_numbers_is_warned_of(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i},{'x' if i % 2 else i}" for i in range(30))
    table = read_table(csv_file(tmp_path, f"id,a,code\n{rows}\nlast,?,y\n"))
    with pytest.warns(UserWarning, match=r"'a', row with id 'last': '\?' among numbers") as caught:
        choose_features(table)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "has no columns"),
        ("id,a\n", "no rows"),
        ("id,a\n1,2\n1,3\n2,3\n", r"1 id more than once.*'1'"),
        ("id,a\n1,2\n,3\n", r"row 2: the id \(column 'id'\) is missing"),
        ("id,a,b,a\n1,2,3,4\n", "more than one column called 'a'"),
        ("id,a\n1,2,3\n", "not a well-formed CSV file: .*Expected 2 columns, got 3"),
    ],
)
def test_a_bad_csv_file_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"rows\.csv.*{message}"):
        read_table(csv_file(tmp_path, text))


@pytest.mark.parametrize(
    "content",
    ["id,gr\xf6\xdfe\n1,2\n".encode("latin-1"), b"id,a\n\xff\xfe,2\n"],
)
def test_a_csv_file_that_is_not_utf8_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.csv") as caught:
        feature_matrix(table := read_table(path), choose_features(table))
    assert type(caught.value) is ValueError


def test_text_that_is_not_utf8_is_refused_as_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    many = "\n".join(f"{i},word" for i in range(5000))
    path.write_bytes(f"id,word\n{many}\nlast,gr\xfcn\n".encode("latin-1"))
    table = read_table(path)
    with pytest.raises(ValueError, match=r"column 'word': values of type binary"):
        feature_matrix(table, choose_features(table))


@pytest.mark.parametrize("content", [b"PAR1 this is not Parquet PAR1", b"id,a\n1,2\n"])
def test_a_corrupt_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as a Parquet file"):
        read_table(path)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = parquet_file(tmp_path, id=list(range(1000)), a=list(range(1000)))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read"):
        read_table(path)


def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rows\.xlsx is neither a \.csv nor a \.parquet file"):
        read_table(csv_file(tmp_path, "id,a\n1,2\n", "rows.xlsx"))


def test_a_missing_file_is_a_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, None, None], "row with id 'k2': the value is missing .*2 missing values"),
        ([1.0, np.nan, 2.0], "row with id 'k2': the value is missing .*1 missing value"),
        ([1.0, 2.0, -np.inf], "row with id 'k3': the value is infinite"),
        (["x", "", "y"], "row with id 'k2': the value is missing"),
        ([None, None, None], "row with id 'k1': the value is missing"),
        ([[1], [2], [3]], "values of type list.* are neither numbers nor text"),
    ],
)
def test_a_gap_in_a_feature_is_named(tmp_path: Path, values: list[Any], message: str) -> None:
    table = read_table(parquet_file(tmp_path, id=["k1", "k2", "k3"], a=pa.array(values)))
    with pytest.raises(ValueError, match=rf"rows\.parquet, column 'a'.*{message}"):
        feature_matrix(table, choose_features(table))


def test_columns_that_are_left_out_may_hold_anything(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a,day,gap\n1,2,2024-01-01,\n2,3,,5\n"))
    assert feature_matrix(table, choose_features(table, keep=["a"])).tolist() == [[2], [3]]


# -------------------------------------------------------------------------------------- pairs


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return read_table(csv_file(tmp_path, "id,a\n01,1\n2,2\nx,3\n"))


def test_pairs_are_row_numbers_of_the_table(tmp_path: Path, table: Any) -> None:
    pairs = read_pairs(csv_file(tmp_path, "Right, left\n01,x\nx,2\n", "pairs.csv"), table)
    assert pairs.similar.tolist() == [[2, 0], [1, 2]]
    assert pairs.dissimilar.shape == (0, 2)


@pytest.mark.parametrize("same", ["same", "SIMILAR", "must-link", "Must_Link", "must link"])
@pytest.mark.parametrize("different", ["different", "Dissimilar", "cannot-link", "CANNOT LINK"])
def test_relations_have_many_names(tmp_path: Path, table: Any, same: str, different: str) -> None:
    text = f"left,right,relation\n01,2,{same}\n2,x,{different}\n"
    pairs = read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)
    assert pairs.similar.tolist() == [[0, 1]]
    assert pairs.dissimilar.tolist() == [[1, 2]]


def test_whole_numbers_of_parquet_match_the_text_of_csv(tmp_path: Path) -> None:
    table = read_table(csv_file(tmp_path, "id,a\n1,1\n2,2\n"))
    pairs = read_pairs(parquet_file(tmp_path, "pairs.parquet", left=[2], right=[1]), table)
    assert pairs.similar.tolist() == [[1, 0]]


def test_unknown_ids_are_counted_and_the_first_three_named(tmp_path: Path, table: Any) -> None:
    text = "left,right\n1,2\n01,2\na,b\nc,d\nd,2\n"
    with pytest.raises(ValueError, match=r"pairs\.csv names 5 ids not found in .*rows\.csv") as got:
        read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)
    assert "'1' (row 1), 'a' (row 3), 'b' (row 3)." in str(got.value)
    assert "'c'" not in str(got.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left,right\n2,x\n2,2\n", "row 2: '2' is paired with itself"),
        ("left,right\n", "no pairs"),
        ("left,right\n2,\n", r"1 id not found.*'' \(row 1\)"),
        ("a,b\n2,x\n", "no column 'left', 'right'.*'a', 'b'"),
        ("left,right,relation\n2,x,same\n2,01,friends\n", "row 2: the relation is 'friends'"),
        ("left,right,relation\n2,x,\n", "row 1: the relation is ''"),
        ("left,right,relation\n2,x,same\nx,2,different\n", "'2' and 'x' both"),
    ],
)
def test_bad_pairs_are_refused_by_name(tmp_path: Path, table: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"pairs\.csv.*{message}"):
        read_pairs(csv_file(tmp_path, text, "pairs.csv"), table)


def test_a_repeated_pair_counts_twice(tmp_path: Path, table: Any) -> None:
    pairs = read_pairs(csv_file(tmp_path, "left,right\n2,x\nx,2\n", "pairs.csv"), table)
    assert pairs.similar.tolist() == [[1, 2], [2, 1]]


# ------------------------------------------------------------------------------------- models


@pytest.fixture
def model() -> Model:
    X, y = lw.datasets.make_gaussians(2000, random_state=0)
    sample = lw.datasets.sample_su(X, y, 100, 100, random_state=0)
    clf = lw.SUClassifierCV(prior=0.7, cv=lw.PairKFold(3)).fit(*sample.pack())
    return Model(clf, Features(("a", "b"), frozenset({"b"})), "key", "spam")


def test_a_model_comes_back_as_it_was(tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model.skops", model)
    loaded = load_model(tmp_path / "model.skops")
    assert (loaded.features, loaded.id_column) == (model.features, model.id_column)
    assert (loaded.positive_class, loaded.version) == ("spam", lw.__version__)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    expected = model.estimator.decision_function(rows)
    np.testing.assert_array_equal(loaded.estimator.decision_function(rows), expected)


@pytest.mark.parametrize("classifier", [lw.SUClassifier, lw.SUClassifierCV])
def test_every_classifier_is_trusted_when_it_comes_back(tmp_path: Path, classifier: Any) -> None:
    X, y = lw.pack(np.arange(40.0).reshape(20, 2), similar=[(i, i + 1) for i in range(10)])
    fitted = classifier(prior=0.7).fit(X, y)
    save_model(tmp_path / "model.skops", Model(fitted, Features(("a", "b")), "id"))
    assert type(load_model(tmp_path / "model.skops").estimator) is classifier


class Bomb:
    """Writes a file when a pickle of it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "boom")))
    with pytest.raises(ValueError, match=r"model\.skops is not a likewise model.*never pickles"):
        load_model(path)
    assert not (tmp_path / "boom").exists()
    pickle.loads(path.read_bytes())  # noqa: S301  (it would have gone off)
    assert (tmp_path / "boom").exists()


def test_a_model_with_a_foreign_type_is_refused_by_the_name_of_the_type(
    tmp_path: Path, model: Model
) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(os.mkdir, model.features, "id"))
    with pytest.raises(ValueError, match=r"model\.skops is refused.*mkdir"):
        load_model(path)


def test_a_foreign_class_is_refused_before_it_is_built(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    foreign = Foreign()
    save_model(path, Model(foreign, model.features, "id"))
    Foreign.built = 0
    with pytest.raises(ValueError, match=r"Foreign"):
        load_model(path)
    assert Foreign.built == 0


class Foreign:
    """Counts how often it is made, by whatever way."""

    built = 0

    def __new__(cls) -> "Foreign":
        """Count."""
        cls.built += 1
        return super().__new__(cls)


def rewrite_schema(path: Path, change: Any) -> None:
    """Change the description of the objects in a skops file, leaving the archive sound."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    change(schema)
    parts["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_model_that_names_a_function_to_call_is_refused(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)

    def smuggle(schema: dict[str, Any]) -> None:
        schema["content"]["estimator"].update(
            {"__class__": "mkdir", "__module__": "os", "__loader__": "FunctionNode"}
        )

    rewrite_schema(path, smuggle)
    with pytest.raises(ValueError, match=r"model\.skops is refused.*mkdir"):
        load_model(path)


def zipped(**parts: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("_json", ".json"), content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 and nothing more", "cut short"),
        (zipped(readme="hello"), "an archive, but not a model"),
        (zipped(schema_json="{}"), "is damaged"),
        (zipped(schema_json="not json"), "is damaged"),
        (zipped(schema_json="[1, 2]"), "is damaged"),
        (skops.io.dumps(LinearRegression()), "not a model that likewise saved"),
        (skops.io.dumps({"format": "likewise-model", "format_version": 1}), "lacks a part"),
        (
            skops.io.dumps(
                {"format": "likewise-model", "format_version": 2, "likewise_version": "9.0"}
            ),
            r"saved by likewise 9\.0 in a format that this version",
        ),
        (skops.io.dumps(OrderedDict(a=1)), "not a model that likewise saved"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"model\.skops.*{message}"):
        load_model(path)


def test_a_model_cut_short_anywhere_is_refused(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    whole = path.read_bytes()
    for length in range(1, len(whole), len(whole) // 20):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.skops"):
            load_model(path)


def test_a_flipped_byte_is_noticed(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"SUClassifierCV")] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"model\.skops is damaged \(in schema\.json\)"):
        load_model(path)


# ------------------------------------------------------------------------------------ writing


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError, ZeroDivisionError])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, stop: type[BaseException]
) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    old = path.read_bytes()
    with pytest.raises(Exception, match="generator"):
        save_model(path, Model((i for i in range(3)), model.features, "id"))
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_table(tmp_path / "link.csv", {"id": np.array([1])})
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "id\n1\n"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_written_table_reads_back_exactly(tmp_path: Path, suffix: str) -> None:
    scores = np.random.default_rng(0).normal(size=50) * 1e-7
    ids = pa.array([f'{i:03d},"é"\n' for i in range(50)])
    path = tmp_path / f"out.{suffix}"
    write_table(path, {"id": ids, "score": scores})
    table = read_table(path)
    assert table.keys.to_pylist() == ids.to_pylist()
    np.testing.assert_array_equal(feature_matrix(table, Features(("score",)))[:, 0], scores)


def test_check_output_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(ValueError, match=r"The folder .*nowhere.* does not exist"):
        check_output(tmp_path / "nowhere" / "model.skops")
    with pytest.raises(ValueError, match=r"out\.txt is neither"):
        check_output(tmp_path / "out.txt", table=True)
    assert check_output(tmp_path / "out.txt") == tmp_path / "out.txt"
