"""The container of a model: a zip archive whose members are stored as they are, within limits.

Nothing is compressed, so that no file can be larger inside than it is outside. What the directory
of an archive says is checked before any member is read; a member is read when it is asked for.
"""

import io
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self

from likewise.io.modelfile.failures import UnfitError

__all__ = ["LARGEST", "Archive", "NotAnArchiveError", "parse_json"]

LARGEST = 200 * 2**20
"""Bytes of a model file: a forged one takes no more memory than that to be refused."""
_PIECE = 2**20
"""Bytes that are read at once."""
_MOST_MEMBERS = 20_000
_MOST_DIRECTORY_BYTES = 4 * 2**20
_LONGEST_JSON = 32 * 2**20
_MOST_COMMAS = 2_000_000
"""Of a description: each text and each number takes memory and time."""
_MOST_BRACKETS = 500_000
"""And as many names of parts: tables take far more memory than lists."""
_DEEPEST_JSON = 100
_END = struct.Struct("<4s4H2LH")
"""The last bytes of an archive: signature, disks, members, bytes and place of the directory."""
_LARGE_END_BYTES = 20
"""Before these, where a larger directory says that it is to be read instead."""
_MALFORMED = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    LookupError,
)
"""What the zip reader raises where an archive is not what it says."""
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A text, or the begin of one without an end: each byte is looked at once."""
_BRACKET = re.compile(rb"[\[\]{}]")


class NotAnArchiveError(ValueError):
    """A file that is no zip archive, or only the first part of one."""


class Archive:
    """A zip archive whose directory was checked.

    Parameters
    ----------
    stream : binary file that can be read anywhere, of which nobody else reads
    size : int
        Its number of bytes.

    Attributes
    ----------
    sizes : dict from the names of the members to their numbers of bytes
    """

    def __init__(self, stream: BinaryIO, size: int) -> None:
        _check_end(stream, size)
        self._stream = stream
        try:
            self._zip = zipfile.ZipFile(stream)
            members = self._zip.infolist()
        except _MALFORMED as error:
            raise NotAnArchiveError("its directory cannot be read") from error
        self.sizes: dict[str, int] = {}
        for member in members:
            self._check_member(member, size)
            self.sizes[member.filename] = member.file_size
        if sum(self.sizes.values()) > size:
            raise UnfitError("has members that are larger than the file")

    @classmethod
    def of(cls, members: Mapping[str, bytes]) -> "Archive":
        """Make an archive in memory; the same members make the same bytes.

        Parameters
        ----------
        members : dict from names to contents
            Stored as they are, in order.
        """
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return cls(stream, stream.tell())

    @property
    def content(self) -> bytes:
        """The whole file."""
        self._stream.seek(0)
        return self._stream.read()

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """Open a file; what is no file, such as a pipe, is read to its end.

        Parameters
        ----------
        path : Path
        """
        stream: BinaryIO = path.open("rb")
        try:
            if not path.is_file():
                with stream as pipe:
                    stream = io.BytesIO(_read_pipe(pipe))
            size = stream.seek(0, io.SEEK_END)
            return cls(stream, size)
        except BaseException:
            stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._stream.close()

    def _check_member(self, member: zipfile.ZipInfo, size: int) -> None:
        name = member.filename
        if name in self.sizes:
            raise UnfitError(f"has two members called {_short(name)}")
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & ~0x800:
            raise UnfitError(f"has a member {_short(name)} that is compressed or encrypted")
        if member.compress_size != member.file_size:
            raise UnfitError(f"has a member {_short(name)} of two sizes")
        if member.header_offset + member.file_size > size:
            raise UnfitError(f"has a member {_short(name)} beyond its end")

    def check_names(self, expected: set[str]) -> None:
        """Raise unless the members are those that are expected, by name.

        Parameters
        ----------
        expected : set of str
        """
        for name in self.sizes:
            if name not in expected:
                raise UnfitError(f"has a member {_short(name)} that the model does not name")
        for name in sorted(expected):
            if name not in self.sizes:
                raise UnfitError(f"lacks its member {_short(name)}")

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Return a member, or its first bytes.

        Parameters
        ----------
        name : str
        limit : int, optional
            How many bytes to read at most.
        """
        with self._opened(name) as member:
            size = self.sizes[name]
            content = member.read(size if limit is None else min(limit, size))
            if limit is None:
                _check_whole(name, member, len(content) == size)
        return content

    def read_into(self, name: str, start: int, memory: memoryview) -> None:
        """Fill memory with the last bytes of a member, without a copy of all of them.

        Parameters
        ----------
        name : str
        start : int
            Number of bytes to leave out at the begin.
        memory : memoryview
            Of as many bytes as there are then.
        """
        with self._opened(name) as member:
            member.read(start)
            place = 0
            while place < len(memory) and (piece := member.read(_PIECE)):
                memory[place : place + len(piece)] = piece
                place += len(piece)
            _check_whole(name, member, place == len(memory))

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self.sizes:
            raise UnfitError(f"lacks its member {_short(name)}")
        try:
            with self._zip.open(name) as member:
                yield member
        except UnfitError:
            raise
        except _MALFORMED as error:
            raise UnfitError(f"is damaged in its member {_short(name)}") from error


