"""Columns of several Parquet files: one type for each that holds the values of all files.

Types are known from the ends of the files; no value is looked at. Numbers widen, kinds of text are
one, and anything else must be the same in every file: what is cast in silence learns wrong.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from likewise.io.arrow import import_pyarrow, is_number, is_text, type_word
from likewise.io.wording import listed, shown

__all__ = ["Schemas", "check_names"]


class Schemas:
    """The schemas of files with rows, in order.

    Files without rows say nothing of types: who writes an empty table does not know them.

    Parameters
    ----------
    files : (path, schema) pairs
        Paths are those that messages name.
    """

    def __init__(self, files: Iterable[tuple[str, Any]]) -> None:
        distinct: list[tuple[str, Any]] = []
        for path, schema in files:
            # Mostly all schemas are one, so that a file costs one comparison.
            if not any(schema.equals(known) for _, known in distinct):
                check_names(path, schema.names)
                distinct.append((path, schema))
        self._files = [
            (path, {field.name: _plain(field.type) for field in schema})
            for path, schema in distinct
        ]
        self.names = tuple(dict.fromkeys(name for _, types in self._files for name in types))
        """All columns: those of the first file, then what others have besides."""
        self._agreed: dict[str, Any] = {}

    def type_of(self, name: str) -> Any:
        """Return the type that holds a column of all files, or say which two files disagree."""
        if name not in self._agreed:
            self._agreed[name] = self._agree(name)
        return self._agreed[name]

    def _agree(self, name: str) -> Any:
        self._check_present(name)
        first_path, first = self._files[0][0], import_pyarrow().null()
        agreed = first
        for path, types in self._files:
            found = types[name]
            wider = _widened(agreed, found)
            if wider is None:
                raise ValueError(
                    f"{shown(path)}, column {listed([name])}: values of type {type_word(found)}, "
                    f"but in {shown(first_path)} they are of type {type_word(first)}; store the "
                    "column alike in all files, or leave it out."
                )
            if _is_null(first):
                first_path, first = path, found
            agreed = wider
        return agreed

    def _check_present(self, name: str) -> None:
        having = [path for path, types in self._files if name in types]
        for path, types in self._files:
            if name not in types:
                raise ValueError(
                    f"{shown(path)} has no column {listed([name])}, which {shown(having[0])} has; "
                    "give all files the same columns, or leave it out."
                )


def check_names(path: object, names: Sequence[str]) -> None:
    """Refuse a file in which two columns have one name.

    Parameters
    ----------
    path : path
        For the message.
    names : names
        Of its columns.
    """
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"{shown(path)} has more than one column called {listed(twice)}.")


def _plain(kind: Any) -> Any:
    """Return the type of the values themselves: not how they are packed."""
    pa = import_pyarrow()
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    return pa.large_string() if is_text(kind) else kind


def _is_null(kind: Any) -> bool:
    return bool(import_pyarrow().types.is_null(kind))


def _widened(one: Any, other: Any) -> Any:
    """Return the type that holds values of two types, or None if there is none."""
    if _is_null(one) or one.equals(other):
        return other
    if _is_null(other):
        return one
    if is_number(one) and is_number(other):
        return _wider_number(one, other)
    return None


def _wider_number(one: Any, other: Any) -> Any:
    pa = import_pyarrow()
    types = pa.types
    if types.is_floating(one) and types.is_floating(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    if types.is_integer(one) and types.is_integer(other):
        unsigned = [kind for kind in (one, other) if types.is_unsigned_integer(kind)]
        widest = max(one, other, key=lambda kind: kind.bit_width)
        if len(unsigned) != 1:
            return widest
        return pa.float64() if unsigned[0].bit_width == 64 else pa.int64()
    return pa.float64()
