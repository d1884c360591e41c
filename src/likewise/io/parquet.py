"""Parquet files that are one table after the other: their columns, their row groups, their rows.

What the rows are for is the business of others; errors name the file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import Column, as_text, import_pyarrow, is_text
from likewise.io.schemas import Schemas
from likewise.io.wording import first_line, listed, shown

__all__ = ["ParquetColumns", "ParquetFiles", "naming"]

_BATCH_ROWS = 1 << 15


class _RowGroup(NamedTuple):
    fragment: Any
    schema: Any
    number: int


class ParquetFiles:
    """Parquet files, addressed by row numbers; their ends have been read, their rows have not.

    Parameters
    ----------
    dataset : pyarrow.dataset.FileSystemDataset
    name : str
        What the files are, for messages.

    Attributes
    ----------
    path : str
        What messages call the files.
    names : tuple of str
        All columns: those of the first file, then what others have besides.
    bounds : integer array
        Where row groups begin and end among all rows.
    """

    def __init__(self, dataset: Any, name: str) -> None:
        self.path = name
        self._groups: list[_RowGroup] = []
        with_rows: list[tuple[str, Any]] = []
        with naming(name):
            fragments = [(fragment.path, fragment) for fragment in dataset.get_fragments()]
        if not fragments:
            raise ValueError(f"{shown(name)} is a folder without Parquet files.")
        counts = [0]
        for path, fragment in fragments:
            with naming(path):
                schema = fragment.physical_schema
                schema.names  # noqa: B018 - which are decoded now
                groups = [group for group in fragment.row_groups if group.num_rows]
                counts += [group.num_rows for group in groups]
            self._groups += [_RowGroup(fragment, schema, group.id) for group in groups]
            if groups:
                with_rows.append((path, schema))
        self.bounds: NDArray[np.int64] = np.cumsum(counts)
        if not with_rows:
            raise ValueError(f"{shown(name)} has column names but no rows.")
        self._schemas = Schemas(with_rows)
        in_files = frozenset(self._schemas.names)
        self._partitions = {f.name: f for f in dataset.schema if f.name not in in_files}
        self.names: tuple[str, ...] = tuple(dataset.schema.names) or self._schemas.names
        if not self.names:
            raise ValueError(f"{shown(name)} has no columns.")
        self._known = frozenset(self.names)

    @classmethod
    def of(cls, files: Any, name: str) -> "ParquetFiles":
        """Open a file, a folder, a list of files or a dataset.

        Parameters
        ----------
        files : path, list of paths, pyarrow.dataset.Dataset or ParquetFiles
        name : str
            What they are, for messages about what has no path of its own.
        """
        if isinstance(files, ParquetFiles):
            return files
        named = str(files) if isinstance(files, (str, Path)) else f"`{name}`"
        pa = import_pyarrow()
        import pyarrow.dataset as ds

        if not isinstance(files, ds.Dataset):
            with naming(files):
                # With a schema, even an empty one, pyarrow asks no file for its own.
                files = ds.dataset(files, format="parquet", schema=pa.schema([]))
        if not isinstance(files, ds.FileSystemDataset) or files.format.default_extname != "parquet":
            raise TypeError(f"`{name}` must be Parquet files; got a {type(files).__name__}.")
        return cls(files, named)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.bounds[-1])

    def type_of(self, name: str) -> Any:
        """Return the pyarrow type that holds a column of all files, or refuse the column."""
        if name in self._partitions:
            return self._partitions[name].type
        if name not in self._known:
            raise ValueError(
                f"There is no column {listed([name])} in {shown(self.path)}; its columns are "
                f"{listed(self.names)}."
            )
        return self._schemas.type_of(name)

    def groups(self) -> list[tuple[str, int, int]]:
        """Return the path, the number and the rows of every row group."""
        sizes = np.diff(self.bounds).tolist()
        return [
            (group.fragment.path, group.number, size)
            for group, size in zip(self._groups, sizes, strict=True)
        ]

    @cached_property
    def _options(self) -> Any:
        import pyarrow.dataset as ds

        return ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)

    def batches(self, start: int, stop: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of the rows from `start` to `stop`, types as each file has them."""
        first = int(np.searchsorted(self.bounds, start, side="right")) - 1
        last = int(np.searchsorted(self.bounds, stop, side="left"))
        for at in range(first, last):
            group, position = self._groups[at], int(self.bounds[at])
            with naming(group.fragment.path):
                for batch in group.fragment.subset(row_group_ids=[group.number]).to_batches(
                    schema=self._stored(group.schema),
                    columns=list(columns),
                    batch_size=_BATCH_ROWS,
                    batch_readahead=0,
                    fragment_readahead=0,
                    use_threads=False,
                    fragment_scan_options=self._options,
                ):
                    batch.validate(full=True)  # of a damaged file, categories may not be there
                    low, high = max(start - position, 0), min(stop - position, len(batch))
                    position += len(batch)
                    if low < high:
                        yield batch.slice(low, high - low)
            if position < min(stop, self.bounds[at + 1]):
                _check_rows(group.fragment.path, position, int(self.bounds[at + 1]))

    def read(self, columns: Sequence[str]) -> list[Column]:
        """Return columns of all rows in memory, each of one type and in one piece."""
        kinds = [self.type_of(name) for name in columns]
        pieces = [map(_cast, table.columns, kinds) for table in self._tables(columns)]
        return [_joined(column) for column in zip(*pieces, strict=True)]

    def read_ids(self, column: str) -> tuple[Column, Column]:
        """Return ids as they stand in the files, and as text.

        Where files have them in different types, they are text both times: no wider type holds an
        id as it was written.
        """
        self.type_of(column)
        stored = [_joined([table.column(0)]) for table in self._tables([column])]
        where = f"{shown(self.path)}, column {listed([column])}"
        keys = _joined([as_text(piece, where) for piece in stored])
        if all(piece.type.equals(stored[0].type) for piece in stored):
            return _joined(stored), keys
        return keys, keys

    def _tables(self, columns: Sequence[str]) -> Iterator[Any]:
        for column in columns:
            self.type_of(column)
        files = {group.fragment.path: group for group in self._groups}
        n_rows = Counter[str]()
        for path, _, size in self.groups():
            n_rows[path] += size
        for path, (fragment, schema, _) in files.items():
            with naming(path):
                table = fragment.to_table(schema=self._stored(schema), columns=list(columns))
                table.validate(full=True)
            _check_rows(path, len(table), n_rows[path])
            if len(table):
                yield table

    def _stored(self, schema: Any) -> Any:
        """Return the schema of a file with the columns that are in the names of folders."""
        if not self._partitions:
            return schema
        return import_pyarrow().schema([*schema, *self._partitions.values()])


