"""Damaged and crafted model files, and what must hold of every one of them.

`crafted_models` makes files of a sound one; `check_crafted` loads one as users do. Anything but a
model that decides, or a ValueError of one sentence, is a finding.
"""

import io
import itertools
import json
import random
import resource
import struct
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from likewise.io import load_model

__all__ = [
    "check_apart",
    "check_crafted",
    "crafted_models",
    "most_megabytes",
    "parts_of",
    "zipped",
]

_SECONDS = 5.0
"""Of work that a case may take; it takes milliseconds, once everything is imported."""
_MEGABYTES = 500

Parts = dict[str, bytes]

_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    2**31,
    2**53 + 1,
    -(2**63),
    10**30,
    10**400,
    0.0,
    -0.5,
    1e-300,
    1e308,
    1e999,
    "",
    "auto",
    "nan",
    "__class__",
    "/etc/passwd",
    "../../x",
    "\x1b[31m",
    "\ud800",
    "x" * 2000,
    [],
    {},
    [[]],
    {"array": 0},
    {"array": -1},
    {"array": 10**9},
    {"array": True},
    {"turned": 0},
    {"tuple": []},
    {"tuple": [0.1, 0.2]},
    {"tuple": [None, None]},
    {"number": "nan"},
    {"number": "inf"},
    {"brought": 0},
    {"names": ["a", "b"]},
    {"names": ["a", "a"]},
    {"texts": ["a", "b"]},
    {"texts": ["x" * 9000, *map(str, range(3000))]},
    {"facts": [["a", 1]]},
    {"table": {}},
    {"object": ["SVC", {}]},
    {"object": ["os.system", {"command": "touch boom"}]},
    {"object": ["Pipeline", {"steps": []}]},
    {"object": ["Pipeline", {"steps": [], "memory": "."}]},
    {"object": ["PairKFold", {"n_splits": 3, "shuffle": True, "random_state": 0}]},
    {"object": ["FeatureUnion", {"transformer_list": [], "verbose_feature_names_out": True}]},
    {"object": [["x"], {}]},
)
_TYPES = (
    "PairClassifier",
    "SUClassifier",
    "SUClassifierCV",
    "Pipeline",
    "FeatureUnion",
    "ColumnTransformer",
    "StandardScaler",
    "FunctionTransformer",
    "HistGradientBoostingClassifier",
    "LogisticRegression",
    "Nystroem",
    "RadialFeatures",
    "PairInformation",
    "spmatrix",
)
_DESCRS = ("'<f8'", "'>f8'", "'|O'", "'<U9'", "'<c16'", "'<M8[s]'", "[('a', '<f8')]", "'<f2'")
_SHAPES = ("(9000000000000,)", "(0,)", "(1,)", "(-1,)", "(2, 2)", "()", "(1, 1, 1, 1, 1)", "'x'")


def parts_of(content: bytes) -> Parts:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: Parts, how: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive of members, with sound checksums."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def check_crafted(path: Path, seconds: float = _SECONDS) -> bool:
    """Load a file, and let a model decide; raise an AssertionError on any finding.

    Returns whether it was a model.
    """
    begun = time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):
            model = load_model(path)
            is_model = True
            _decide(model)
    except ValueError as error:
        is_model = False
        message = str(error)
        assert path.name in message, f"the message does not name the file: {message}"
        assert message.isprintable(), f"the message cannot be printed: {message!r}"
        assert len(message) < 2000, f"the message is long: {message}"
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error
    taken = time.process_time() - begun
    assert taken < seconds, f"took {taken:.1f} s"
    return is_model


def check_apart(model_bytes: bytes, seed: int, count: int, folder: Path) -> None:
    """Check many cases in a process of their own, whose crash or memory is a finding too.

    Parameters
    ----------
    model_bytes : bytes
        A sound model.
    seed, count : int
        Which cases, and how many.
    folder : Path
        For the files.
    """
    path = folder / "model.skops"
    path.write_bytes(model_bytes)
    arguments = [sys.executable, "-m", "tests.io.crafted", str(path), str(seed), str(count)]
    root = Path(__file__).parents[2]
    found = subprocess.run(  # noqa: S603 - our own module
        arguments, capture_output=True, text=True, check=False, cwd=root
    )
    case = path.with_suffix(".case").read_text()
    assert found.returncode == 0, f"{case}: {found.stderr[-2000:]}"
    megabytes = int(found.stdout)
    assert megabytes < _MEGABYTES, f"{megabytes} megabytes"


def _decide(model: Any) -> None:
    estimator = model.estimator
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    rows = np.random.default_rng(0).normal(size=(5, last.n_features_in_))
    with np.errstate(all="ignore"):
        predicted = last.predict(rows)
        assert set(predicted.tolist()) <= set(last.classes_.tolist()), "a class of its own"
        str(getattr(last, "selection_", ""))
        str(getattr(last, "prior_estimate_", ""))
        if hasattr(last, "predict_proba"):
            found = last.predict_proba(rows)
            assert found.shape == (5, len(last.classes_)), "probabilities of another shape"
            assert np.isfinite(found).all(), "probabilities that are not finite"
        else:
            assert np.isfinite(last.decision_function(rows)).all(), "scores that are not finite"
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        _transform(model, estimator)


