"""Folders of Parquet files whose schemas differ, and whether all engines make the same of them."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from typer.testing import CliRunner

import likewise as lw
from likewise.cli.app import app
from likewise.io import load_model

__all__ = [
    "MIXTURES",
    "base_files",
    "check_engines_agree",
    "fit_by_command",
    "mixed_folder",
    "write_folder",
]

Columns = dict[str, Any]
Mix = Callable[[list[Columns]], None]
"""Changes the columns of files, of which there are three."""

_ENGINES: dict[str, tuple[str, ...]] = {
    "memory": (),
    "parquet": ("--engine", "parquet"),
    "dask": ("--engine", "dask"),
}
_OF_TEXT = "with --engine, columns hold numbers, not text"
"""The documented difference: text becomes categories in memory alone."""
_AFTER_TYPES = (", row with id ", "no value is farther from zero", " not found in ")
"""What is said of values and of pairs: engines look at types before them, so at text first."""

_NOT_SCALED = "scale the features"
"""What Python says of columns that the command line would have scaled."""


def base_files(rng: np.random.Generator, sizes: Sequence[int], first: int = 0) -> list[Columns]:
    """Return the columns of files that agree: an id, two numbers, and a whole number to change."""
    files = []
    for size in sizes:
        classes = rng.random(size) < 0.7
        rows = rng.normal(size=(size, 2)) + 2.0 * classes[:, None]
        files.append(
            {
                "id": pa.array([f"r{first + k}" for k in range(size)]),
                "a": pa.array(rows[:, 0]),
                "b": pa.array(rows[:, 1]),
                "c": pa.array(rng.integers(0, 9, size) + 3 * classes),
            }
        )
        first += size
    return files


def write_folder(files: Sequence[Columns], folder: Path) -> tuple[Path, Path]:
    """Write files of rows, and pairs of ids that are in neighbouring rows of all of them."""
    rows = folder / "rows"
    rows.mkdir(parents=True)
    ids: list[Any] = []
    for number, columns in enumerate(files):
        pa.parquet.write_table(pa.table(columns), rows / f"part-{number}.parquet", row_group_size=5)
        ids += columns["id"].to_pylist() if "id" in columns else []
    text = [_written(one) for one in ids if one is not None]
    pairs = pa.table({"left": text[0::2][: len(text) // 2], "right": text[1::2]})
    pa.parquet.write_table(pairs, folder / "pairs.parquet")
    return rows, folder / "pairs.parquet"


def _written(one: Any) -> str:
    is_whole = isinstance(one, float) and one.is_integer()
    return str(int(one) if is_whole else one)


def _cast(position: int, kind: Any, column: str = "c") -> Mix:
    def mix(files: list[Columns]) -> None:
        files[position][column] = files[position][column].cast(kind)

    return mix


def _number_ids(*kinds: Any) -> Mix:
    """Number the rows, with a type for each file."""

    def mix(files: list[Columns]) -> None:
        first = 0
        for columns, kind in zip(files, kinds, strict=True):
            size = len(columns["id"])
            columns["id"] = pa.array(range(first, first + size)).cast(kind)
            first += size

    return mix


def _set(position: int, values: Callable[[Any], Any], column: str = "c") -> Mix:
    def mix(files: list[Columns]) -> None:
        files[position][column] = values(files[position].get(column))

    return mix


def _both(*mixes: Mix) -> Mix:
    def mix(files: list[Columns]) -> None:
        for one in mixes:
            one(files)

    return mix


def _lists(column: Any) -> Any:
    return pa.array([[value] for value in column.to_pylist()])


def _structs(column: Any) -> Any:
    return pa.array([{"deep": value} for value in column.to_pylist()])


def _flags(column: Any) -> Any:
    return pa.compute.greater(column, 5)


def _reordered(files: list[Columns]) -> None:
    files[1] = dict(reversed(files[1].items()))


def _half(files: list[Columns]) -> None:
    files[1]["c"] = pa.array(files[1]["c"].to_numpy().astype(np.float16))


def _beyond(column: Any) -> Any:
    return pa.array([2**63 + 5000 * value for value in column.to_pylist()], pa.uint64())


def _without(position: int, column: str = "c") -> Mix:
    return lambda files: files[position].pop(column) and None


def _empty_first(files: list[Columns]) -> None:
    files[0] = {name: pa.nulls(0) for name in ("id", "z")}


MIXTURES: dict[str, Mix] = {
    "whole and broken numbers": _cast(1, pa.float64()),
    "broken, then whole numbers": _cast(0, pa.float64()),
    "32 and 64 bits": _cast(0, pa.int32()),
    "single and double precision": _both(_cast(0, pa.float32()), _cast(1, pa.float64())),
    "flags, then whole numbers": _set(0, _flags),
    "whole numbers, then flags": _set(2, _flags),
    "flags and broken numbers": _both(_set(0, _flags), _cast(1, pa.float64())),
    "flags alone": _both(*(_set(k, _flags) for k in range(3))),
    "text and numbers": _cast(0, pa.string()),
    "numbers, then text": _cast(2, pa.string()),
    "categories and text as ids": _set(1, lambda ids: ids.dictionary_encode(), "id"),
    "kinds of text as ids": _both(
        _cast(0, pa.large_string(), "id"), _cast(1, pa.string_view(), "id")
    ),
    "a column that is missing later": _without(1),
    "a column that is missing first": _without(0),
    "a column that one file has besides": _set(2, lambda _: pa.array([1.0] * 8), "extra"),
    "columns in another order": _reordered,
    "a column without one value": _set(1, lambda column: pa.nulls(len(column))),
    "decimals and whole numbers": _cast(1, pa.decimal128(30, 2)),
    "dates": _set(1, lambda column: column.cast(pa.timestamp("us"))),
    "dates in all files": _both(*(_cast(k, pa.timestamp("us")) for k in range(3))),
    "lists": _set(1, _lists),
    "lists in all files": _both(*(_set(k, _lists) for k in range(3))),
    "lists as ids": _both(*(_set(k, _lists, "id") for k in range(3))),
    "structs": _both(*(_set(k, _structs) for k in range(3))),
    "numbers beyond 64 bits with a sign": _set(0, _beyond),
    "half precision": _half,
    "numbers and text as ids": _both(
        _number_ids(pa.int64(), pa.int64(), pa.int64()), _cast(1, pa.string(), "id")
    ),
    "kinds of numbers as ids": _number_ids(pa.int32(), pa.float64(), pa.uint64()),
    "an empty first file": _empty_first,
    "no files": lambda files: files.clear(),
    "a gap": _set(1, lambda column: pa.array([None, *column.to_pylist()[1:]], column.type)),
    "ids twice": _set(1, lambda _: pa.array([f"r{k}" for k in range(8)]), "id"),
    "text, none of it in one file": _both(
        _cast(0, pa.string()), _set(1, lambda column: pa.nulls(len(column))), _cast(2, pa.string())
    ),
}


_KINDS: tuple[Callable[[Any], Any], ...] = (
    *(
        lambda column, kind=kind: column.cast(kind, safe=False)
        for kind in (
            pa.int8(),
            pa.int16(),
            pa.int32(),
            pa.int64(),
            pa.uint8(),
            pa.uint32(),
            pa.uint64(),
            pa.float32(),
            pa.float64(),
            pa.decimal128(30, 3),
            pa.string(),
            pa.large_string(),
        )
    ),
    lambda column: pa.array(column.to_numpy().astype(np.float16)),
    lambda column: column.dictionary_encode(),
    lambda column: column.cast(pa.string()).dictionary_encode(),
    lambda column: pa.nulls(len(column)),
    lambda column: pa.array([None, *column.to_pylist()[1:]], column.type),
    lambda column: pa.array([1e200, *map(float, column.to_pylist()[1:])]),
    lambda column: pa.array([float("inf"), *map(float, column.to_pylist()[1:])]),
    lambda column: column.cast(pa.timestamp("ms")),
    lambda column: column.cast(pa.int32()).cast(pa.date32()),
    lambda column: column.cast(pa.string()).cast(pa.binary()),
    _flags,
    _lists,
    _structs,
    _beyond,
)
_COMMON = 9
"""So many of the kinds are numbers of every day."""


def mixed_folder(seed: int, folder: Path) -> tuple[Path, Path]:
    """Write a folder of Parquet files with schemas mixed at random.

    Parameters
    ----------
    seed : int
    folder : Path
        Where to write; it may not be there yet.

    Returns
    -------
    Path
        The folder of the table.
    Path
        The file of pairs.
    """
    rng = np.random.default_rng(seed)
    files = base_files(rng, [int(n) for n in rng.choice([0, 4, 8, 9], 3, p=[0.1, 0.2, 0.5, 0.2])])
    if rng.random() < 0.3:
        _number_ids(pa.int64(), pa.int64(), pa.int64())(files)
    for columns in files:
        _mix_at_random(rng, columns)
    rows, pairs = write_folder(files, folder)
    return rows, _pairs_at_random(rng, pairs)


def _mix_at_random(rng: np.random.Generator, columns: Columns) -> None:
    if not len(columns["id"]):
        if rng.random() < 0.5:
            columns.pop("c")
        return
    for name in ("c", "b"):
        if rng.random() < (0.7 if name == "c" else 0.1):
            n_kinds = _COMMON if rng.random() < 0.7 else len(_KINDS)
            columns[name] = _KINDS[rng.integers(n_kinds)](
                columns[name].cast(pa.int64(), safe=False)
            )
    if rng.random() < 0.2:
        kinds = [pa.string(), pa.large_string(), pa.string_view(), pa.float64(), pa.int32()]
        with contextlib.suppress(pa.ArrowInvalid):  # text that is no number
            columns["id"] = columns["id"].cast(kinds[rng.integers(5)])
    if rng.random() < 0.1 and not pa.types.is_string_view(columns["id"].type):
        columns["id"] = columns["id"].dictionary_encode()
    if rng.random() < 0.05:
        columns.pop(rng.choice(["b", "c"]))
    if rng.random() < 0.05:
        columns["besides \x1b[31m"] = pa.array(np.ones(len(columns["id"])))
    if rng.random() < 0.2:
        items = list(columns.items())
        order = rng.permutation(len(items))
        columns.clear()
        columns.update(items[k] for k in order)


def _pairs_at_random(rng: np.random.Generator, path: Path) -> Path:
    """Write the pairs in another form, now and then."""
    table = pa.parquet.read_table(path)
    if rng.random() < 0.1 and len(table):
        strange = ["nobody \x1b[31m", *table.column("right").to_pylist()[1:]]
        table = table.set_column(1, "right", pa.array(strange))
    choice = rng.integers(4)
    if choice == 1:
        table = table.rename_columns(["Left", " right"])
    if choice == 2:
        lines = [",".join(row) for row in zip(*table.to_pydict().values(), strict=True)]
        path = path.with_suffix(".csv")
        path.write_text("\n".join(["left,right", *lines]) + "\n", encoding="utf-8")
        return path
    pa.parquet.write_table(table, path)
    return path


def check_engines_agree(table: Path, pairs: Path) -> Any:
    """Fit by every engine, on the command line and in Python, and compare what comes of it.

    Parameters
    ----------
    table, pairs : Path

    Returns
    -------
    array or str
        What the command says of rows in memory, as `fit_by_command` returns it.

    Raises
    ------
    AssertionError
        If two engines give different answers or different sentences, if one ends in an exception
        that is not documented, or if a sentence would command a terminal. That text becomes
        categories in memory, while engines refuse it, is documented and no finding; nor is that
        memory, which takes the text, then finds fault with a value or a pair.
    """
    found = {name: fit_by_command(table, pairs, options) for name, options in _ENGINES.items()}
    expected = found.pop("memory")
    for name, other in found.items():
        if not _is_of_text(expected, other):
            _check_same("memory", expected, name, other)
    _check_same("parquet", found["parquet"], "dask", found["dask"])
    frame = _read_by_dask(table)
    if pairs.suffix == ".parquet" and frame is not None:
        names = list(map(str.strip, map(str.lower, pa.parquet.read_schema(pairs).names)))
        ids = pa.parquet.read_table(pairs).rename_columns(names)
        by_path, by_dask = _fit_source(table, ids), _fit_source(frame, ids)
        if any(isinstance(one, str) and _NOT_SCALED in one for one in (by_path, by_dask)):
            return expected  # rounding decides what the solver can take
        _check_same("a path", by_path, "Dask's reader", by_dask)
        if not isinstance(expected, str):
            is_answer = not isinstance(by_path, str) or "not numbers" in by_path
            assert is_answer, f"the command answers, but in Python: {by_path}"
    return expected


def _is_of_text(expected: Any, other: Any) -> bool:
    """Tell whether an engine refuses text that memory takes, whatever else it then refuses."""
    is_taken = not isinstance(expected, str) or any(part in expected for part in _AFTER_TYPES)
    return is_taken and isinstance(other, str) and _OF_TEXT in other


def _read_by_dask(table: Path) -> Any:
    """Return the frame of Dask's own reader, which takes the columns from the first file.

    None where it has none, or where that file is an empty one that has other columns.
    """
    import dask.dataframe as dd

    files = sorted(table.iterdir())
    metas = [pa.parquet.read_metadata(path) for path in files]
    empty = [path for path, meta in zip(files, metas, strict=True) if not meta.num_rows]
    full = [path for path in files if path not in empty]
    if not full or (empty and empty[0] < full[0] and _names(empty[0]) != _names(full[0])):
        return None
    read: Any = dd.read_parquet
    return read(table)


def _names(path: Path) -> set[str]:
    return set(pa.parquet.read_schema(path).names)


def _check_same(one: str, first: Any, other: str, second: Any) -> None:
    if isinstance(first, str) or isinstance(second, str):
        is_same = isinstance(first, str) and isinstance(second, str) and first == second
        assert is_same, f"{one} says {first!r}, but {other} says {second!r}"
    else:
        np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9, err_msg=f"{one}, {other}")


def fit_by_command(table: Path, pairs: Path, options: tuple[str, ...]) -> Any:
    """Return weights of scaled columns and where the score is zero, or the sentence of a refusal.

    Parameters
    ----------
    table, pairs : Path
    options : tuple of str
        Further options of ``likewise fit``.
    """
    with tempfile.TemporaryDirectory() as folder, _one_thread():
        model = Path(folder) / "model.skops"
        how = ("--method", "su", "--prior", "0.7", "--alpha", "0.1", "-o", str(model))
        result = CliRunner().invoke(app, ["fit", str(table), str(pairs), *how, *options])
        if result.exit_code == 0:
            return _weights(load_model(model).estimator)
        said = result.stderr
        assert result.exit_code == 2, (options, result.exit_code, said, result.exception)
        assert len(said.splitlines()) == 1, (options, said)
        assert said.rstrip("\n").isprintable(), (options, said)
        return said.splitlines()[-1].removeprefix("likewise: ")


def _weights(pipeline: Any) -> Any:
    classifier, scaler = pipeline[-1], pipeline[0]
    if not hasattr(scaler, "scale_"):
        return classifier.coef_.ravel()
    weights = classifier.coef_.ravel() / scaler.scale_
    intercept = classifier.intercept_ - weights @ scaler.mean_
    return np.concatenate([weights * scaler.scale_, np.ravel(intercept)])


def _fit_source(rows: Any, ids: Any) -> Any:
    """Return the weights, or the sentence of a refusal."""
    sentence = None
    with _one_thread():
        try:
            clf = lw.SUClassifier(prior=0.7).fit(*lw.pack(rows, similar=ids))
        except ValueError as error:
            sentence = str(error)
    if sentence is None:
        return np.append(clf.coef_, clf.intercept_)
    assert sentence.isprintable(), sentence
    return sentence


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    import dask

    settings: Any = dask.config
    # A client that other tests left open would shuffle on its workers.
    with settings.set({"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}):
        yield
