"""Files to write: each is written beside its goal first and moved there whole.

What is no file, such as a pipe, is written to when all that goes there is known.
"""

import csv
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from likewise.io.arrow import import_pyarrow
from likewise.io.columns import table_suffix

__all__ = ["PathName", "check_output", "replacing", "write_csv", "write_table"]

PathName = str | os.PathLike[str]


def check_output(path: PathName, *, table: bool = False, inputs: Iterable[PathName] = ()) -> Path:
    """Return the path if a file can be made there, so that work does not start in vain.

    Parameters
    ----------
    path : path
        A pipe or a device will do too.
    table : bool, default False
        Whether the file is to be a table, .csv or .parquet.
    inputs : paths, optional
        Files and folders that are read before the file is made, which must not replace any of them.

    Returns
    -------
    Path
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"The folder {path.parent} for {path.name} does not exist; create it.")
    for source in inputs:
        _check_not_input(path, Path(source))
    if table:
        table_suffix(path)
    return path


def _check_not_input(path: Path, source: Path) -> None:
    """Refuse an output that is an input, or that would be read as part of one next time."""
    if source.is_dir():
        if path.resolve().is_relative_to(source.resolve()):
            raise ValueError(
                f"The output {path} is in the input folder {source}; name a file elsewhere for the "
                "output."
            )
    elif path.exists() and source.exists() and path.samefile(source):
        raise ValueError(
            f"The output {path} would overwrite the input {source}; name another file for the "
            "output."
        )


@contextmanager
def replacing(path: PathName) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when, and only when, it was written whole.

    The new file may be read and written by whom the old one could. A pipe or a device stays what
    it is, and is sent everything at the end.

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
    path = Path(path)
    # Asked before links are followed: where /dev/stdout leads to a pipe, that has no path.
    if path.exists() and not path.is_file():
        content = io.BytesIO()
        yield content
        with path.open("wb") as pipe:
            pipe.write(content.getbuffer())
        return
    path = path.resolve()  # so that a link stays a link
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as stream:
            _permit_as(path, stream)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException:  # an interrupt too
        unfinished.unlink(missing_ok=True)
        raise


def _permit_as(path: Path, stream: BinaryIO) -> None:
    """Give a new file the owner, where we may, and the permissions of the one at `path`."""
    if not hasattr(os, "fchown") or not path.exists():  # Windows has neither owners nor modes
        return
    old = path.stat()
    with suppress(OSError):  # only root may give files away
        os.fchown(stream.fileno(), old.st_uid, old.st_gid)
    os.fchmod(stream.fileno(), stat.S_IMODE(old.st_mode) & 0o777)


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
