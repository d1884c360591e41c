"""Dask data frames as arrays of numbers and as ids; what is in a partition is checked there.

Dask takes the types of the first partition for those of all, and does not look at the others.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines.joining import pair_positions, text_ids
from likewise.engines.parquet import check_number, default_features
from likewise.engines.source import PairSource
from likewise.io.arrow import as_numbers, as_text, import_pyarrow, is_number, type_word
from likewise.io.parquet import ParquetFiles, naming
from likewise.io.wording import listed, shown

__all__ = [
    "frame_array",
    "frame_keys",
    "is_frame",
    "join_members",
    "open_frame",
    "parquet_frame",
]

_PARTITION_ROWS = 1 << 18
"""Rows of Parquet files in a partition, or those of one row group if they are more."""
_FEW_VALUES = 1 << 23
"""So many values of members, 64 MiB, one worker may hold: they are looked up in every partition
where it lies, while more are joined by a shuffle of the table."""


def is_frame(rows: Any) -> bool:
    """Tell whether rows are a Dask data frame."""
    return hasattr(rows, "map_partitions") and hasattr(rows, "columns")


def open_frame(source: PairSource, *, by_ids: bool) -> tuple[Any, tuple[str, ...]]:
    """Return the rows of a source as a frame of numbers and ids, and the columns to learn from.

    Parameters
    ----------
    source : PairSource
        Of a Dask data frame. Where that is Parquet files as they are, these are read by what they
        agree on: Dask would take the first file for all.
    by_ids : bool
        Whether pairs are given by ids, which are a column or the index.
    """
    frame, id_column = source.unlabeled, source.id_column
    files = _files_behind(frame)
    if files is not None:
        names = default_features((n for n in files.names if n != frame.index.name), source)
        for name in names:
            check_number(files, name)
        return parquet_frame(files, names, id_column if by_ids else None), names
    if id_column not in frame.columns and frame.index.name == id_column:
        frame = frame.reset_index()
    names = default_features(map(str, frame.columns), source)
    there = list(map(str, frame.columns))
    for name in [*names, *([id_column] if by_ids else [])]:
        if name not in there:
            raise ValueError(
                f"There is no column {listed([name])} in the Dask frame; its columns are "
                f"{listed(there)}."
            )
    for name in names:
        _check_number(name, frame._meta[name].dtype)
    return frame, names


def _files_behind(frame: Any) -> ParquetFiles | None:
    """Return the local files that a frame is all rows and columns of, as far as can be known."""
    reader = frame.expr
    if not type(reader).__name__.startswith("ReadParquet"):
        return None
    path, chosen = reader.operand("path"), [reader.operand(n) for n in ("columns", "filters")]
    is_whole = isinstance(path, str) and chosen == [None, None] and Path(path).exists()
    return ParquetFiles.of(path, "unlabeled") if is_whole else None


def _check_number(name: str, dtype: Any) -> None:
    import pandas as pd

    is_unknown = isinstance(dtype, np.dtype) and dtype.kind == "O"  # until a partition is read
    if not (is_unknown or pd.api.types.is_numeric_dtype(dtype)):
        raise ValueError(
            f"Column {listed([name])} holds {shown(dtype, 80)}, not numbers; leave it out with "
            "PairSource(..., columns=[...])."
        )


def frame_array(frame: Any, names: Sequence[str]) -> Any:
    """Return columns of a frame as an array; one column is read to learn the lengths."""
    import dask
    import dask.array as da
    from dask.delayed import delayed

    compute: Any = dask.compute  # the library is not typed
    arrays: Any = da
    lengths = compute(*map(delayed(len), _partitions(frame[[names[0]]])))
    read = delayed(partial(_numbers, _flags(frame, names)), pure=True)
    blocks = map(read, _partitions(frame[list(names)]))
    return arrays.concatenate(
        [
            arrays.from_delayed(block, (length, len(names)), dtype=np.float64)
            for block, length in zip(blocks, lengths, strict=True)
        ]
    )


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions of a frame as tasks.

    An optimized frame would have fewer of them: Dask puts files of Parquet together, the more the
    fewer columns are wanted, so that partitions of one column would not be those of the others.
    """
    return list(frame.simplify().to_delayed(optimize_graph=False))


def _flags(frame: Any, names: Sequence[str]) -> dict[str, bool]:
    """Return the columns, and of each whether it is said to hold true and false."""
    return {name: frame._meta[name].dtype == bool for name in names}


def _numbers(flags: Mapping[str, bool], part: Any) -> NDArray[Any]:
    """Return the columns of a partition as an array of numbers; runs on a worker."""
    dtypes = {part[name].dtype for name in flags}
    if len(dtypes) == 1 and not any(flags.values()):
        (dtype,) = dtypes
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            return np.asarray(part[list(flags)].to_numpy())
    rows = np.empty((len(part), len(flags)))
    for position, (name, is_flag) in enumerate(flags.items()):
        rows[:, position] = _column_numbers(name, is_flag, part[name])
    return rows


def _column_numbers(name: str, is_flag: bool, column: Any) -> NDArray[Any]:
    pa = import_pyarrow()
    try:
        values = pa.array(column, from_pandas=True)
    except pa.ArrowException as error:
        raise ValueError(f"Column {listed([name])} holds values of several types.") from error
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = values.type
    is_null, holds_flags = pa.types.is_null(kind), pa.types.is_boolean(kind)
    if not (is_number(kind) or holds_flags or is_null):
        raise ValueError(
            f"Column {listed([name])} holds {type_word(kind)}, not numbers; leave it out with "
            "PairSource(..., columns=[...])."
        )
    if holds_flags != is_flag and column.dtype != object and not is_null:
        raise ValueError(
            f"Column {listed([name])} holds true and false in some partitions, but numbers in "
            "others; store the column alike in all of them, or leave it out."
        )
    return as_numbers(values)


