"""Kinds of single values and of arrays: what each may be, in type, size and range."""

# ruff: noqa: D102 - `Kind`, `Writer` and `Reader` say what the methods do

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.modelfile.archive import LARGEST
from likewise.io.modelfile.arrays import DTYPES
from likewise.io.modelfile.contract import Reader, Scope, Writer, expect, is_tagged
from likewise.io.modelfile.failures import UnfitError

__all__ = ["LONGEST_TEXT", "Array", "Flag", "Labels", "Nothing", "Number", "Text", "Whole"]

LONGEST_TEXT = 100_000
"""Characters of a text that a model may hold."""
_LARGEST = 1e200
"""Number in an array: columns are below 1e150, and so are their inverses."""
_MOST_LABELS = 100_000
_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class _Plain:
    """A value that is its own node."""

    def takes(self, value: Any) -> bool:
        raise NotImplementedError

    def checked(self, value: Any, scope: Scope) -> Any:
        """Return the value if it is what it may be."""
        raise NotImplementedError

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        return self.checked(value, scope)

    def suits(self, node: Any) -> bool:
        return self.takes(node)

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        return self.checked(node, scope)


@dataclass(frozen=True)
class Nothing(_Plain):
    """None."""

    def takes(self, value: Any) -> bool:
        return value is None

    def checked(self, value: Any, scope: Scope) -> Any:
        expect(value is None, "is not None")


