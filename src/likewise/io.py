"""Tables, pairs and models as files: what the command line reads and writes.

Tables and pairs are CSV or Parquet files with ids; models are skops files, never pickles. Every
file is written beside its goal first and moved there whole. Nothing here computes or prints.
"""

import csv
import io
import os
import secrets
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from likewise._version import __version__

__all__ = [
    "Features",
    "Model",
    "Pairs",
    "Table",
    "check_output",
    "choose_features",
    "feature_matrix",
    "load_model",
    "read_pairs",
    "read_table",
    "replacing",
    "save_model",
    "write_csv",
    "write_table",
]

PathName = str | os.PathLike[str]
Column = Any
"""A pyarrow array: pyarrow is optional, and it ships no types."""

_SAME = {"same", "similar", "must link"}
_DIFFERENT = {"different", "dissimilar", "cannot link"}
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

_MODEL_FORMAT = "likewise-model"
_MODEL_FORMAT_VERSION = 1
_TRUSTED_TYPES = frozenset(
    {
        "likewise.classifiers.su.SUClassifier",
        "likewise.classifiers.su.SUClassifierCV",
        "likewise.selection.PairKFold",
    }
)
"""What a model file may hold besides what skops itself trusts (numpy and scikit-learn types)."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, and the ids of its rows.

    Attributes
    ----------
    path : Path
        The file, for messages.
    id_column : str
    ids : pyarrow array
        As they stand in the file.
    keys : pyarrow array of text
        The ids as text, by which rows are looked up; each is there once.
    columns : dict of pyarrow arrays
        Every other column by name, not yet checked: it may not be used.
    """

    path: Path
    id_column: str
    ids: Column
    keys: Column
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Row numbers of paired rows, integer arrays of shape (n, 2)."""

    similar: NDArray[np.int64]
    dissimilar: NDArray[np.int64]


@dataclass(frozen=True)
class Features:
    """Names of the columns to learn from, in order, and which of them hold text."""

    names: tuple[str, ...]
    text: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Model:
    """A fitted estimator with what is needed to use it on another file.

    Attributes
    ----------
    estimator : scikit-learn estimator
        Fitted on the columns of `features`, in that order.
    features : Features
    id_column : str
    positive_class : str or None
        What class +1 means, where that is known.
    version : str
        The version of likewise that fitted it.
    """

    estimator: Any
    features: Features
    id_column: str
    positive_class: str | None = None
    version: str = __version__


# ------------------------------------------------------------------------------------- tables


def read_table(
    path: PathName, *, id_column: str | None = None, text_columns: Sequence[str] = ()
) -> Table:
    r"""Read a CSV or Parquet file of rows with ids.

    Parameters
    ----------
    path : path
        A file whose name ends in ``.csv`` or ``.parquet``.
    id_column : str, optional
        By default the column called "id" in any case, or else the first one.
    text_columns : names, optional
        Columns to read as text even where all their values look like numbers.

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from likewise.io import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("id,height,colour\n007,1.5,red\n8,1.6,blue\n")
    ...     table = read_table(path)
    >>> table.keys.to_pylist(), list(table.columns)
    (['007', '8'], ['height', 'colour'])
    """
    path = Path(path)
    names = _column_names(path)
    id_column = _find_id_column(path, names, id_column)
    columns = _read_columns(path, text_columns=[id_column, *text_columns])
    ids = columns.pop(id_column)
    if not len(ids):
        raise ValueError(f"{path} has column names but no rows.")
    keys = _as_text(ids)
    _check_ids(path, id_column, keys)
    return Table(path, id_column, ids, keys, columns)


def choose_features(
    table: Table, *, keep: Sequence[str] | None = None, drop: Sequence[str] = ()
) -> Features:
    """Say which columns of a table to learn from, and which of them are text.

    Parameters
    ----------
    table : Table
    keep : names, optional
        The only columns to use; by default every column but the id.
    drop : names, optional
        Columns to leave out.

    Returns
    -------
    Features
    """
    _check_names(table, [*(keep or ()), *drop])
    chosen = list(dict.fromkeys(table.columns if keep is None else keep))
    names = tuple(name for name in chosen if name not in drop)
    if not names:
        raise ValueError(
            f"{table.path} has no column left to learn from besides the id column "
            f"{table.id_column!r}."
        )
    text = frozenset(name for name in names if _is_text(table.columns[name].type))
    for name in text:
        _warn_of_numbers_in_text(table, name)
    return Features(names, text)


def feature_matrix(table: Table, features: Features) -> NDArray[Any]:
    """Return the chosen columns as one array, in the order of `features`.

    Parameters
    ----------
    table : Table
        Its columns may stand in any order, and there may be more of them.
    features : Features

    Returns
    -------
    array of shape (len(table), len(features.names))
        Of float64, or of objects (floats and strings) where a column is text.
    """
    missing = [name for name in features.names if name not in table.columns]
    if missing:
        raise ValueError(
            f"{table.path} lacks {_count(len(missing), 'column')} that the model was fitted on: "
            f"{_some(missing)}."
        )
    matrix = np.empty(
        (len(table), len(features.names)), dtype=object if features.text else np.float64
    )
    for position, name in enumerate(features.names):
        matrix[:, position] = (
            _text_values(table, name) if name in features.text else _numbers(table, name)
        )
    return matrix


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Tables are read and written with pyarrow, which is not installed: "
            "pip install 'likewise[cli]'."
        ) from error
    return pa


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".parquet"}:
        raise ValueError(
            f"{path} is neither a .csv nor a .parquet file by its name; tables are one of the two."
        )
    return suffix


def _column_names(path: Path) -> list[str]:
    """Return the names of the columns, each once, from a file that has some."""
    suffix = _suffix(path)
    with path.open("rb") as stream:  # what cannot be opened says why before anyone parses it
        if not stream.read(1):
            raise ValueError(f"{path} is empty.")
    names = _csv_names(path) if suffix == ".csv" else _parquet_names(path)
    if not names:
        raise ValueError(f"{path} has no columns.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has more than one column called {_some(twice)}.")
    return names


def _csv_names(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return next((row for row in csv.reader(stream) if row), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a CSV file in UTF-8: {_first_line(error)}.") from error


def _parquet_names(path: Path) -> list[str]:
    pa = _pyarrow()
    try:
        return list(pa.parquet.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        _raise_not_parquet(path, error)


def _raise_not_parquet(path: Path, error: Exception) -> NoReturn:
    raise ValueError(f"{path} cannot be read as a Parquet file: {_first_line(error)}.") from error


def _read_columns(path: Path, text_columns: Sequence[str]) -> dict[str, Column]:
    table = _read_csv(path, text_columns) if _suffix(path) == ".csv" else _read_parquet(path)
    return {name: _in_one_piece(table.column(name)) for name in table.column_names}


def _read_csv(path: Path, text_columns: Sequence[str]) -> Any:
    pa = _pyarrow()
    try:
        return pa.csv.read_csv(
            path,
            # One thread: only then do errors name the line, and reading is not what takes long.
            read_options=pa.csv.ReadOptions(use_threads=False),
            parse_options=pa.csv.ParseOptions(newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(text_columns, pa.large_string())
            ),
        )
    except pa.ArrowException as error:
        raise ValueError(f"{path} is not a well-formed CSV file: {_first_line(error)}.") from error


def _read_parquet(path: Path) -> Any:
    pa = _pyarrow()
    try:
        return pa.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        _raise_not_parquet(path, error)


def _in_one_piece(column: Column) -> Column:
    pa = _pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        column = column.cast(pa.large_string())  # no limit of 2 GiB when chunks are joined
    return column.combine_chunks()


def _find_id_column(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is None:
        return next((name for name in names if name.strip().lower() == "id"), names[0])
    if wanted not in names:
        raise ValueError(f"{path} has no id column {wanted!r}; its columns are {_some(names)}.")
    return wanted


def _check_ids(path: Path, id_column: str, keys: Column) -> None:
    pc = _pyarrow().compute
    blank = _first_true(pc.equal(pc.fill_null(keys, ""), ""))
    if blank is not None:
        raise ValueError(f"{path}, row {blank + 1}: the id (column {id_column!r}) is missing.")
    if pc.count_distinct(keys).as_py() == len(keys):
        return
    counts = keys.value_counts()
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()
    raise ValueError(
        f"{path} has {_count(len(twice), 'id')} more than once in column {id_column!r}: "
        f"{_some(twice)}; ids must be unique."
    )


def _check_names(table: Table, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in table.columns]
    if table.id_column in unknown:
        raise ValueError(f"{table.id_column!r} is the id column of {table.path}, not a feature.")
    if unknown:
        raise ValueError(
            f"{table.path} has no column {_some(unknown)}; its columns are "
            f"{_some(list(table.columns))}."
        )


def _is_text(kind: Any) -> bool:
    types = _pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_number(kind: Any) -> bool:
    types = _pyarrow().types
    # A column without one value has the type null: it is refused for its missing values.
    return any(
        test(kind)
        for test in (
            types.is_boolean,
            types.is_integer,
            types.is_floating,
            types.is_decimal,
            types.is_null,
        )
    )


def _as_text(column: Column) -> Column:
    """Return values as text, whole numbers without a decimal point (pandas makes 1 into 1.0)."""
    pa = _pyarrow()
    if pa.types.is_floating(column.type):
        with suppress(pa.ArrowInvalid):  # raised where a value is not whole
            column = column.cast(pa.int64())
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ValueError(f"Values of type {column.type} cannot be used as text or ids.") from error


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    pa = _pyarrow()
    column = table.columns[name]
    if not (_is_number(column.type) or _is_text(column.type)):
        raise _unusable_type(table, name)
    _check_no_gaps(table, name, pa.compute.is_null(column, nan_is_null=True))
    if _is_text(column.type):
        wrong = _first_true(pa.compute.invert(_looks_like_number(column)))
        if wrong is not None:
            raise ValueError(
                f"{_cell(table, name, wrong)}: {column[wrong].as_py()!r} is not a number, but "
                "the column must hold numbers."
            )
        column = pa.compute.utf8_trim_whitespace(column)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    infinite = np.flatnonzero(~np.isfinite(values))
    if infinite.size:
        raise ValueError(
            f"{_cell(table, name, int(infinite[0]))}: the value is infinite; correct it or leave "
            "the row out."
        )
    return np.asarray(values, dtype=np.float64)


def _text_values(table: Table, name: str) -> NDArray[np.object_]:
    pc = _pyarrow().compute
    column = table.columns[name]
    if not (_is_number(column.type) or _is_text(column.type)):
        raise _unusable_type(table, name)
    column = _as_text(column)
    _check_no_gaps(table, name, pc.equal(pc.fill_null(column, ""), ""))
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)


def _check_no_gaps(table: Table, name: str, missing: Column) -> None:
    first = _first_true(missing)
    if first is None:
        return
    count = int(_pyarrow().compute.sum(missing).as_py())
    raise ValueError(
        f"{_cell(table, name, first)}: the value is missing (the column has "
        f"{_count(count, 'missing value')}); fill it in, or leave the row or the column out."
    )


def _unusable_type(table: Table, name: str) -> ValueError:
    return ValueError(
        f"{table.path}, column {name!r}: values of type {table.columns[name].type} are neither "
        "numbers nor text; turn them into numbers, or leave the column out."
    )


def _warn_of_numbers_in_text(table: Table, name: str) -> None:
    """Warn where one stray word makes a column of numbers into text."""
    column = table.columns[name]
    strays = _pyarrow().compute.invert(_looks_like_number(column))
    stray = _first_true(strays)
    if stray is not None and _pyarrow().compute.sum(strays).as_py() < 0.1 * len(column):
        warnings.warn(
            f"{_cell(table, name, stray)}: {column[stray].as_py()!r} among numbers makes the whole "
            "column text, each value a category of its own; correct it if numbers were meant.",
            stacklevel=3,
        )


def _looks_like_number(column: Column) -> Column:
    pc = _pyarrow().compute
    return pc.fill_null(pc.match_substring_regex(column, _NUMBER), False)


def _cell(table: Table, name: str, row: int) -> str:
    return f"{table.path}, column {name!r}, row with id {table.keys[row].as_py()!r}"


# -------------------------------------------------------------------------------------- pairs


def read_pairs(path: PathName, table: Table) -> Pairs:
    """Read which rows of a table belong together, or do not.

    Parameters
    ----------
    path : path
        A CSV or Parquet file with columns ``left`` and ``right`` of ids and, if not all pairs are
        similar, ``relation``: same, similar or must-link against different, dissimilar or
        cannot-link.
    table : Table
        The rows that the ids mean. Ids are compared as text.

    Returns
    -------
    Pairs
    """
    path = Path(path)
    columns = _pair_columns(path)
    left, right = (_as_text(columns[side]) for side in ("left", "right"))
    if not len(left):
        raise ValueError(f"{path} has no pairs; at least one is needed.")
    rows = _look_up(path, table, left, right)
    selves = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if selves.size:
        raise ValueError(
            f"{path}, row {selves[0] + 1}: {left[int(selves[0])].as_py()!r} is paired with itself; "
            "a pair needs two different rows."
        )
    same = _relations(path, columns.get("relation"), len(rows))
    _check_consistent(path, table, rows, same)
    return Pairs(similar=rows[same], dissimilar=rows[~same])


def _pair_columns(path: Path) -> dict[str, Column]:
    names = _column_names(path)
    columns = _read_columns(path, text_columns=names)
    tidy = {name.strip().lower(): column for name, column in columns.items()}
    lacking = [side for side in ("left", "right") if side not in tidy]
    if lacking:
        raise ValueError(
            f"{path} has no column {_some(lacking)}; a file of pairs has columns left, right and, "
            f"if need be, relation, but this one has {_some(names)}."
        )
    return tidy


def _look_up(path: Path, table: Table, left: Column, right: Column) -> NDArray[np.int64]:
    """Return row numbers of shape (n, 2), or name the ids that are not in the table."""
    pc = _pyarrow().compute
    found = [
        pc.fill_null(pc.index_in(side, value_set=table.keys), -1).to_numpy(zero_copy_only=False)
        for side in (left, right)
    ]
    rows = np.column_stack(found).astype(np.int64)
    if rows.min() >= 0:
        return rows
    unknown = pc.unique(
        _pyarrow().concat_arrays(
            [side.filter(index < 0) for side, index in zip((left, right), found, strict=True)]
        )
    )
    examples = [
        f"{side[int(row)].as_py()!r} (row {row + 1})"
        for row in np.flatnonzero((rows < 0).any(axis=1))[:3]
        for side, index in zip((left, right), found, strict=True)
        if index[row] < 0
    ]
    raise ValueError(
        f"{path} names {_count(len(unknown), 'id')} not found in {table.path} (ids are compared "
        f"as text), such as {', '.join(examples[:3])}."
    )


def _relations(path: Path, relation: Column | None, n_pairs: int) -> NDArray[np.bool_]:
    """Return which pairs are similar; without a relation column, all are."""
    if relation is None:
        return np.ones(n_pairs, dtype=np.bool_)
    encoded = _pyarrow().compute.fill_null(_as_text(relation), "").dictionary_encode()
    meaning = np.array([_meaning(word) for word in encoded.dictionary.to_pylist()])
    same = meaning[encoded.indices.to_numpy(zero_copy_only=False)]
    odd = np.flatnonzero(same < 0)
    if odd.size:
        raise ValueError(
            f"{path}, row {odd[0] + 1}: the relation is {encoded[int(odd[0])].as_py()!r}, but it "
            "must be 'same' or 'different'."
        )
    return np.asarray(same == 1)


def _meaning(word: str) -> int:
    """Return 1 for same, 0 for different, -1 for neither."""
    tidy = word.strip().lower().replace("-", " ").replace("_", " ")
    if tidy in _SAME:
        return 1
    return 0 if tidy in _DIFFERENT else -1


def _check_consistent(
    path: Path, table: Table, rows: NDArray[np.int64], same: NDArray[np.bool_]
) -> None:
    codes = rows.min(axis=1) * len(table) + rows.max(axis=1)  # one number per unordered pair
    both = np.intersect1d(codes[same], codes[~same])
    if both.size:
        first, second = (table.keys[int(row)].as_py() for row in divmod(int(both[0]), len(table)))
        raise ValueError(
            f"{path} says of {first!r} and {second!r} both that they are of the same class and "
            f"that they differ ({_count(both.size, 'such pair')} in all)."
        )


# ------------------------------------------------------------------------------------- models


def save_model(path: PathName, model: Model) -> None:
    """Save a model in the skops format; an old file stays until the new one is whole.

    Parameters
    ----------
    path : path
    model : Model
    """
    import skops.io

    state = {
        "format": _MODEL_FORMAT,
        "format_version": _MODEL_FORMAT_VERSION,
        "likewise_version": model.version,
        "features": list(model.features.names),
        "text_features": sorted(model.features.text),
        "id_column": model.id_column,
        "positive_class": model.positive_class,
        "estimator": model.estimator,
    }
    with replacing(path) as stream:
        skops.io.dump(state, stream)


def load_model(path: PathName) -> Model:
    """Load a model that `save_model` saved, running no code from the file.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If the file is no likewise model, is damaged, or holds types that are not trusted.
    """
    path = Path(path)
    data = path.read_bytes()
    _check_skops_archive(path, data)
    state = _load_trusted(path, data)
    if not isinstance(state, dict) or state.get("format") != _MODEL_FORMAT:
        raise ValueError(f"{path} is a skops file, but not a model that likewise saved.")
    if state.get("format_version") != _MODEL_FORMAT_VERSION:
        raise ValueError(
            f"{path} was saved by likewise {state.get('likewise_version')} in a format that this "
            f"version ({__version__}) does not know; use that version, or fit the model again."
        )
    try:
        return Model(
            estimator=state["estimator"],
            features=Features(tuple(state["features"]), frozenset(state["text_features"])),
            id_column=state["id_column"],
            positive_class=state["positive_class"],
            version=state["likewise_version"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: it lacks a part of a likewise model.") from error


def _check_skops_archive(path: Path, data: bytes) -> None:
    if not data:
        raise ValueError(f"{path} is empty, not a likewise model.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            damaged = archive.testzip()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise ValueError(
            f"{path} is not a likewise model, or it is cut short: models are skops files, never "
            "pickles; fit the model again."
        ) from error
    if "schema.json" not in names:
        raise ValueError(f"{path} is an archive, but not a model that likewise saved.")
    if damaged is not None:
        raise ValueError(f"{path} is damaged (in {damaged}); fit the model again.")


def _load_trusted(path: Path, data: bytes) -> Any:
    import skops.io

    try:
        untrusted = set(skops.io.get_untrusted_types(data=data))
    except _MALFORMED as error:
        raise ValueError(f"{path} is damaged: {_first_line(error)}.") from error
    refused = sorted(untrusted - _TRUSTED_TYPES)
    if refused:
        raise ValueError(
            f"{path} is refused: it holds types that no likewise {__version__} model holds "
            f"({_some(refused)})."
        )
    try:
        return skops.io.loads(data, trusted=sorted(untrusted))
    except _MALFORMED as error:
        raise ValueError(f"{path} is damaged: {_first_line(error)}.") from error


_MALFORMED = (AttributeError, ImportError, LookupError, TypeError, ValueError)
"""What skops raises when a well-formed archive describes objects that cannot be."""


# ------------------------------------------------------------------------------------ writing


def check_output(path: PathName, *, table: bool = False) -> Path:
    """Return the path if a file can be made there, so that work does not start in vain.

    Parameters
    ----------
    path : path
    table : bool, default False
        Whether the file is to be a table, .csv or .parquet.

    Returns
    -------
    Path
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"The folder {path.parent} for {path.name} does not exist; create it.")
    if table:
        _suffix(path)
    return path