def _transform(model: Any, estimator: Any) -> None:
    names = model.features.names
    values = ["u" if name in model.features.text else 0.5 for name in names]
    row = np.array([values], dtype=object if model.features.text else np.float64)
    with suppress(ValueError):  # a category that it does not know, or columns without their names
        estimator.predict(row)


def crafted_models(seed: int, model_bytes: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of crafted files, without an end; a seed gives the same ones.

    Parameters
    ----------
    seed : int
    model_bytes : bytes
        A sound model.
    """
    draw = random.Random(seed)  # noqa: S311 - the same cases for the same seed
    parts = parts_of(model_bytes)
    makers: list[tuple[int, Callable[[random.Random, Parts, bytes], tuple[str, bytes]]]] = [
        (2, _flipped),
        (1, _cut),
        (10, _other_value),
        (4, _other_type),
        (3, _moved),
        (4, _other_array),
        (3, _other_header),
        (2, _other_members),
        (1, _other_archive),
        (1, _bomb),
        (1, _deep),
        (1, _json_bytes),
    ]
    weights = [weight for weight, _ in makers]
    while True:
        maker = draw.choices([maker for _, maker in makers], weights)[0]
        yield maker(draw, dict(parts), model_bytes)


def _flipped(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    content = bytearray(whole)
    places = [draw.randrange(len(content)) for _ in range(draw.choice((1, 1, 2, 10)))]
    for place in places:
        content[place] ^= 1 << draw.randrange(8)
    return f"bits flipped at {places}", bytes(content)


def _cut(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    start, end = sorted(draw.randrange(len(whole)) for _ in range(2))
    kind = draw.randrange(3)
    if kind == 0:
        return f"cut at {end}", whole[:end]
    if kind == 1:
        return f"without {start} to {end}", whole[:start] + whole[end:]
    return f"more from {start}", whole + whole[start:]


def _described(parts: Parts, tree: Any) -> bytes:
    text = json.dumps(tree, ensure_ascii=True).replace("Infinity", "1e999")
    return zipped({**parts, "model.json": text.encode()})


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, dict | list):
        items: Any = node.items() if isinstance(node, dict) else enumerate(node)
        for key, one in items:
            yield from _paths(one, (*path, key))


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _chosen(draw: random.Random, parts: Parts) -> tuple[Any, tuple[Any, ...]]:
    tree = json.loads(parts["model.json"])
    return tree, draw.choice([path for path in _paths(tree) if path])


def _other_value(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    tree, path = _chosen(draw, parts)
    where, key = _at(tree, path[:-1]), path[-1]
    old = where[key]
    kind = draw.randrange(5)
    if kind == 0 and isinstance(where, dict):
        del where[key]
        return f"without {path}", _described(parts, tree)
    if kind == 1 and isinstance(where, dict):
        where[draw.choice(("memory", "n_jobs", "verbose", "__reduce__", key + "x"))] = old
        return f"more at {path}", _described(parts, tree)
    if kind == 2 and type(old) in (int, float):
        factor = draw.choice((0, -1, 2, 1e6, 1e300, 1e-300))
        where[key] = old * factor if isinstance(old, float) else int(old * min(factor, 1e15))
    else:
        where[key] = draw.choice(_ODD)
    return f"{str(where[key])[:60]!r} at {path}", _described(parts, tree)


def _other_type(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    tree = json.loads(parts["model.json"])
    paths = [path for path in _paths(tree) if path and path[-1] == "object"]
    path = draw.choice(paths)
    name = draw.choice(_TYPES)
    _at(tree, path)[0] = name
    return f"type {name} at {path}", _described(parts, tree)


def _moved(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    """Put one part in the place of another."""
    tree, path = _chosen(draw, parts)
    other = draw.choice([one for one in _paths(tree) if one])
    _at(tree, path[:-1])[path[-1]] = json.loads(json.dumps(_at(tree, other)))
    return f"{other} at {path}", _described(parts, tree)


def _array_names(parts: Parts) -> list[str]:
    return [name for name in parts if name.endswith(".npy")]


def _saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _other_array(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    names = _array_names(parts)
    if not names:
        return _flipped(draw, parts, whole)
    name = draw.choice(names)
    array = np.load(io.BytesIO(parts[name]))
    kind = draw.randrange(6)
    if kind == 0:
        array = array.astype(draw.choice(("f8", "f4", "i8", "i4", "u1", "?", ">f8", "U3", "c16")))
    elif kind == 1:
        shapes = [array.T, array[:0], array[..., None], array.ravel(), np.repeat(array, 2, axis=0)]
        array = draw.choice(shapes)
    elif kind == 2 and array.size:
        array = array.copy()
        odd: Any = draw.choice((np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, 1e-320, -1))
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            array.flat[draw.randrange(array.size)] = (
                odd if array.dtype.kind == "f" else draw.choice((0, 1, 3, 100, 127))
            )
    elif kind == 3 and array.size and array.dtype.kind in "iu":
        array = array.copy()
        limits = np.iinfo(array.dtype)
        wild = (limits.max, limits.min, min(array.size, limits.max))
        array.flat[draw.randrange(array.size)] = draw.choice(wild)
    elif kind == 4:
        array = np.asfortranarray(array)
    else:
        other = draw.choice(names)
        return f"{other} as {name}", zipped({**parts, name: parts[other]})
    return f"array {name} {array.dtype} {array.shape}", zipped({**parts, name: _saved(array)})


def _other_header(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    names = _array_names(parts)
    if not names:
        return _cut(draw, parts, whole)
    name = draw.choice(names)
    header = draw.choice(
        (
            f"{{'descr': {draw.choice(_DESCRS)}, 'fortran_order': {draw.choice((True, False))}, "
            f"'shape': {draw.choice(_SHAPES)}, }}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (",
            "(" * 3000,
            "__import__('os').system('touch boom')",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }",
            "",
        )
    ).encode()
    magic = draw.choice((b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"\x93NUMPY\x09\x00", b"junk"))
    length = draw.choice((len(header) + 1, 0, 65535))
    start = magic + struct.pack("<H", length) + header + b"\n"
    return f"header {header[:60]!r} of {name}", zipped({**parts, name: start + parts[name][128:]})


def _other_members(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    name = draw.choice(list(parts))
    kind = draw.randrange(5)
    if kind == 0:
        del parts[name]
        return f"without {name}", zipped(parts)
    if kind == 1:
        extra = draw.choice(
            ("junk", "../../boom", "/boom", "schema.json", "arrays/999.npy", "\x1b")
        )
        return f"member {extra!r}", zipped({**parts, extra: b"boom"})
    if kind == 2:
        parts["model.json"] = parts["model.json"].replace(b'"brought": 0', b'"brought": 1')
        return "brought junk", zipped({**parts, "brought.skops": draw.choice((b"", b"PK", whole))})
    if kind == 3:
        stream = io.BytesIO(zipped(parts))
        with zipfile.ZipFile(stream, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            archive.writestr(name, draw.choice((b"{}", parts[name])))
        return f"{name} twice", stream.getvalue()
    other = draw.choice(list(parts))
    parts[name], parts[other] = parts[other], parts[name]
    return f"{name} and {other} exchanged", zipped(parts)


def _other_archive(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    how = draw.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    kind = draw.randrange(4)
    if kind == 0:
        return f"compressed by {how}", zipped(parts, how)
    content = bytearray(whole)
    directory = content.rindex(b"PK\x01\x02")
    if kind == 1:
        content[directory + 8] |= 1
        return "encrypted", bytes(content)
    if kind == 2:
        sizes = struct.pack("<2L", *(draw.choice((0, 1, 10**6, 2**32 - 1)) for _ in range(2)))
        content[directory + 20 : directory + 28] = sizes
        return f"sizes {sizes!r}", bytes(content)
    content[-12:] = struct.pack("<2L", draw.randrange(2**32), draw.randrange(2**32)) + content[-4:]
    return "another place of the directory", bytes(content)


def _bomb(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    name = draw.choice(list(parts))
    parts[name] = bytes(2**22)
    if name == "model.json":
        parts[name] = draw.choice(
            (b"[" + b"[]," * 2**20 + b"[]]", b'"' + b"a" * 2**21, b"1" * 2**20)
        )
    how = draw.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    return f"bomb in {name} by {how}", zipped(parts, how)


def _deep(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    depth = draw.choice((50, 99, 101, 1000, 100_000))
    tree = json.loads(parts["model.json"])
    path = draw.choice([path for path in _paths(tree) if path])
    _at(tree, path[:-1])[path[-1]] = "HERE"
    opening, closing = draw.choice(
        (("[", "]"), ('{"tuple":', "}"), ('{"object":["Pipeline",', "]}"))
    )
    inside = opening * depth + "0" + closing * depth
    text = json.dumps(tree).replace('"HERE"', inside)
    return f"{depth} deep at {path}", zipped({**parts, "model.json": text.encode()})


def _json_bytes(draw: random.Random, parts: Parts, whole: bytes) -> tuple[str, bytes]:
    content = bytearray(parts["model.json"])
    places = [draw.randrange(len(content)) for _ in range(draw.choice((1, 2, 5)))]
    for place in places:
        content[place] = draw.choice(b'[]{}",:0\\\xff\x00eNI')
    return f"text changed at {places}", zipped({**parts, "model.json": bytes(content)})


def _main(path: Path, seed: int, count: int) -> None:
    """Check cases of a model one after another; say which comes next, and what memory it took."""
    for what, content in itertools.islice(crafted_models(seed, path.read_bytes()), count):
        path.with_suffix(".case").write_text(what)
        path.write_bytes(content)
        check_crafted(path)
    sys.stdout.write(str(most_megabytes()))


def most_megabytes() -> int:
    """Return the most memory that this process has had."""
    # Linux hands a parent's ru_maxrss down to its children: a large one is none of theirs.
    status = Path("/proc/self/status")
    if status.exists():
        peaks = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(next(peaks).split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
