"""Objects that a user brought, of types in no table: a skops file that needs trust by name.

Every type in it must be trusted, scikit-learn's too: what libraries do with the arrays of a file
that somebody made up, nobody knows. The names are read off the file before skops sees it.
"""

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from likewise.io.modelfile.archive import Archive, NotAnArchiveError, parse_json
from likewise.io.modelfile.contract import expect
from likewise.io.modelfile.failures import UnfitError
from likewise.io.wording import first_line

__all__ = ["brought_bytes", "load_brought", "types_in"]

_HARMLESS = frozenset(
    {
        "builtins.NoneType",
        "builtins.bool",
        "builtins.bytes",
        "builtins.dict",
        "builtins.float",
        "builtins.int",
        "builtins.list",
        "builtins.set",
        "builtins.slice",
        "builtins.str",
        "builtins.tuple",
        "collections.OrderedDict",
        "numpy.bool",
        "numpy.float32",
        "numpy.float64",
        "numpy.int32",
        "numpy.int64",
        "numpy.ndarray",
        "numpy.str_",
        "numpy.uint32",
        "numpy.uint64",
        "numpy.uint8",
    }
)
"""Plain values, which need no trust where a reader of plain values reads them."""
_HARMLESS_READERS = frozenset(
    {
        "BytesNode",
        "DictNode",
        "JsonNode",
        "ListNode",
        "NdArrayNode",
        "SetNode",
        "SliceNode",
        "TupleNode",
        "TypeNode",
    }
)
_SHARE = 4
"""Of a model's text: arrays beside it take memory too."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_MOST_NAMES = 200
_LONGEST_NAMES = 10_000
"""Characters of all names together, which are told to whoever is to trust them."""
_HEADER_LIMIT = 12_000
"""Bytes from which numpy reads the header of every array."""


def brought_bytes(objects: Sequence[Any]) -> bytes:
    """Return objects as a skops file.

    Parameters
    ----------
    objects : sequence
    """
    import skops.io

    content: bytes = skops.io.dumps(list(objects))
    return content


def types_in(content: bytes) -> list[str]:
    """Return the full names of all types that a skops file holds, except plain values.

    Parameters
    ----------
    content : bytes
    """
    try:
        with Archive(io.BytesIO(content), len(content)) as archive:
            names = set(_names(parse_json(archive.read("schema.json"), share=_SHARE)))
    except NotAnArchiveError as error:
        raise UnfitError("is no skops file") from error
    is_short = len(names) <= _MOST_NAMES and sum(map(len, names)) <= _LONGEST_NAMES
    if not is_short or not all(_NAME.fullmatch(name) for name in names):
        raise UnfitError("names types that cannot be")
    return sorted(names - _HARMLESS)


def _check_arrays(content: bytes) -> None:
    """Check the headers of arrays, which numpy takes long for if there are many."""
    with Archive(io.BytesIO(content), len(content)) as archive:
        for member, size in archive.sizes.items():
            if member.endswith(".npy"):
                _check_array(archive.read(member, _HEADER_LIMIT), size)


def _check_array(start: bytes, size: int) -> None:
    """Refuse an array, of whatever type, that has another size than its header says."""
    stream = io.BytesIO(start)
    try:
        version = np.lib.format.read_magic(stream)
        expect(version in ((1, 0), (2, 0)), "has an array of an unknown version")
        read = np.lib.format.read_array_header_1_0
        read = np.lib.format.read_array_header_2_0 if version == (2, 0) else read
        shape, _, dtype = read(stream)
    except UnfitError:
        raise
    except Exception as error:  # whatever is wrong with a header
        raise UnfitError("has an array with a damaged header") from error
    needed = stream.tell() + math.prod(shape) * dtype.itemsize
    expect(not dtype.hasobject and needed == size, "has an array of another size than it says")


def _names(node: Any) -> Iterator[str]:
    """Yield the name of every type, function and method that a skops file names."""
    if isinstance(node, list):
        for one in node:
            yield from _names(one)
    if not isinstance(node, dict):
        return
    for module, name in (("__module__", "__class__"), ("module_path", "function")):
        if module in node or name in node:
            found = f"{node.get(module)}.{node.get(name)}"
            reader = node.get("__loader__")
            is_plain = found not in _HARMLESS or reader in _HARMLESS_READERS
            expect(is_plain, "has a plain value that is to be read as something else")
            yield found
    for one in node.values():
        yield from _names(one)


def load_brought(content: bytes, trusted: Sequence[str]) -> list[Any]:
    """Return the objects in a skops file, all types of which are trusted.

    Parameters
    ----------
    content : bytes
    trusted : sequence of str
        Among them all that `types_in` returned.
    """
    import skops.io

    try:
        with warnings.catch_warnings(action="ignore"):
            _check_arrays(content)
            found = skops.io.loads(content, trusted=list(trusted))
    except UnfitError:
        raise
    except Exception as error:
        raise UnfitError(f"cannot be read ({first_line(error)[:200]})") from error
    if not isinstance(found, list):
        raise UnfitError("is no list of objects")
    return found
