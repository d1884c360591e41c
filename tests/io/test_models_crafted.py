"""Crafted model files: none crashes, runs code, or takes long; each is refused in one sentence."""

import io
import itertools
import json
import struct
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.io import load_model
from likewise.io.modelfile.archive import parse_json
from likewise.io.modelfile.failures import UnfitError
from tests.io.crafted import check_apart, check_crafted, crafted_models, parts_of, zipped
from tests.io.test_models_kinds import ASKED, MET, TEXT, X, linear, pair

MAKERS: dict[str, Callable[[], Any]] = {
    "linear": lambda: make_pipeline(StandardScaler(), linear()).fit(X, ASKED),
    "three": lambda: linear(3).fit(X, ASKED),
    "kernels": lambda: pair(features="rbf").fit(X[:60], ASKED[:60]),
    "trees": lambda: pair(estimator=HistGradientBoostingClassifier(max_iter=3)).fit(X, ASKED),
    "text": lambda: make_pipeline(
        ColumnTransformer(
            [
                ("numbers", "passthrough", [0, 1]),
                ("text", OneHotEncoder(handle_unknown="ignore"), [2]),
            ]
        ),
        linear(),
    ).fit(TEXT, ASKED),
    "su": lambda: lw.SUClassifierCV(prior=0.7, cv=2).fit(X, MET),
    "main": lambda: pair(alphas={"rbf 0.9 pc": [0.1]}).fit(X, ASKED),
    "kernel means": lambda: lw.SUClassifier(prior=lw.KernelMeanPrior()).fit(X, MET),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return sound models of several kinds, as files."""
    path = tmp_path_factory.mktemp("models") / "model.skops"
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of three classes one is empty
        for name, make in MAKERS.items():
            lw.save(make(), path)
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_generated_cases_have_no_finding(
    tmp_path: Path, sound: dict[str, bytes], name: str
) -> None:
    path = tmp_path / "model.skops"
    n_models = 0
    for what, content in itertools.islice(crafted_models(7, sound[name]), 80):
        path.write_bytes(content)
        try:
            n_models += check_crafted(path)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from error
    assert n_models < 40, "the cases are hardly damaged"
    assert list(tmp_path.iterdir()) == [path]


def test_the_check_finds_what_it_is_for(
    tmp_path: Path, sound: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(sound["su"])
    assert check_crafted(path)
    with pytest.raises(AssertionError, match="took"):
        check_crafted(path, seconds=0.0)
    monkeypatch.setattr("likewise.io.modelfile.tree.parse_json", lambda _: 1 / 0)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        check_crafted(path)


def refuse(path: Path, content: bytes, message: str) -> None:
    """Load a file that must be refused, by next to no work."""
    path.write_bytes(content)
    begun = time.process_time()
    with pytest.raises(ValueError, match=message) as refused:
        load_model(path)
    assert time.process_time() - begun < 2.0
    assert str(refused.value).startswith(f"{path} is ")
    assert str(refused.value).endswith(".")


def described(parts: dict[str, bytes], change: Callable[[Any], Any]) -> bytes:
    tree = json.loads(parts["model.json"])
    change(tree)
    return zipped({**parts, "model.json": json.dumps(tree).encode()})


def test_a_pipeline_takes_no_folder_from_a_file(tmp_path: Path, sound: dict[str, bytes]) -> None:
    def smuggle(tree: Any) -> None:
        tree["estimator"]["object"][1]["memory"] = str(tmp_path)

    content = described(parts_of(sound["linear"]), smuggle)
    refuse(tmp_path / "model.skops", content, "an attribute 'memory' that it does not have")


def test_a_type_outside_the_table_is_refused_by_its_name(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    def smuggle(tree: Any) -> None:
        tree["estimator"]["object"][1]["steps"][0]["tuple"][1]["object"][0] = "os.mkdir"

    content = described(parts_of(sound["linear"]), smuggle)
    refuse(tmp_path / "model.skops", content, "a type that it cannot hold: 'os.mkdir'")


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_level_that_no_interval_has_is_refused(
    tmp_path: Path, sound: dict[str, bytes], level: float
) -> None:
    def change(tree: Any) -> None:
        tree["estimator"]["object"][1]["steps"][1]["tuple"][1]["object"][1]["level"] = level

    content = described(parts_of(sound["linear"]), change)
    refuse(tmp_path / "m", content, f"level is {level:g}, which it cannot be")


@pytest.mark.parametrize("name", ["coef_", "intercept_", "classes_", "n_features_in_", "prior_"])
def test_an_attribute_that_lacks_is_named(
    tmp_path: Path, sound: dict[str, bytes], name: str
) -> None:
    def drop(tree: Any) -> None:
        del tree["estimator"]["object"][1][name]

    parts = parts_of(sound["su"])
    tree = json.loads(parts["model.json"])
    node = tree["estimator"]["object"][1][name]
    if isinstance(node, dict):
        parts.pop(f"arrays/{node['array']}.npy")
    refuse(tmp_path / "model.skops", described(parts, drop), f"lacks a part: {name}")


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("coef_", np.zeros((1, 4)), "has size 4 where its other parts have 3"),
        ("coef_", np.zeros((3, 0)), "has the shape"),
        ("coef_", np.full((1, 3), np.nan), "not finite"),
        ("coef_", np.zeros((1, 3), dtype=">f8"), "a header that likewise does not write"),
        ("coef_", np.zeros((1, 3), dtype="<f4"), "values of the type <f4"),
        ("coef_", np.array([["a", "b", "c"]]), "a header that likewise does not write"),
        ("intercept_", np.zeros(0), "has the shape"),
        ("classes_", np.array([-1, 0]), "classes other than -1 and 1"),
        ("classes_", np.array([-1, 0, 1]), "has the shape"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(
    tmp_path: Path, sound: dict[str, bytes], name: str, array: Any, message: str
) -> None:
    parts = parts_of(sound["su"])
    number = json.loads(parts["model.json"])["estimator"]["object"][1][name]["array"]
    parts[f"arrays/{number}.npy"] = saved(array)
    refuse(tmp_path / "model.skops", zipped(parts), rf"estimator\.{name}.*{message}|{message}")


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [
        ("left", 0, 10**6),
        ("right", 0, 0),
        ("feature_idx", 0, 99),
        ("feature_idx", 0, -1),
        ("value", 0, np.inf),
        ("num_threshold", 0, np.nan),
        ("is_leaf", -1, 0),
        ("sizes", 0, 2**62),
        ("sizes", 0, 0),
    ],
)
def test_forged_trees_are_refused(
    tmp_path: Path, sound: dict[str, bytes], field: str, place: int, value: Any
) -> None:
    parts = parts_of(sound["trees"])
    tree = json.loads(parts["model.json"])
    scores = tree["estimator"]["object"][1]["feature_map_"]["object"][1]["transformer"]
    trees = scores["object"][1]["estimator"]["object"][1]["trees"]["table"]
    member = f"arrays/{trees[field]['array']}.npy"
    array = np.load(io.BytesIO(parts[member]))
    array.flat[place] = value
    parts[member] = saved(array)
    refuse(tmp_path / "model.skops", zipped(parts), "hang together|that it cannot hold")


def test_categories_out_of_order_are_refused(tmp_path: Path, sound: dict[str, bytes]) -> None:
    parts = parts_of(sound["text"])
    changed = parts["model.json"].decode().replace('["u",', '["w",')
    assert changed.count('"w"') == 1
    refuse(tmp_path / "m", zipped({**parts, "model.json": changed.encode()}), "is not sorted")


def test_text_for_a_classifier_of_numbers_is_refused(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    for name, change, message in (
        ("su", {"text_features": ["x0"]}, "takes numbers"),
        ("su", {"gaps": True}, "takes none"),
        ("text", {"text_features": []}, "that its encoder takes for text"),
    ):
        parts = parts_of(sound[name])
        tree = {**json.loads(parts["model.json"]), **change}
        content = zipped({**parts, "model.json": json.dumps(tree).encode()})
        refuse(tmp_path / "m", content, message)


def test_deep_and_long_descriptions_are_refused() -> None:
    begun = time.process_time()
    for text, message in (
        (b"[" * 10**5 + b"]" * 10**5, "nested deeper"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested deeper"),
        (b"[" + b"[]," * 10**6 + b"[]]", "more parts"),
        (b'"' + b"a" * 2**25 + b'"', "more text"),
        (b"[" + b"1," * 2**22 + b"1]", "more parts"),
        (b'"' * 2**22, "more parts"),
        (b'"' + b'\\"' * 2**21, "no JSON text"),
        (b"1" * 10**6, "no JSON text"),
        (b"\xff\xfe", "no JSON text"),
        (b'{"a": 1e400, "b": -Infinity}', "no JSON text"),
    ):
        with pytest.raises(UnfitError, match=message):
            parse_json(text)
    assert time.process_time() - begun < 2.0


def test_nothing_that_is_compressed_is_read(tmp_path: Path, sound: dict[str, bytes]) -> None:
    parts = parts_of(sound["su"])
    content = zipped({**parts, "arrays/0.npy": bytes(2**25)}, zipfile.ZIP_DEFLATED)
    refuse(tmp_path / "model.skops", content, "compressed or encrypted")


def test_a_member_that_the_model_does_not_name_is_not_read(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    content = zipped({**parts_of(sound["su"]), "../junk": bytes(10)})
    refuse(tmp_path / "model.skops", content, r"a member '\.\./junk' that the model does not name")


def test_eight_gigabytes_cost_nothing(tmp_path: Path, sound: dict[str, bytes]) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(sound["su"])
    with path.open("r+b") as stream:
        stream.truncate(2**33)  # a hole, of which no disk is used
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"is larger \(8,589,934,592 bytes\) than a model"):
        load_model(path)
    assert time.process_time() - begun < 0.5


def test_a_header_of_terabytes_is_refused(tmp_path: Path, sound: dict[str, bytes]) -> None:
    parts = parts_of(sound["su"])
    name = next(name for name in parts if name.endswith(".npy"))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000,), }"
    start = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117) + b"\n"
    refuse(tmp_path / "m", zipped({**parts, name: start + bytes(24)}), "not what its shape")


def brought_of(value: Any, change: Callable[[Any], Any] | None = None) -> bytes:
    """Return a skops file of something, with a changed description."""
    content: bytes = skops.io.dumps([value])
    if change is None:
        return content
    parts = parts_of(content)
    schema = json.loads(parts["schema.json"])
    change(schema["content"][0])
    return zipped({**parts, "schema.json": json.dumps(schema).encode()})


def with_brought(sound: bytes, brought: bytes) -> bytes:
    """Return a model whose estimator is a brought one."""
    tree = json.loads(parts_of(sound)["model.json"])
    tree.update(brought=1, estimator={"brought": 0})
    return zipped({"model.json": json.dumps(tree).encode(), "brought.skops": brought})


def test_what_was_brought_is_not_looked_into_without_trust(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    svc = SVC().fit(X, np.arange(120) % 2)
    svc._n_support = np.array([10**6, 10**6], dtype=np.int32)
    content = with_brought(sound["su"], brought_of(svc))
    refuse(tmp_path / "m", content, "is refused.*--trust sklearn.svm._classes.SVC")


def test_sparse_members_need_trust_too(tmp_path: Path, sound: dict[str, bytes]) -> None:
    wild = sparse.csr_matrix(np.eye(3))
    wild.indices[:] = 10**6
    content = with_brought(sound["su"], brought_of(wild))
    refuse(tmp_path / "m", content, r"is refused.*--trust scipy\.sparse")

    def disguise(node: Any) -> None:
        node.update({"__module__": "numpy", "__class__": "ndarray"})

    content = with_brought(sound["su"], brought_of(wild, disguise))
    refuse(tmp_path / "m", content, "a plain value that is to be read as something else")


def test_plain_values_are_no_estimator(tmp_path: Path, sound: dict[str, bytes]) -> None:
    content = with_brought(sound["su"], brought_of(np.eye(3)))
    refuse(tmp_path / "m", content, "holds no estimator")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (b"", "is no skops file"),
        (b"PK\x03\x04", "is no skops file"),
        (zipped({"schema.json": b"[" * 1000}), "nested deeper"),
        (zipped({"schema.json": b'{"__module__": "a; b", "__class__": "c"}'}), "names types"),
        (zipped({"schema.json": bytes(10)}, zipfile.ZIP_DEFLATED), "compressed"),
    ],
)
def test_a_damaged_brought_part_is_refused(
    tmp_path: Path, sound: dict[str, bytes], part: bytes, message: str
) -> None:
    refuse(tmp_path / "m", with_brought(sound["su"], part), message)


def test_arrays_of_a_brought_part_are_looked_at_only_with_trust(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    """To read the headers of thousands of arrays takes long, and numpy warns of some."""
    schema = json.dumps({"__module__": "m", "__class__": "C"}).encode()
    brought = zipped({"schema.json": schema, "x.npy": b"junk"})
    content = with_brought(sound["su"], brought)
    refuse(tmp_path / "m", content, "is refused.*--trust m.C")
    with pytest.raises(ValueError, match="has an array with a damaged header"):
        load_model(tmp_path / "m", ["m.C"])


@pytest.mark.parametrize("place", [2**40, 2**62, 2**63 - 1])
def test_a_member_beyond_the_end_is_refused(
    tmp_path: Path, sound: dict[str, bytes], place: int
) -> None:
    content = bytearray(sound["su"])
    end = content.rindex(b"PK\x05\x06")
    size, first = struct.unpack("<LL", content[end + 12 : end + 20])
    (length,) = struct.unpack("<H", content[first + 28 : first + 30])
    extra = struct.pack("<HHQ", 1, 8, place)  # where the member is, in eight bytes
    content[end + 12 : end + 16] = struct.pack("<L", size + len(extra))
    content[first + 42 : first + 46] = b"\xff" * 4
    content[first + 30 : first + 32] = struct.pack("<H", len(extra))
    content[first + 46 + length : first + 46 + length] = extra
    refuse(tmp_path / "m", bytes(content), "has a member 'model.json' beyond its end")


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("linear", {"pairing_": "auto"}, "is none of asked, random, free"),
        ("main", {"width": 1e308}, "width is 1e.308, which it cannot be"),
        ("main", {"width": 1e-320}, "width is .*, which it cannot be"),
        ("kernel means", {"tol": 1e-320, "variant": "km1"}, "tol is .*, which it cannot be"),
        ("linear", {"alphas": []}, "fewer than a model has"),
        ("su", {"alphas": {"tuple": []}}, "fewer than a model has"),
        ("su", {"prior": 0.0}, "'prior' parameter"),
        ("su", {"prior": 1}, "'prior' parameter"),
        ("trees", {"min_samples_leaf": 2**32}, "is not between 1 and 2147483647"),
        ("trees", {"max_leaf_nodes": 2**53}, "is not between 2 and 2147483647"),
        ("trees", {"validation_fraction": 5.0}, "'validation_fraction' parameter"),
    ],
)
def test_parameters_that_no_fit_takes_are_refused_before_a_report_fits_with_them(
    tmp_path: Path, sound: dict[str, bytes], name: str, values: dict[str, Any], message: str
) -> None:
    def change(node: Any) -> None:
        if isinstance(node, dict) and set(values) <= set(node):
            node.update(values)
        for one in node.values() if isinstance(node, dict) else node:
            if isinstance(one, dict | list):
                change(one)

    refuse(tmp_path / "m", described(parts_of(sound[name]), change), message)


def test_a_prior_of_ten_thousand_classes_for_a_classifier_of_two_is_refused(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    """It would take gigabytes when a report fits it again."""
    settings = {"pairing": "auto", "error_rate": "auto", "level": 0.95, "random_state": 0}
    prior = {"object": ["PairLikelihoodPrior", {"n_classes": 10_000, **settings}]}
    content = described(
        parts_of(sound["su"]), lambda tree: tree["estimator"]["object"][1].update(prior=prior)
    )
    refuse(tmp_path / "m", content, "n_classes is not between 2 and 2")


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_cases_in_a_process_of_their_own_neither_crash_nor_fill_the_memory(
    tmp_path: Path, sound: dict[str, bytes], name: str
) -> None:
    check_apart(sound[name], 11, 400, tmp_path)


def test_a_step_that_cannot_transform_is_refused(tmp_path: Path, sound: dict[str, bytes]) -> None:
    def exchange(tree: Any) -> None:
        tree["estimator"]["object"][1]["steps"].reverse()

    content = described(parts_of(sound["linear"]), exchange)
    refuse(tmp_path / "m", content, "a step 'pairclassifier' that is no transformer")


def test_steps_that_do_not_work_together_are_refused(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    passing = {
        "validate": True,
        "accept_sparse": False,
        "check_inverse": False,
        "feature_names_out": None,
        "n_features_in_": 4,
    }

    def insert(tree: Any) -> None:
        step = {"tuple": ["then", {"object": ["FunctionTransformer", passing]}]}
        steps = tree["estimator"]["object"][1]["steps"]
        steps[0]["tuple"][1]["object"][1]["sparse_output_"] = True
        steps.insert(1, step)

    content = described(parts_of(sound["text"]), insert)
    refuse(tmp_path / "m", content, "its parts do not fit each other")


def test_a_text_that_the_estimate_of_the_prior_cannot_print_is_refused(
    tmp_path: Path, sound: dict[str, bytes]
) -> None:
    estimate = {
        "value": 0.7,
        "interval": None,
        "level": None,
        "method": "km1",
        "diagnostics": {"facts": [["notes", 1.0]]},
    }

    def replace(tree: Any) -> None:
        tree["estimator"]["object"][1]["prior_estimate_"] = {"object": ["PriorEstimate", estimate]}

    refuse(tmp_path / "m", described(parts_of(sound["su"]), replace), "notes that are no list")
