"""Model files that would grow without bounds when they are read: refused before they do."""

import io
import json
import struct
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.io import load_model
from likewise.io.modelfile import nested
from likewise.io.modelfile.archive import parse_json
from likewise.io.modelfile.brought import types_in
from likewise.io.modelfile.failures import UnfitError
from tests.io.crafted import parts_of, zipped
from tests.io.test_models_kinds import ASKED, MET, X, linear, pair

Parts = dict[str, bytes]
WHOLE = np.column_stack([X[:, 0], np.round(X[:, 1]), np.round(3.0 * X[:, 2])])


def one_hot() -> Any:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("as is", "passthrough", [0]), ("dummies", encoder, [1, 2])])
    return make_pipeline(columns, linear())


MAKERS: dict[str, Callable[[], Any]] = {
    "linear": lambda: make_pipeline(StandardScaler(), linear()).fit(X, ASKED),
    "trees": lambda: pair(estimator=HistGradientBoostingClassifier(max_iter=3)).fit(X, ASKED),
    "dummies": lambda: one_hot().fit(WHOLE, ASKED),
    "union": lambda: make_pipeline(
        FeatureUnion([("all", StandardScaler()), ("main", PCA(2, whiten=True))]), linear()
    ).fit(X, ASKED),
    "su": lambda: lw.SUClassifierCV(prior=0.7, cv=2).fit(X, MET),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Parts]:
    """Return the members of sound models of several kinds."""
    path = tmp_path_factory.mktemp("models") / "model.skops"
    found = {}
    with warnings.catch_warnings(action="ignore"):
        for name, make in MAKERS.items():
            lw.save(make(), path)
            found[name] = parts_of(path.read_bytes())
    return found


def find(node: Any, key: str) -> Any:
    """Return the first table of a description that has a key, deepest last."""
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, dict):
            if key in one:
                return one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    raise KeyError(key)


