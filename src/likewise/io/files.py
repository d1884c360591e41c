"""Files to write: each is written beside its goal first and moved there whole."""

import csv
import io
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from likewise.io.arrow import import_pyarrow
from likewise.io.columns import table_suffix

__all__ = ["PathName", "check_output", "replacing", "write_csv", "write_table"]

PathName = str | os.PathLike[str]


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
        table_suffix(path)
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
        if table_suffix(path) == ".parquet":
            pa = import_pyarrow()
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
