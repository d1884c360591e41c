"""A whole model as the members of an archive, and back: all is checked before anything is built."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from likewise._version import __version__
from likewise.io.modelfile.archive import Archive, parse_json
from likewise.io.modelfile.arrays import HEADER_LIMIT, array_bytes, array_of, parse_header
from likewise.io.modelfile.brought import brought_bytes, load_brought, types_in
from likewise.io.modelfile.contract import Scope, expect
from likewise.io.modelfile.failures import within
from likewise.io.modelfile.nested import (
    flow,
    holds_categories,
    last_of,
    needs_names,
    text_columns,
)
from likewise.io.modelfile.own import ESTIMATOR, is_of_classifier
from likewise.io.modelfile.types import Record, build

__all__ = ["FORMAT", "FORMAT_VERSION", "Description", "ReadModel", "members_of", "read_model"]

FORMAT = "likewise-model"
FORMAT_VERSION = 2
_DESCRIPTION = "model.json"
_BROUGHT = "brought.skops"
_MOST_TEXT_BYTES = 64 * 2**20
"""Of all names and arrays of texts."""

Description = Mapping[str, Any]


class _Taken:
    """Arrays and brought objects, as they come."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.brought: list[Any] = []

    def add_array(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def add_brought(self, value: Any) -> int:
        self.brought.append(value)
        return len(self.brought) - 1

    def mark(self) -> tuple[int, int]:
        return len(self.arrays), len(self.brought)

    def back_to(self, mark: tuple[int, int]) -> None:
        del self.arrays[mark[0] :], self.brought[mark[1] :]


class _Given:
    """Arrays of an archive, each read once and when it is asked for."""

    def __init__(self, archive: Archive, numbers: set[int], n_brought: int) -> None:
        self._archive = archive
        self._left = numbers
        self._spent = 0
        self.n_brought = n_brought

    def header(self, number: int) -> tuple[str, tuple[int, ...]]:
        expect(number in self._left, "is an array that is not there, or there twice")
        return self._header(number)[:2]

    def array(self, number: int) -> NDArray[Any]:
        self._left.discard(number)
        dtype, shape, start = self._header(number)

        def fill(memory: memoryview) -> None:
            self._archive.read_into(_member(number), start, memory)

        return array_of(fill, dtype, shape)

    def spend(self, size: int) -> None:
        self._spent += size
        expect(self._spent <= _MOST_TEXT_BYTES, "holds too long names")

    def _header(self, number: int) -> tuple[str, tuple[int, ...], int]:
        name = _member(number)
        return parse_header(self._archive.read(name, HEADER_LIMIT), self._archive.sizes[name])


def _member(number: int) -> str:
    return f"arrays/{number}.npy"


def members_of(estimator: Any, description: Description) -> dict[str, bytes]:
    """Return the members of the archive that holds a model.

    Parameters
    ----------
    estimator : fitted estimator
    description : dict
        What else the model says, as JSON can hold it.
    """
    taken = _Taken()
    with within("estimator"):
        node = ESTIMATOR.pack(estimator, taken, Scope())
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **description,
        "brought": len(taken.brought),
        "estimator": node,
    }
    members = {_DESCRIPTION: json.dumps(content, allow_nan=False).encode()}
    for number, array in enumerate(taken.arrays):
        members[_member(number)] = array_bytes(array)
    if taken.brought:
        members[_BROUGHT] = brought_bytes(taken.brought)
    return members


@dataclass(frozen=True)
class ReadModel:
    """A model of which everything was checked and nothing is built.

    Attributes
    ----------
    description : dict
        What the model says beside its estimator, not checked.
    record : Record or BroughtPart
    brought : bytes or None
        The skops file of what was brought.
    brought_types : list of str
        Types that must be trusted.
    """

    description: Description
    record: Any
    brought: bytes | None
    brought_types: Sequence[str]

    @property
    def n_columns(self) -> int | None:
        """Number of columns that the estimator takes; None where a brought part decides."""
        return self.record.width[0] if isinstance(self.record, Record) else None

    def check_flow(self, n_columns: int) -> None:
        """Raise if parts make far too many columns of those that a table has.

        Parameters
        ----------
        n_columns : int
        """
        with within("estimator"):
            flow(self.record, n_columns, [])

    @property
    def takes_text(self) -> bool:
        """Whether some part takes text, or may do so."""
        return self.brought is not None or bool(self.text_columns) or holds_categories(self.record)

    @property
    def takes_gaps(self) -> bool:
        """Whether the classifier takes cells without a value, or may do so."""
        return self.brought is not None or is_of_classifier(last_of(self.record))

    @property
    def text_columns(self) -> dict[int, str]:
        """Numbers of the columns that must be text, each with a text that is known there."""
        return text_columns(self.record)

    @property
    def needs_names(self) -> bool:
        """Whether columns are chosen by their names."""
        return needs_names(self.record)

    def built(self, trusted: Sequence[str] = ()) -> Any:
        """Build the estimator; code of brought types runs if there are some.

        Parameters
        ----------
        trusted : sequence of str
            Among them all `brought_types`.
        """
        brought: list[Any] = []
        if self.brought is not None:
            with within(_BROUGHT):
                brought = load_brought(self.brought, trusted)
                expect(len(brought) == self.description["brought"], "holds too few objects")
        return build(self.record, brought)


def read_model(archive: Archive) -> ReadModel:
    """Read and check a model, and build nothing.

    Parameters
    ----------
    archive : Archive
    """
    content = parse_json(archive.read(_DESCRIPTION))
    expect(isinstance(content, dict) and content.get("format") == FORMAT, "is no likewise model")
    version = content.get("format_version")
    expect(
        version == FORMAT_VERSION and type(version) is int,
        f"is in a format that likewise {__version__} does not read",
    )
    n_brought = content.get("brought")
    expect(type(n_brought) is int and 0 <= n_brought <= 1000, "lacks a part: brought")
    node = content.get("estimator")
    expect(isinstance(node, dict), "lacks a part: estimator")
    numbers = list(_array_numbers(node))
    names = {_DESCRIPTION, *map(_member, numbers), *([_BROUGHT] if n_brought else [])}
    archive.check_names(names)
    with within("estimator"):
        given = _Given(archive, set(numbers), n_brought)
        record = ESTIMATOR.read(node, given, Scope())
    brought, types = None, []
    if n_brought:
        brought = archive.read(_BROUGHT)
        with within(_BROUGHT):
            types = types_in(brought)
            expect(bool(types), "holds no estimator")
    return ReadModel(content, record, brought, types)


def _array_numbers(node: Any) -> Iterator[int]:
    """Yield the numbers of all arrays that nodes name."""
    if isinstance(node, dict):
        for tag in ("array", "turned"):
            number = node.get(tag)
            if type(number) is int and 0 <= number < 10**6:
                yield number
        node = node.values()
    for one in [one for one in node if isinstance(one, dict | list)]:
        yield from _array_numbers(one)