def file_of(dtype: str, shape: str, content: bytes) -> bytes:
    """Return an array file that says whatever it likes."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    start = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    return start + header.ljust(117) + b"\n" + content


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class Forged:
    """A sound model that is changed part by part."""

    def __init__(self, parts: Parts) -> None:
        self.parts = dict(parts)
        self.tree = json.loads(parts["model.json"])
        self.estimator = self.tree["estimator"]

    def put(self, node: Any, content: Any) -> None:
        """Replace an array."""
        is_file = isinstance(content, bytes)
        self.parts[f"arrays/{node['array']}.npy"] = content if is_file else saved(content)

    def add(self, array: Any) -> dict[str, int]:
        """Add an array and return its node."""
        node = {"array": len(self.parts)}
        self.put(node, array)
        return node

    @property
    def content(self) -> bytes:
        return zipped({**self.parts, "model.json": json.dumps(self.tree).encode()})


def refuse(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as refused:
        load_model(path)
    assert str(path) in str(refused.value)


def test_rows_without_an_end_of_which_none_takes_a_byte_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    forged = Forged(sound["su"])
    results = find(forged.estimator, "splits")
    forged.put(results["splits"], file_of("<f8", "(999999999999999, 0)", b""))
    for name in ("param_alpha", "mean_test_score", "std_test_score"):
        forged.put(results[name], np.zeros(0))
    forged.put(results["rank_test_score"], np.zeros(0, dtype=np.int32))
    refuse(tmp_path / "m", forged.content, r"splits has the shape \(999999999999999, 0\)")


def test_a_second_directory_is_not_read(tmp_path: Path, sound: dict[str, Parts]) -> None:
    whole = zipped(sound["su"])
    end = whole.rindex(b"PK\x05\x06")
    count, _, length, place = struct.unpack("<HHLL", whole[end + 8 : end + 20])
    body, directory = whole[:place], bytearray(whole[place:end])
    members = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, *[0] * 7, 8, *[0] * 6) + b"%08d" % number
        for number in range(50_000)
    )
    place += len(members)
    record = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 50_000, 50_000, len(members), len(body)
    )
    record += struct.pack("<4sLQL", b"PK\x06\x07", 0, place + length, 1)
    last = directory.rindex(b"PK\x01\x02")
    directory[last + 32 : last + 34] = struct.pack("<H", len(record))  # as a comment of a member
    directory += record
    ending = struct.pack("<HHLLH", count, count, len(directory), place, 0)
    content = body + members + bytes(directory) + whole[end : end + 8] + ending
    refuse(tmp_path / "m", content, "its directory is at another place, too")


@pytest.mark.parametrize("kind", ["many", "deep", "large"])
def test_trees_without_number_without_end_or_of_huge_values_are_refused(
    tmp_path: Path, sound: dict[str, Parts], kind: str
) -> None:
    forged = Forged(sound["trees"])
    trees = find(forged.estimator, "sizes")
    size = {"many": 50_000, "deep": 5_001, "large": 1}[kind]
    nodes = {
        name: np.zeros(size, np.load(io.BytesIO(forged.parts[f"arrays/{node['array']}.npy"])).dtype)
        for name, node in trees.items()
    }
    nodes["is_leaf"][:] = 1
    nodes["sizes"] = np.ones((size, 1), dtype=np.int64)
    if kind == "deep":
        nodes["sizes"] = np.array([[size]])
        nodes["is_leaf"][:-1] = 0
        nodes["left"][:-1] = nodes["right"][:-1] = np.arange(1, size)
        nodes["depth"][:] = np.arange(size)
    if kind == "large":
        nodes["value"][:] = 1e308
    for name, array in nodes.items():
        forged.put(trees[name], array)
    message = "larger than a model has it" if kind == "many" else "do not hang together"
    refuse(tmp_path / "m", forged.content, message)


def union(n_parts: int) -> dict[str, Any]:
    parts = [{"tuple": [f"part {number}", "passthrough"]} for number in range(n_parts)]
    return {
        "object": ["FeatureUnion", {"transformer_list": parts, "verbose_feature_names_out": True}]
    }


@pytest.mark.parametrize("place", [0, 1])
def test_steps_that_double_the_columns_again_and_again_are_refused(
    tmp_path: Path, sound: dict[str, Parts], place: int
) -> None:
    forged = Forged(sound["linear"])
    steps = find(forged.estimator, "steps")["steps"]
    for number in range(40):
        steps.insert(place, {"tuple": [f"step {number}", union(2)]})
    refuse(tmp_path / "m", forged.content, "makes more columns than a model has")


def test_features_that_would_double_the_columns_in_a_fit_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    forged = Forged(sound["linear"])
    steps = [{"tuple": [f"step {number}", union(2)]} for number in range(40)]
    classifier = find(forged.estimator, "pairing_")
    classifier["features"] = {"object": ["Pipeline", {"steps": steps}]}
    refuse(tmp_path / "m", forged.content, "features makes more columns than a model has")


def test_columns_that_are_chosen_too_often_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    forged = Forged(sound["dummies"])
    columns = find(forged.estimator, "transformers_")
    width = 80_000
    passed = find(columns["transformers_"][0], "n_features_in_")
    passed["n_features_in_"] = width
    columns["transformers_"][0]["tuple"][2] = [0] * width
    columns["output_indices_"][0]["tuple"][2] = width
    others = columns["output_indices_"][1]["tuple"]
    n_dummies = others[2] - others[1]
    others[1:] = [width, width + n_dummies]
    forged.tree["estimator"]["object"][1]["steps"].insert(1, {"tuple": ["twice", union(2)]})
    refuse(tmp_path / "m", forged.content, "makes more columns than a model has")


def test_columns_chosen_by_name_are_numbered_as_often_for_many_parts_as_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand parts of a million names would take a day."""
    table = DataFrame(WHOLE, columns=["a", "b", "c"])
    chosen = ColumnTransformer([("as is", "passthrough", ["a", "b"])])
    lw.save(make_pipeline(chosen, linear()).fit(table, ASKED), tmp_path / "m")
    parts = parts_of((tmp_path / "m").read_bytes())
    number = nested._finder
    n_times: list[int] = []

    def counted(values: Any) -> Any:
        n_times[-1] += 1
        return number(values)

    monkeypatch.setattr(nested, "_finder", counted)
    for n_parts in (2, 300):
        forged = Forged(parts)
        columns = find(forged.estimator, "transformers_")
        for key in ("transformers", "transformers_"):
            columns[key] += [{"tuple": [f"{at}", "drop", ["c"]]} for at in range(n_parts)]
        (tmp_path / "m").write_bytes(forged.content)
        n_times.append(0)
        assert load_model(tmp_path / "m").estimator.predict(table).size == len(table)
    assert n_times[0] == n_times[1] > 0


@pytest.mark.parametrize(
    ("name", "key", "array"),
    [
        ("dummies", "categories_", np.arange(3_000_000, dtype=np.uint32)),
        ("linear", "classes_", np.arange(3_000_000, dtype=np.uint32)),
        ("trees", "train_score_", np.zeros(3_000_000)),
    ],
)
def test_lists_that_are_longer_than_a_model_has_them_are_refused(
    tmp_path: Path, sound: dict[str, Parts], name: str, key: str, array: Any
) -> None:
    forged = Forged(sound[name])
    node = find(forged.estimator, key)[key]
    forged.put(node[0] if isinstance(node, list) else node, array)
    refuse(tmp_path / "m", forged.content, f"{key}.*larger than a model has it")


