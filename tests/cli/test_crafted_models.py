"""Crafted model files given to commands: one sentence, at little cost, and nothing is run."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.svm import SVC

from tests.io.crafted import parts_of, zipped

from .conftest import Run, paths_with

ROOT = Path(__file__).parents[2]
COMMAND = """
import sys, time
from likewise.cli import main
try:
    main()
finally:
    seconds = time.process_time()
    from tests.io.crafted import most_megabytes
    print(seconds, most_megabytes())
"""
"""A command in a process of its own, which says what it cost."""
MEGABYTES, SECONDS = 500, 6.0
"""A refusal takes a second or less, but a machine may be slow."""

Parts = dict[str, bytes]
Tree = dict[str, Any]


def described(parts: Parts, change: Callable[[Tree], Any]) -> bytes:
    tree = json.loads(parts["model.json"])
    change(tree)
    return zipped({**parts, "model.json": json.dumps(tree).encode()})


def with_array(parts: Parts, content: bytes) -> bytes:
    return zipped({**parts, "arrays/0.npy": content})


def header_of(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.ljust(117) + b"\n"


def with_brought(parts: Parts, value: Any) -> bytes:
    tree = json.loads(parts["model.json"])
    tree.update(brought=1, estimator={"brought": 0})
    content = skops.io.dumps([value])
    return zipped({"model.json": json.dumps(tree).encode(), "brought.skops": content})


def forged_machine() -> SVC:
    """Return a support vector machine that crashes libsvm when it predicts."""
    machine = SVC().fit(np.eye(4), [0, 1, 0, 1])
    machine._n_support = np.array([10**6, 10**6], dtype=np.int32)
    return machine


def wild_rows() -> sparse.csr_matrix:
    rows = sparse.csr_matrix(np.eye(3))
    rows.indices[:] = 10**6
    return rows


def folder_to_unpickle_from(tree: Tree) -> None:
    tree["estimator"]["object"][1]["memory"] = "."


def first_step_of(name: str) -> Callable[[Tree], None]:
    def change(tree: Tree) -> None:
        tree["estimator"]["object"][1]["steps"][0]["tuple"][1]["object"][0] = name

    return change


def texts(count: int) -> list[str]:
    return [f"{number:07d}" for number in range(count)]


CASES: dict[str, tuple[Callable[[Parts], bytes], str]] = {
    "a folder to unpickle from": (
        lambda parts: described(parts, folder_to_unpickle_from),
        "an attribute 'memory'",
    ),
    "a command as a type": (
        lambda parts: described(parts, first_step_of("os.mkdir")),
        "a type that it cannot hold: 'os.mkdir'",
    ),
    "a machine that crashes": (
        lambda parts: with_brought(parts, forged_machine()),
        "--trust sklearn.svm._classes.SVC",
    ),
    "a sparse table of wild indices": (
        lambda parts: with_brought(parts, wild_rows()),
        "--trust scipy.sparse._csr.csr_matrix",
    ),
    "a zip bomb": (
        lambda parts: zipped({**parts, "arrays/0.npy": bytes(2**28)}, zipfile.ZIP_DEFLATED),
        "compressed or encrypted",
    ),
    "an array of 72 TiB": (
        lambda parts: with_array(parts, header_of("(9000000000000,)") + bytes(24)),
        "not what its shape",
    ),
    "a header that is no expression": (
        lambda parts: with_array(parts, header_of("(" * 40)),
        "a header that likewise does not write",
    ),
    "an array that fills the file": (
        lambda parts: with_array(parts, header_of("(24000000,)") + bytes(8 * 24_000_000)),
        "has size",
    ),
    "deep JSON": (
        lambda parts: zipped({**parts, "model.json": b"[" * 10**5 + b"]" * 10**5}),
        "nested deeper",
    ),
    "a million columns": (
        lambda parts: described(parts, lambda tree: tree.update(features=texts(1_000_000))),
        "a part features that is not what it should be",
    ),
    "two million texts": (
        lambda parts: described(parts, lambda tree: tree.update(gaps=texts(1_900_000))),
        "a part gaps that is not what it should be",
    ),
    "another kind of archive": (lambda parts: zipped({"schema.json": b"{}"}), "a skops file"),
}


@pytest.mark.parametrize(
    ("name", "command"),
    [*((name, "predict") for name in CASES), ("a folder to unpickle from", "report")],
)
def test_a_crafted_model_is_refused_in_one_sentence_at_little_cost(
    model: Path, name: str, command: str
) -> None:
    make, message = CASES[name]
    model.write_bytes(make(parts_of(model.read_bytes())))
    how = {
        "predict": ("predict", "model.skops", "rows.csv"),
        "report": ("report", "rows.csv", "pairs.csv", "--model", "model.skops"),
    }
    before = {path: path.read_bytes() for path in model.parent.iterdir()}
    found = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", COMMAND, *how[command]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **paths_with(ROOT)},
    )
    assert found.returncode == 2, found.stderr[-2000:]
    (sentence,) = found.stderr.splitlines()
    assert sentence.startswith("likewise: model.skops is "), sentence
    assert message in sentence
    assert {path: path.read_bytes() for path in model.parent.iterdir()} == before
    seconds, megabytes = map(float, found.stdout.split())
    assert seconds < SECONDS
    assert megabytes < MEGABYTES


def test_numbers_that_the_steps_of_a_model_make_too_large_are_told_with_its_name(
    model: Path, refuse: Run
) -> None:
    parts = parts_of(model.read_bytes())
    tree = json.loads(parts["model.json"])
    scaler = tree["estimator"]["object"][1]["steps"][0]["tuple"][1]["object"][1]
    scale = f"arrays/{scaler['scale_']['array']}.npy"
    parts[scale] = header_of("(2,)") + np.full(2, 1e-180).tobytes()
    model.write_bytes(zipped(parts))
    sentence = refuse("report", "rows.csv", "pairs.csv", "--model", "model.skops")
    assert "model.skops makes numbers of up to" in sentence
    assert "of the rows of rows.csv, too large to compute with" in sentence


def test_scores_that_are_too_large_are_told_with_the_model(model: Path, refuse: Run) -> None:
    parts = parts_of(model.read_bytes())
    classifier = json.loads(parts["model.json"])["estimator"]["object"][1]["steps"][1]["tuple"][1]
    weights = f"arrays/{classifier['object'][1]['coef_']['array']}.npy"
    parts[weights] = header_of("(1, 2)") + np.full(2, 1e190).tobytes()
    model.write_bytes(zipped(parts))
    sentence = refuse("report", "rows.csv", "pairs.csv", "--model", "model.skops")
    assert "model.skops makes numbers of up to" in sentence
    assert "too large to compute with" in sentence