class ParquetColumns(Mapping[str, Column]):
    """Columns of Parquet files by name, read when they are first asked for.

    Parameters
    ----------
    files : ParquetFiles
    names : names
        The columns that there are to be.
    """

    def __init__(self, files: ParquetFiles, names: Sequence[str]) -> None:
        self._files = files
        self.paths = dict.fromkeys(names)
        self._read: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self.paths:
            raise KeyError(name)
        self.load([name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def load(self, names: Sequence[str]) -> None:
        """Read columns together, which takes less time than one after the other."""
        wanted = [name for name in names if name not in self._read]
        if wanted:
            self._read.update(zip(wanted, self._files.read(wanted), strict=True))


def _check_rows(path: str, found: int, said: int) -> None:
    if found != said:
        raise ValueError(
            f"{shown(path)} cannot be read as a Parquet file: its end names {said:,} rows, but "
            f"there are {found:,}."
        )


def _cast(column: Any, kind: Any) -> Any:
    pa = import_pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column if column.type.equals(kind) else column.cast(kind, safe=False)


def _joined(pieces: Sequence[Any]) -> Column:
    """Return arrays of one type, whole or in chunks, as one array."""
    pa = import_pyarrow()
    chunks = [chunk for piece in pieces for chunk in getattr(piece, "chunks", [piece])]
    joined = pa.chunked_array(chunks, type=pieces[0].type)
    if is_text(joined.type):
        joined = joined.cast(pa.large_string())  # together they may be over 2 GiB
    return joined.combine_chunks()


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Name the file in whatever goes wrong while it is read."""
    pa = import_pyarrow()
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no Parquet file {_named(path)}.") from error
    except UnicodeError as error:
        raise ValueError(
            f"{_named(path)} cannot be read: a name in it, of a file or of a column, is not UTF-8; "
            "change it."
        ) from error
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{_named(path)} cannot be read as a Parquet file: {first_line(error)}."
        ) from error


def _named(path: Any) -> str:
    return listed([str(one) for one in path], 3) if isinstance(path, (list, tuple)) else shown(path)