@pytest.mark.parametrize("name", ["linear", "su"])
def test_a_million_penalties_are_refused(
    tmp_path: Path, sound: dict[str, Parts], name: str
) -> None:
    forged = Forged(sound[name])
    classifier = find(forged.estimator, "alphas")
    classifier["alphas"] = forged.add(np.linspace(0.1, 1.0, 1_000_000))
    refuse(tmp_path / "m", forged.content, "alphas has the shape")


def test_names_of_more_columns_than_a_model_has_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    forged = Forged(sound["linear"])
    forged.tree["features"] = [f"c{number}" for number in range(300_000)]
    refuse(tmp_path / "m", forged.content, "has a part features that is not what it should be")
    forged = Forged(sound["linear"])
    scaler = find(forged.estimator, "mean_")
    scaler["feature_names_in_"] = {"names": [f"c{number}" for number in range(300_000)]}
    refuse(tmp_path / "m", forged.content, "feature_names_in_ has 300,000 items, more than")


@pytest.mark.parametrize("tag", ["names", "texts"])
def test_more_texts_as_categories_than_a_model_has_are_refused(
    tmp_path: Path, sound: dict[str, Parts], tag: str
) -> None:
    """Their dummies would take gigabytes for a few rows."""
    forged = Forged(sound["dummies"])
    encoder = find(forged.estimator, "categories_")
    del forged.parts[f"arrays/{encoder['categories_'][0]['array']}.npy"]
    encoder["categories_"][0] = {tag: [f"{number:06d}" for number in range(150_000)]}
    refuse(tmp_path / "m", forged.content, "has 150,000 items, more than a model has")


def test_texts_that_numpy_would_cut_are_refused(tmp_path: Path, sound: dict[str, Parts]) -> None:
    forged = Forged(sound["linear"])
    classifier = find(forged.estimator, "classes_")
    del forged.parts[f"arrays/{classifier['classes_']['array']}.npy"]
    classifier["classes_"] = {"texts": ["a", "a\0"]}
    refuse(tmp_path / "m", forged.content, "a name that ends with a zero")


def test_variances_below_zero_are_refused(tmp_path: Path, sound: dict[str, Parts]) -> None:
    forged = Forged(sound["union"])
    components = find(forged.estimator, "explained_variance_")
    forged.put(components["explained_variance_"], np.array([1.0, -1.0]))
    refuse(tmp_path / "m", forged.content, "explained_variance_ holds numbers that it cannot hold")


def test_dummies_of_columns_with_different_numbers_of_categories_need_no_trust(
    tmp_path: Path,
) -> None:
    with warnings.catch_warnings(action="ignore"):
        model = one_hot().fit(WHOLE, ASKED)
    sizes = [len(known) for known in model[0].transformers_[1][1].categories_]
    assert sizes[0] != sizes[1]
    lw.save(model, tmp_path / "m")
    assert "brought.skops" not in parts_of((tmp_path / "m").read_bytes())
    again = lw.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(WHOLE), model.predict_proba(WHOLE))


def test_one_long_category_among_many_short_ones_can_be_saved_and_read(tmp_path: Path) -> None:
    words = np.array([f"word {number}" for number in range(len(X))], dtype=object)
    words[0] = "long " * 19_999
    table = np.column_stack([X[:, :2].astype(object), words, words, words])
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("numbers", "passthrough", [0, 1]), ("text", encoder, [2, 3, 4])])
    with warnings.catch_warnings(action="ignore"):
        model = make_pipeline(columns, lw.SUClassifier(prior=0.7)).fit(table, MET)
    lw.save(model, tmp_path / "m")
    np.testing.assert_array_equal(lw.load(tmp_path / "m").predict(table), model.predict(table))


def test_a_table_of_more_names_than_a_model_has_is_not_parsed() -> None:
    texts = b",".join([b'"a:b"'] * 600_000)
    assert len(parse_json(b"[" + texts + b"]")) == 600_000
    names = b",".join(b'"%d":0' % number for number in range(600_000))
    with pytest.raises(UnfitError, match="more parts than a model needs"):
        parse_json(b"{" + names + b"}")


@pytest.mark.parametrize("names", [["A" * 1_000_000], ["A" * 1000 + str(k) for k in range(100)]])
def test_names_of_types_that_no_sentence_can_hold_are_refused(names: list[str]) -> None:
    nodes = [{"__module__": "m", "__class__": name, "__loader__": "ObjectNode"} for name in names]
    content = zipped({"schema.json": json.dumps({"content": nodes}).encode()})
    with pytest.raises(UnfitError, match="names types that cannot be") as refused:
        types_in(content)
    assert len(str(refused.value)) < 200


