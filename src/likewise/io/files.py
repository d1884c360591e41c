"""Files to write: each is written beside its goal first and moved there whole.

What is no file, such as a pipe, is written to when all that goes there is known.
"""

import csv
import errno
import io
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from likewise.io.arrow import import_pyarrow
from likewise.io.columns import table_suffix
from likewise.io.wording import shown

__all__ = ["PathName", "blaming", "check_output", "replacing", "write_csv", "write_table"]

PathName = str | os.PathLike[str]

_PROBE = bytes(1 << 16)
"""Written and removed to see whether a disk takes anything: more than a reserve of a few blocks."""
_LONGEST_NAME = 255
"""Bytes of a file's name on common file systems."""


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
    _check_place(path)
    for source in inputs:
        _check_not_input(path, Path(source))
    if table:
        table_suffix(path)
    if path.exists() and not path.is_file():
        _check_pipe(path)
    else:
        _check_writable(path)
    return path


def _check_place(path: Path) -> None:
    """Refuse a path that no file can have; a link is followed to where it leads."""
    try:
        path.stat()
    except FileNotFoundError:
        pass  # it is to be made
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(
                f"{shown(path)} is a link that leads back to itself; name another file."
            ) from None
        if error.errno == errno.ENAMETOOLONG:
            raise ValueError(
                f"The name {shown(path, 100)} is too long for a file; choose a shorter one."
            ) from None
        if error.errno == errno.ENOTDIR:
            raise ValueError(
                f"{shown(path)} cannot be made, since part of its path is a file and no folder; "
                "name another folder."
            ) from None
        raise
    if path.is_dir():
        raise ValueError(f"{shown(path)} is a folder; name a file in it.")
    goal = path.resolve()
    if not goal.parent.is_dir():
        folder = goal.parent if path.is_symlink() else path.parent
        raise ValueError(
            f"The folder {shown(folder)} for {shown(path.name)} does not exist; create it."
        )


def _check_pipe(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise ValueError(f"{shown(path)} cannot be written to; its permissions do not allow it.")


def _check_writable(path: Path) -> None:
    """Make a file in the folder of `path`, which nobody sees, and write to it."""
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent) as probe:
            probe.write(_PROBE)
            probe.flush()
    except OSError as error:
        raise ValueError(
            f"{shown(path)} cannot be written: {error.strerror or error}; name a file elsewhere, "
            "or make room and permission for it."
        ) from error


def _check_not_input(path: Path, source: Path) -> None:
    """Refuse an output that is an input, or that would be read as part of one next time."""
    if source.is_dir():
        if path.resolve().is_relative_to(source.resolve()):
            raise ValueError(
                f"The output {shown(path)} is in the input folder {shown(source)}; name a file "
                "elsewhere for the output."
            )
    elif path.exists() and source.exists() and path.samefile(source):
        raise ValueError(
            f"The output {shown(path)} would overwrite the input {shown(source)}; name another "
            "file for the output."
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
        with blaming(path), path.open("wb") as pipe:
            pipe.write(content.getbuffer())
        return
    goal = _resolved(path)  # so that a link stays a link
    unfinished = _beside(goal)
    try:
        with blaming(path, instead_of=unfinished):
            with unfinished.open("xb") as stream:
                _permit_as(goal, stream)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(goal)
    except BaseException:  # an interrupt too
        unfinished.unlink(missing_ok=True)
        raise


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:  # how Python before 3.13 tells of links that lead to each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path)) from None


def _beside(path: Path) -> Path:
    """Return a name in the same folder that nothing has yet, and that is no longer than allowed."""
    ending = f".{secrets.token_hex(4)}.part"
    room = _LONGEST_NAME - len(ending) - 1
    name = os.fsdecode(os.fsencode(path.name)[:room])
    return path.with_name(f".{name}{ending}")


@contextmanager
def blaming(path: PathName, instead_of: PathName | None = None) -> Iterator[None]:
    """Have errors of the system that name no file, or one that nobody asked for, name `path`.

    Parameters
    ----------
    path : path
        What the user called the file.
    instead_of : path, optional
        What we called it meanwhile.
    """
    try:
        yield
    except OSError as error:
        ours = error.filename is None or (
            instead_of is not None and os.fspath(error.filename) == os.fspath(instead_of)
        )
        if error.errno is None or not ours:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


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