@contextmanager
def replacing(path: PathName) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when, and only when, it was written whole.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from likewise.io import replacing
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "note.txt") as stream:
    ...         _ = stream.write(b"whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    path = Path(path).resolve()  # so that a link stays a link
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException:  # an interrupt too
        unfinished.unlink(missing_ok=True)
        raise


def write_table(path: PathName, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as a CSV or Parquet file, by the name's ending.

    Parameters
    ----------
    path : path
    columns : dict of numpy or pyarrow arrays
    """
    path = check_output(path, table=True)
    with replacing(path) as stream:
        if _suffix(path) == ".parquet":
            pa = _pyarrow()
            pa.parquet.write_table(pa.table(dict(columns)), stream)
        else:
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            write_csv(text, columns)
            text.detach()


def write_csv(stream: TextIO, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as CSV text, quoting only what must be.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from likewise.io import write_csv
    >>> write_csv(sys.stdout, {"id": np.array(["007", "b,c"]), "score": np.array([0.5, -2.0])})
    id,score
    007,0.5
    "b,c",-2.0
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    # `tolist` gives Python's floats, written with as many digits as bring them back exactly.
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


# ------------------------------------------------------------------------------------ wording


def _first_true(mask: Column) -> int | None:
    position = int(_pyarrow().compute.index(mask, True).as_py())
    return None if position < 0 else position


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