@dataclass(frozen=True)
class Flag(_Plain):
    """True or false."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def checked(self, value: Any, scope: Scope) -> Any:
        expect(self.takes(value), "is neither true nor false")
        return bool(value)


@dataclass(frozen=True)
class Whole(_Plain):
    """A whole number in a range; with a name it is a size that others must agree with."""

    low: int = 0
    high: int = 2**53
    name: str | None = None

    def takes(self, value: Any) -> bool:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)

    def checked(self, value: Any, scope: Scope) -> Any:
        expect(self.takes(value), "is no whole number")
        found = int(value)
        expect(self.low <= found <= self.high, f"is not between {self.low} and {self.high}")
        if self.name is not None:
            scope.agree(self.name, found)
        return found


@dataclass(frozen=True)
class Number:
    """A number in a range; one that is not finite only where that is allowed."""

    low: float = -math.inf
    high: float = math.inf
    any_value: bool = False
    above: bool = False
    """Whether the lower end is left out."""

    def takes(self, value: Any) -> bool:
        is_number = isinstance(value, int | float | np.integer | np.floating)
        return is_number and not isinstance(value, bool)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        found = self._checked(value)
        return found if math.isfinite(found) else {"number": str(found)}

    def suits(self, node: Any) -> bool:
        return self.takes(node) or is_tagged(node, "number")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        if is_tagged(node, "number"):
            name = node["number"]
            expect(isinstance(name, str) and name in _NUMBERS, "is no number")
            node = _NUMBERS[name]
        return self._checked(node)

    def _checked(self, value: Any) -> int | float:
        expect(self.takes(value), "is no number")
        found = int(value) if isinstance(value, int | np.integer) else float(value)
        expect(isinstance(found, float) or abs(found) < 2**63, "is too large a number")
        if self.any_value:
            return found
        expect(math.isfinite(found), "is not finite")
        is_low = found <= self.low if self.above else found < self.low
        expect(not is_low and found <= self.high, f"is {found:g}, which it cannot be")
        return found


@dataclass(frozen=True)
class Text(_Plain):
    """A text; one of some if these are named."""

    choices: tuple[str, ...] = ()

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and (not self.choices or str(value) in self.choices)

    def checked(self, value: Any, scope: Scope) -> Any:
        expect(isinstance(value, str), "is no text")
        if self.choices:
            expect(value in self.choices, f"is none of {', '.join(self.choices)}")
        return plain_text(value)


def plain_text(value: str) -> str:
    """Return a text that can be written and shown: of limited length, without half characters."""
    expect(len(value) <= LONGEST_TEXT, "is too long a text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnfitError("is a text that no file can hold") from error
    return str(value)


@dataclass(frozen=True)
class Array:
    """An array of numbers.

    Parameters
    ----------
    shape : tuple of int, str and None
        Sizes, or names of sizes that must agree with others; None where any will do.
    dtypes : tuple of str
        What the numbers may be.
    low, high : float
    any_value : bool
        Whether numbers may be infinite or NaN.
    above : bool
        Whether the lower end is left out.
    most : int
        How many numbers there may be.
    """

    shape: tuple[int | str | None, ...]
    dtypes: tuple[str, ...] = ("<f8",)
    low: float = -math.inf
    high: float = math.inf
    any_value: bool = False
    above: bool = False
    most: int = LARGEST

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(self.takes(value), "is no array")
        dtype = value.dtype.newbyteorder("<").str
        self._check_form(dtype, value.shape, scope)
        self._check_values(value)
        is_turned = value.flags.f_contiguous and not value.flags.c_contiguous
        return {"turned" if is_turned else "array": out.add_array(value.T if is_turned else value)}

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "array") or is_tagged(node, "turned")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node), "is no array")
        is_turned = "turned" in node
        number = node["turned"] if is_turned else node["array"]
        expect(type(number) is int, "is no array")
        dtype, shape = source.header(number)
        self._check_form(dtype, shape[::-1] if is_turned else shape, scope)
        values = source.array(number)
        self._check_values(values)
        return values.T if is_turned else values

    def _check_form(self, dtype: str, shape: tuple[int, ...], scope: Scope) -> None:
        expect(dtype in self.dtypes, f"holds values of the type {dtype}, not {self.dtypes[0]}")
        expect(len(shape) == len(self.shape), f"has the shape {shape}")
        expect(math.prod(shape) <= self.most, f"has the shape {shape}, larger than a model has it")
        for expected, size in zip(self.shape, shape, strict=True):
            if isinstance(expected, str):
                scope.agree(expected, size)
            else:
                expect(expected in (None, size), f"has the shape {shape}")

    def _check_values(self, values: NDArray[Any]) -> None:
        if self.any_value or not values.size:
            return
        least, largest = values.min().item(), values.max().item()  # of NaN, NaN
        is_finite = least >= -_LARGEST and largest <= _LARGEST
        expect(is_finite, "holds numbers that are not finite, or too large")
        is_low = least <= self.low if self.above else least < self.low
        expect(not is_low and largest <= self.high, "holds numbers that it cannot hold")


@dataclass(frozen=True)
class Labels:
    """An array of distinct classes, names or categories: texts or numbers.

    Parameters
    ----------
    name : str or None
        Of its size.
    numbers : bool
        Whether they may be numbers.
    ascending : bool
        Whether they must be sorted.
    most : int
        How many there may be.
    """

    name: str | None = None
    numbers: bool = True
    ascending: bool = False
    most: int = _MOST_LABELS

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.ndim == 1

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(self.takes(value), "is no array of names")
        if value.dtype.kind not in "OU":
            return self._numbers().pack(value, out, scope)
        tag = "names" if value.dtype.kind == "O" else "texts"
        node = {tag: value.tolist()}
        self._texts(node, tag, scope)
        return node

    def suits(self, node: Any) -> bool:
        return any(is_tagged(node, tag) for tag in ("names", "texts", "array"))

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node), "is no array of names")
        tag = next(iter(node))
        if tag != "array":
            names = self._texts(node, tag, scope)
            sizes = [len(name) for name in names]
            # Objects have a size of their own; in an array of texts all are as long as the longest.
            source.spend(4 * (sum(sizes) if tag == "names" else max(sizes) * len(names)))
            # numpy drops what a text of such an array ends with.
            is_kept = tag == "names" or not any(name.endswith("\0") for name in names)
            expect(is_kept, "holds a name that ends with a zero")
            return np.array(names, dtype=object if tag == "names" else np.str_)
        expect(self.numbers, "holds numbers instead of names")
        found = self._numbers().read(node, source, scope)
        expect(found.size > 0, "holds nothing")
        self._check_order_of_numbers(found)
        return found

    def _numbers(self) -> Array:
        dtypes = tuple(one for one in DTYPES if one != "<f4")
        return Array((self.name,), dtypes, most=self.most)

    def _texts(self, node: dict[str, Any], tag: str, scope: Scope) -> list[str]:
        """Return the names of a node, checked."""
        names = node[tag]
        expect(isinstance(names, list) and bool(names), "is no list of names")
        expect(len(names) <= self.most, f"has {len(names):,} items, more than a model has")
        for one in names:
            expect(isinstance(one, str), "holds a name that is no text")
            plain_text(one)
        self._check_order(names)
        if self.name is not None:
            scope.agree(self.name, len(names))
        return list(names)

    def _check_order_of_numbers(self, numbers: NDArray[Any]) -> None:
        """Check numbers all at once: there may be a hundred million in all."""
        if self.ascending:
            expect(bool(np.all(numbers[:-1] < numbers[1:])), "is not sorted")
        else:
            expect(np.unique(numbers).size == numbers.size, "holds a name twice")

    def _check_order(self, names: list[str]) -> None:
        expect(len(set(names)) == len(names), "holds a name twice")
        if self.ascending:
            pairs = pairwise(names)
            expect(all(one < other for one, other in pairs), "is not sorted")
