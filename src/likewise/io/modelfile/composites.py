"""Kinds that are made of others: lists, tuples, tables, alternatives, and what users brought."""

# ruff: noqa: D102 - `Kind`, `Writer` and `Reader` say what the methods do

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.io.modelfile.contract import (
    BroughtPart,
    Kind,
    Reader,
    Scope,
    Writer,
    expect,
    is_tagged,
)
from likewise.io.modelfile.failures import UnfitError, within
from likewise.io.modelfile.values import Flag, Nothing, Number, Text

__all__ = ["Brought", "Default", "Facts", "Items", "OneOf", "Table", "Tuple", "check_keys"]


@dataclass(frozen=True)
class Items:
    """A list, or a tuple, of values of one kind.

    Parameters
    ----------
    kind : Kind
    as_tuple : bool
    name : str, optional
        Of the number of items, which other sizes must agree with.
    most, least : int
        How many items there may be.
    """

    kind: Kind
    as_tuple: bool = False
    name: str | None = None
    most: int = 1_000_000
    least: int = 0

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple if self.as_tuple else list)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(self.takes(value), "is no list")
        nodes = _each(self.kind.pack, value, out, scope)
        self._check_length(nodes, scope)
        return {"tuple": nodes} if self.as_tuple else nodes

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "tuple") if self.as_tuple else isinstance(node, list)

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node), "is no list")
        nodes = node["tuple"] if self.as_tuple else node
        expect(isinstance(nodes, list), "is no list")
        self._check_length(nodes, scope)
        found = _each(self.kind.read, nodes, source, scope)
        return tuple(found) if self.as_tuple else found

    def _check_length(self, nodes: list[Any], scope: Scope) -> None:
        expect(len(nodes) <= self.most, f"has {len(nodes):,} items, more than a model has")
        expect(len(nodes) >= self.least, f"has {len(nodes):,} items, fewer than a model has")
        if self.name is not None:
            scope.agree(self.name, len(nodes))


def _each(how: Callable[..., Any], items: Sequence[Any], *given: Any) -> list[Any]:
    """Pack or read all items; there may be a million."""
    found: list[Any] = []
    try:
        for one in items:
            found.append(how(one, *given))  # noqa: PERF401 - the number of those before it is told
    except UnfitError as error:
        error.where.append(f"[{len(found)}]")
        raise
    return found


@dataclass(frozen=True)
class Tuple:
    """A tuple of values, each of a kind of its own; a list is taken for one."""

    kinds: tuple[Kind, ...]

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) == len(self.kinds)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(self.takes(value), f"has not {len(self.kinds)} items")
        parts = zip(self.kinds, value, strict=True)
        return {"tuple": [kind.pack(one, out, scope) for kind, one in parts]}

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "tuple")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node) and self.takes(node["tuple"]), f"has not {len(self.kinds)} items")
        parts = zip(self.kinds, node["tuple"], strict=True)
        return tuple(kind.read(one, source, scope) for kind, one in parts)


@dataclass(frozen=True)
class Facts:
    """Plain facts by name: numbers, truth values, texts, None and lists of texts."""

    most: int = 1000

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(self.takes(value), "is no table of facts")
        return {"facts": [[name, _FACT.pack(one, out, scope)] for name, one in value.items()]}

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "facts")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node) and isinstance(node["facts"], list), "is no table of facts")
        expect(len(node["facts"]) <= self.most, "has more facts than a model has")
        found = {}
        for pair in node["facts"]:
            expect(isinstance(pair, list) and len(pair) == 2, "is no table of facts")
            name = Text().read(pair[0], source, scope)
            expect(name not in found, "says one thing twice")
            found[name] = _FACT.read(pair[1], source, scope)
        return found


@dataclass(frozen=True)
class Table:
    """A dictionary of which every key has a kind of its own.

    Parameters
    ----------
    kinds : dict from str to Kind
    """

    kinds: Mapping[str, Kind]

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict) and set(value) == set(self.kinds)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        expect(isinstance(value, dict), "is no table")
        return {"table": self._each("pack", value, out, scope)}

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "table")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node) and isinstance(node["table"], dict), "is no table")
        return self._each("read", node["table"], source, scope)

    def _each(self, how: str, values: dict[str, Any], *given: Any) -> dict[str, Any]:
        check_keys(values, set(self.kinds), set(self.kinds))
        found = {}
        for name, kind in self.kinds.items():
            with within(name):
                found[name] = getattr(kind, how)(values[name], *given)
        return found


def check_keys(values: Mapping[str, Any], required: set[str], possible: set[str]) -> None:
    """Raise unless a table has all the attributes that it must have, and none that it may not."""
    for name in values:
        expect(name in possible, f"has an attribute {name[:60]!a} that it does not have in a model")
    for name in sorted(required):
        expect(name in values, f"lacks a part: {name}")


@dataclass(frozen=True)
class OneOf:
    """A value of any of some kinds; of those that its form suits, the first."""

    kinds: tuple[Kind, ...]

    def takes(self, value: Any) -> bool:
        return any(kind.takes(value) for kind in self.kinds)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        for kind in self.kinds:
            if kind.takes(value):
                return kind.pack(value, out, scope)
        raise UnfitError(f"cannot be {type(value).__name__}")

    def suits(self, node: Any) -> bool:
        return any(kind.suits(node) for kind in self.kinds)

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        for kind in self.kinds:
            if kind.suits(node):
                return kind.read(node, source, scope)
        raise UnfitError("is nothing that it can be")


@dataclass(frozen=True)
class Brought:
    """A value of some kind, or an object that the user brought and must trust.

    Parameters
    ----------
    kind : Kind, optional
    """

    kind: Kind | None = None

    def takes(self, value: Any) -> bool:
        return True

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        if self.kind is not None and self.kind.takes(value):
            mark, sizes = out.mark(), dict(scope.sizes)
            try:
                return self.kind.pack(value, out, scope)
            except UnfitError as error:  # of a type in the table, but made in a way that is not
                if error.is_final:
                    raise
                out.back_to(mark)
                scope.sizes = sizes
        return {"brought": out.add_brought(value)}

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "brought") or (self.kind is not None and self.kind.suits(node))

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        if not is_tagged(node, "brought"):
            expect(self.kind is not None, "is nothing that it can be")
            return self.kind.read(node, source, scope)  # type: ignore[union-attr]
        number = node["brought"]
        is_there = type(number) is int and 0 <= number < source.n_brought
        expect(is_there, "is an object that is not there")
        return BroughtPart(number)


@dataclass(frozen=True)
class Default:
    """A value of some kind; any other is not kept, and comes back as the default.

    Parameters
    ----------
    kind : Kind
    default : object
        A value that is written instead.
    """

    kind: Kind
    default: Any

    def takes(self, value: Any) -> bool:
        return True

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        return self.kind.pack(value if self.kind.takes(value) else self.default, out, scope)

    def suits(self, node: Any) -> bool:
        return self.kind.suits(node)

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        return self.kind.read(node, source, scope)


_FACT = OneOf((Nothing(), Flag(), Number(any_value=True), Text(), Items(Text())))