def pipelines(inner: Any, depth: int) -> Any:
    """Return a part inside so many pipelines of one step each."""
    for _ in range(depth):
        inner = {"object": ["Pipeline", {"steps": [{"tuple": ["step", inner]}]}]}
    return inner


def test_pipelines_in_pipelines_that_are_asked_a_million_times_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    """Each asks all its steps, the first and the last twice: a level takes three times as long."""
    forged = Forged(sound["su"])
    forged.tree["estimator"] = pipelines(forged.estimator, 4)
    (tmp_path / "m").write_bytes(forged.content)
    assert load_model(tmp_path / "m").estimator.predict(X).size == len(X)
    forged.tree["estimator"] = pipelines(forged.estimator, 12)
    refuse(tmp_path / "m", forged.content, "more parts inside each other than a model has")


def test_data_frames_of_many_columns_from_many_steps_are_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    """A hundred of a quarter of a million columns take half a minute for one row."""
    width = 100_000
    forged = Forged(sound["linear"])
    forged.tree["features"] = [f"c{number}" for number in range(width)]
    classifier, features = find(forged.estimator, "pairing_"), find(forged.estimator, "mean")
    steps, scaler = find(forged.estimator, "steps")["steps"], find(forged.estimator, "mean_")
    for table, names in (
        (classifier, ("coef_", "intercept_")),
        (scaler, ("mean_", "var_", "scale_")),
    ):
        for name in names:
            del forged.parts[f"arrays/{table.pop(name)['array']}.npy"]
    classifier["n_features_in_"] = width
    forged.put(features["mean"], np.zeros(width))
    forged.put(features["scale"], np.ones(width))
    forged.put(classifier["weights_"], np.ones((width + 1, 1)))
    scaler.update(dict.fromkeys(("mean_", "var_", "scale_")), with_mean=False, with_std=False)
    scaler.update(n_features_in_=width, n_samples_seen_=2)
    scaler["_sklearn_output_config"] = {"table": {"transform": "pandas"}}
    steps[1:1] = [{"tuple": [f"{number}", steps[0]["tuple"][1]]} for number in range(10)]
    refuse(tmp_path / "m", forged.content, "makes more columns than a model has")


def test_an_encoder_of_more_columns_than_a_model_has_is_refused(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    forged = Forged(sound["dummies"])
    encoder = find(forged.estimator, "categories_")
    for node in encoder["categories_"]:
        del forged.parts[f"arrays/{node['array']}.npy"]
    encoder["categories_"] = [{"names": ["a"]}] * 20_000
    encoder["n_features_in_"] = 20_000
    refuse(tmp_path / "m", forged.content, "categories_ has 20,000 items, more than a model has")


def test_categories_in_numbers_are_compared_all_at_once(
    tmp_path: Path, sound: dict[str, Parts]
) -> None:
    """A file holds a hundred million of them."""
    forged = Forged(sound["dummies"])
    encoder = find(forged.estimator, "categories_")
    known = [node["array"] for node in encoder["categories_"]]
    many = np.arange(65_536, dtype=np.uint16)
    encoder["categories_"] = [forged.add(many) for _ in range(800)]
    for number in known:
        del forged.parts[f"arrays/{number}.npy"]
    encoder["n_features_in_"] = 800
    begun = time.process_time()
    refuse(tmp_path / "m", forged.content, "has a part 'dummies' of other columns")
    assert time.process_time() - begun < 1.5


def test_more_nodes_than_a_model_has_are_refused(tmp_path: Path, sound: dict[str, Parts]) -> None:
    """The form in which scikit-learn has them takes several times the memory."""
    forged = Forged(sound["trees"])
    trees = find(forged.estimator, "sizes")
    forged.put(trees["value"], np.zeros(3_000_000))
    refuse(tmp_path / "m", forged.content, "value has the shape.*larger than a model has it")


def test_characters_that_take_four_bytes_each_are_not_decoded() -> None:
    texts = b",".join(['"\U0001f600abcd"'.encode()] * 100_000)
    with pytest.raises(UnfitError, match="no JSON text"):
        parse_json(b"[" + texts + b"]")
    assert parse_json(rb'["\ud83d\ude00 \u00e9"]') == ["\U0001f600 \u00e9"]


def test_the_description_of_a_brought_part_is_shorter_than_that_of_a_model() -> None:
    """It is read beside arrays that may fill the file."""
    schema = b'{"__module__": "m", "__class__": "C", "content": [' + b"1," * 600_000 + b"1]}"
    assert parse_json(schema)["__class__"] == "C"
    with pytest.raises(UnfitError, match="more parts than a model needs"):
        types_in(zipped({"schema.json": schema}))
