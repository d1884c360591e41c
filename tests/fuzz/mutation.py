"""Bytes that are changed at random: what disks, editors and strangers do to files."""

import random
from collections.abc import Callable

__all__ = ["mutated"]

_TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b'""',
    b"'",
    b",",
    b",,",
    b"\t",
    b";",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x1b[31m",
    b"\xc3\x28",
    b"\xe2\x80\xae",
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"1e400",
    b"1e200",
    b"-1e-320",
    b"1_000",
    b"0x10",
    b"TRUE",
    b"NULL",
    b"=1+1",
    b"\xd9\xa1",
    b"99999999999999999999999",
    b" ",
    b"#",
    b"\\",
    b"id",
    b"left",
    b"same",
    b"different",
)


def mutated(draw: random.Random, content: bytes) -> bytes:
    """Return content with one to four changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 4))):
        content = draw.choice(_CHANGES)(draw, content)
    return content


def _flipped(draw: random.Random, content: bytes) -> bytes:
    if not content:
        return content
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]


def _inserted(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice(_TOKENS) + content[at:]


def _replaced_cell(draw: random.Random, content: bytes) -> bytes:
    """Put a token in the place of what stands between two commas or ends of lines."""
    lines = content.split(b"\n")
    row = draw.randrange(len(lines))
    cells = lines[row].split(b",")
    cells[draw.randrange(len(cells))] = draw.choice(_TOKENS)
    lines[row] = b",".join(cells)
    return b"\n".join(lines)


def _huge_cell(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice((b"9", b"x", b"\xc3\xa9")) * 70_000 + content[at:]


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _without_slice(draw: random.Random, content: bytes) -> bytes:
    first, last = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:first] + content[last:]


def _repeated_line(draw: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    lines.insert(draw.randrange(len(lines) + 1), lines[at])
    return b"\n".join(lines)


def _ragged(draw: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    lines[at] = draw.choice((lines[at] + b",1", lines[at].rpartition(b",")[0]))
    return b"\n".join(lines)


def _recoded(draw: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(draw.choice(("utf-16", "utf-16-le", "utf-8-sig", "utf-32")))


def _without_heading(draw: random.Random, content: bytes) -> bytes:
    return content.partition(b"\n")[2]


_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flipped,
    _flipped,
    _inserted,
    _inserted,
    _inserted,
    _replaced_cell,
    _replaced_cell,
    _huge_cell,
    _cut,
    _without_slice,
    _repeated_line,
    _ragged,
    _recoded,
    _without_heading,
)