def frame_keys(frame: Any, id_column: str) -> Any:
    """Return the ids of all rows as one pyarrow array of text; only they are read."""
    import dask
    from dask.delayed import delayed

    pa = import_pyarrow()
    compute: Any = dask.compute  # the library is not typed
    read = delayed(partial(_keys, id_column))
    keys = compute(*map(read, _partitions(frame[[id_column]])))
    return pa.concat_arrays([pa.array([], pa.large_string()), *keys])


def _keys(id_column: str, part: Any) -> Any:
    """Return the ids of a partition as text; runs on a worker."""
    return text_ids(part[id_column], f"Column {listed([id_column])}")


def join_members(frame: Any, left: Any, right: Any, names: Sequence[str], id_column: str) -> Any:
    """Return a frame with the members of every pair in columns left_* and right_*, in order.

    Parameters
    ----------
    frame : dask data frame
    left, right : pyarrow arrays of text
        Ids.
    names : names
        Columns to return.
    id_column : str
    """
    import dask.dataframe as dd
    import pandas as pd

    pairs = pd.DataFrame({"left": _as_pandas(left), "right": _as_pandas(right)})
    pairs = pairs.rename_axis("pair").reset_index()
    is_few = 2 * len(pairs) * len(names) <= _FEW_VALUES
    from_pandas: Any = dd.from_pandas
    joined = from_pandas(pairs, npartitions=1 if is_few else frame.npartitions)
    read = partial(_members, id_column, _flags(frame, names))
    members = frame[[id_column, *names]].map_partitions(read, meta=read(frame._meta))
    for side in ("left", "right"):
        renamed = {id_column: side, **{name: f"{side}_{name}" for name in names}}
        joined = joined.merge(members.rename(columns=renamed), on=side, how="inner")
        joined = joined.repartition(npartitions=1) if is_few else joined
    joined = joined.drop(columns=["left", "right"]).set_index("pair").persist()
    found = np.bincount(joined.index.compute().to_numpy(), minlength=len(pairs))
    if (found != 1).any():
        keys = frame_keys(frame, id_column)
        for named in (left, right):
            pair_positions(named, keys, id_column)
    return joined


def _members(id_column: str, flags: Mapping[str, bool], part: Any) -> Any:
    """Return a partition with ids as text and with numbers of one type; runs on a worker."""
    import pandas as pd

    rows = pd.DataFrame(_numbers(flags, part).astype(np.float64), columns=list(flags))
    rows[id_column] = _as_pandas(_keys(id_column, part))
    return rows


def _as_pandas(text: Any) -> Any:
    """Return text in the one type that both sides of a join have."""
    import pandas as pd

    return pd.array(text.to_numpy(zero_copy_only=False), dtype=pd.StringDtype("pyarrow"))


def parquet_frame(files: ParquetFiles, columns: Sequence[str], id_column: str | None = None) -> Any:
    """Return columns of Parquet files as a Dask data frame of their row groups.

    Unlike Dask's own reader it reads what the files agree on, and names the file if one cannot be
    read.

    Parameters
    ----------
    files : ParquetFiles
    columns : names
        Of numbers.
    id_column : str, optional
        A column of ids, which are read as text.
    """
    import dask.dataframe as dd

    pa = import_pyarrow()
    from_map: Any = dd.from_map
    wanted = [*columns, *([] if id_column is None else [id_column])]
    empty = pa.table({name: pa.array([], files.type_of(name)) for name in wanted})
    return from_map(
        partial(_read_groups, id_column=id_column),
        _pieces(files),
        meta=_as_frame(empty, id_column),
    )


def _pieces(files: ParquetFiles) -> list[tuple[str, str, list[int]]]:
    """Return files with some of their row groups, together about as many rows as make a task.

    Of each, the path for messages and that for workers, who may be in another folder.
    """
    pieces: list[tuple[str, str, list[int]]] = []
    room = 0
    for path, group, size in files.groups():
        if not pieces or pieces[-1][0] != path or room < size:
            pieces.append((path, str(Path(path).absolute()), []))
            room = _PARTITION_ROWS
        pieces[-1][2].append(group)
        room -= size
    return pieces


def _read_groups(
    piece: tuple[str, str, list[int]], columns: list[str], id_column: str | None
) -> Any:
    """Return columns of row groups of a file as a data frame; runs on a worker.

    Dask passes the columns that are wanted.
    """
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    shown_path, path, groups = piece
    with naming(shown_path):
        file = ds.ParquetFileFormat().make_fragment(path, LocalFileSystem(), row_groups=groups)
        table = file.to_table(columns=columns, use_threads=False)
    return _as_frame(table, id_column)


def _as_frame(table: Any, id_column: str | None) -> Any:
    """Return columns of numbers, and of ids as text, as a pandas data frame."""
    import pandas as pd

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.combine_chunks()
        if name == id_column:
            found[name] = _as_pandas(as_text(values, f"Column {listed([name])}"))
        else:
            found[name] = as_numbers(values)
    return pd.DataFrame(found)