def _check_whole(name: str, member: IO[bytes], has_all: bool) -> None:
    member.read(1)  # at the end the checksum is compared
    if not has_all:
        raise UnfitError(f"is cut short in its member {_short(name)}")


def parse_json(content: bytes, *, share: int = 1) -> Any:
    """Return what a JSON text says, if it is short and flat enough to be read at no risk.

    It is ASCII, as we write it: one other character in a text makes four bytes of each.

    Parameters
    ----------
    content : bytes
    share : int
        How many times less than the whole model's it may be.
    """
    if len(content) > _LONGEST_JSON // share:
        raise UnfitError(f"has more text ({len(content):,} bytes) than a model needs")
    if max(content.count(b","), content.count(b'"') // 2) > _MOST_COMMAS // share:
        raise UnfitError("has more parts than a model needs")
    marks = _TEXT.sub(b"", content)
    brackets = _BRACKET.findall(marks)
    if max(len(brackets), marks.count(b":")) > _MOST_BRACKETS:
        raise UnfitError("has more parts than a model needs")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > _DEEPEST_JSON:
            raise UnfitError("is nested deeper than a model is")
    try:
        return json.loads(
            content.decode("ascii"), parse_constant=_refuse, object_pairs_hook=_distinct
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, UnfitError):
            raise
        raise UnfitError("has a description that is no JSON text") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnfitError("has a description that says one thing twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _check_end(stream: BinaryIO, size: int) -> None:
    """Refuse a directory that is too long, or not at the end of the file, before it is read."""
    stream.seek(0)
    if stream.read(4) != b"PK\x03\x04" or size < _END.size:
        raise NotAnArchiveError("it does not begin like one")
    if size > LARGEST:
        raise UnfitError(f"is larger ({size:,} bytes) than a model is")
    stream.seek(size - _END.size)
    signature, disk, first, here, members, length, place, comment = _END.unpack(stream.read())
    if signature != b"PK\x05\x06" or (disk, first, comment) != (0, 0, 0):
        raise NotAnArchiveError("it does not end like one")
    if here != members or place + length + _END.size != size:
        raise NotAnArchiveError("its directory is not at its end")
    stream.seek(max(0, size - _END.size - _LARGE_END_BYTES))
    if stream.read(4) == b"PK\x06\x07":  # of archives of many gigabytes: it would count instead
        raise NotAnArchiveError("its directory is at another place, too")
    if members > _MOST_MEMBERS or length > _MOST_DIRECTORY_BYTES:
        raise UnfitError("has more members than a model has")


def _read_pipe(stream: BinaryIO) -> bytes:
    start = stream.read(4)
    if start != b"PK\x03\x04":  # of something endless no more is read
        return start
    return start + stream.read(LARGEST)


def _short(name: str) -> str:
    return ascii(name if len(name) <= 60 else f"{name[:57]}...")
