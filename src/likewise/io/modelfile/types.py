"""Types in model files: which attributes an object of each has, and how one is built.

An object is read as a record of checked values; when all of a model was read, the records are made
into objects by setting attributes, so that no constructor and no other code sees a value before it
was checked.
"""

# ruff: noqa: D102 - `Kind`, `Writer` and `Reader` say what the methods do

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from likewise.io.modelfile.composites import check_keys
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
from likewise.io.wording import first_line

__all__ = ["Of", "Record", "Type", "Unfitted", "build", "type_name"]

_NEVER_KEPT = frozenset({"memory", "n_jobs", "verbose", "warm_start", "_metadata_request"})
"""Parameters that could act when a model is used; a loaded one has their defaults."""

Values = dict[str, Any]


def _no_check(values: Values) -> None:
    """Have nothing to compare."""


def _as_they_are(values: Values) -> Values:
    return values


def _unknown(values: Values) -> tuple[int | None, int | None]:
    return None, None


@dataclass(frozen=True, eq=False)
class Type:
    """A type of objects that a model file may hold.

    Attributes
    ----------
    home : str
        Its module.
    name : str
        Its name there.
    parameters : dict from str to Kind
        Attributes that an object has before it is fitted. Those that are not here keep their
        defaults; an object in which they have other values cannot be written.
    fitted : dict from str to Kind
        Attributes that a fitted object has beside them.
    optional : dict from str to Kind
        Attributes that a fitted object may have.
    derived : set of str
        Attributes that follow from others, or that are not kept.
    check_parameters : callable
        Raises `UnfitError` if the parameters of an object, fitted or not, do not fit each other.
    check : callable
        Raises `UnfitError` if the values of a fitted object do not fit each other.
    finish : callable
        Returns all attributes of a fitted object, derived ones too, from those in the file.
    unpacked : callable
        Returns the attributes of an object as they are written, where these are others.
    width : callable
        From the values of a fitted transformer: how many columns it takes and gives, None where
        that is not known.
    """

    home: str
    name: str
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    fitted: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    derived: frozenset[str] = frozenset()
    check_parameters: Callable[[Values], None] = _no_check
    check: Callable[[Values], None] = _no_check
    finish: Callable[[Values], Values] = _as_they_are
    unpacked: Callable[[Any], Values] = vars
    width: Callable[[Values], tuple[int | None, int | None]] = _unknown

    def kinds(self, is_fitted: bool) -> dict[str, Kind]:
        """Return the kinds of all attributes."""
        more = {**self.fitted, **self.optional} if is_fitted else {}
        return {**self.parameters, **more}

    def required(self, is_fitted: bool) -> set[str]:
        """Return the names of attributes that must be there."""
        return set(self.parameters) | (set(self.fitted) if is_fitted else set())

    def load(self) -> type[Any]:
        """Return the type itself."""
        found: type[Any] = getattr(import_module(self.home), self.name)
        return found

    def pack(self, value: Any, out: Writer, is_fitted: bool) -> dict[str, Any]:
        """Return the nodes of an object's attributes."""
        scope = Scope(is_fitted=is_fitted)
        values = self.unpacked(value) if is_fitted else vars(value)
        kinds = self.kinds(is_fitted)
        self._check_rest(value, values, kinds, is_fitted)
        nodes = {}
        for name, kind in kinds.items():
            if name not in values:
                expect(name in self.optional, f"lacks a part: {name}")
                continue
            with within(name):
                nodes[name] = kind.pack(values[name], out, scope)
        return nodes

    def _check_rest(
        self, value: Any, values: Values, kinds: Mapping[str, Kind], is_fitted: bool
    ) -> None:
        """Refuse to write an object of which something would be lost that matters."""
        defaults = _defaults(type(value))
        for name, one in values.items():
            if name in kinds or name in self.derived or name in _NEVER_KEPT:
                continue
            if name in defaults:
                expect(_is_same(one, defaults[name]), f"has a {name} that is not its default")
            else:
                expect(not is_fitted, f"has an attribute {name} that models do not have")

    def read(self, nodes: Any, source: Reader, is_fitted: bool) -> "Record":
        """Return the checked values of an object."""
        expect(isinstance(nodes, dict), "is no object")
        kinds = self.kinds(is_fitted)
        check_keys(nodes, self.required(is_fitted), set(kinds))
        scope = Scope(is_fitted=is_fitted)
        values = {}
        for name, kind in kinds.items():
            if name in nodes:
                with within(name):
                    values[name] = kind.read(nodes[name], source, scope)
        self.check_parameters(values)
        if is_fitted:
            self.check(values)
        return Record(self, values, is_fitted)


@dataclass(frozen=True, eq=False)
class Record:
    """The checked values of an object that is not built yet."""

    type: Type
    values: Values
    is_fitted: bool

    @cached_property
    def width(self) -> tuple[int | None, int | None]:
        """How many columns a transformer takes and gives; None where that is not known."""
        return self.type.width(self.values) if self.is_fitted else (None, None)


@dataclass(frozen=True, eq=False)
class Of:
    """An object of one of some types.

    Parameters
    ----------
    types : callable
        Returns the types; asked when they are needed, since types may hold each other.
    """

    types: Callable[[], Iterable[Type]]

    def takes(self, value: Any) -> bool:
        return self._type_of(value) is not None

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        found = self._type_of(value)
        if found is None:
            raise UnfitError(f"cannot be {type_name(type(value))}")
        try:
            return {"object": [found.name, found.pack(value, out, scope.is_fitted)]}
        except UnfitError as error:
            # Nobody brought a classifier of ours: there it is a mistake, not another way to save.
            error.is_final |= found.home.startswith("likewise.classifiers")
            raise

    def suits(self, node: Any) -> bool:
        return is_tagged(node, "object")

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        expect(self.suits(node), "is no object")
        pair = node["object"]
        expect(isinstance(pair, list) and len(pair) == 2, "is no object")
        by_name = {one.name: one for one in self.types()}
        is_known = isinstance(pair[0], str) and pair[0] in by_name
        expect(is_known, f"holds a type that it cannot hold: {str(pair[0])[:60]!a}")
        return by_name[pair[0]].read(pair[1], source, scope.is_fitted)

    def _type_of(self, value: Any) -> Type | None:
        name = type_name(type(value))
        return next((one for one in self.types() if f"{one.home}.{one.name}" == name), None)


@dataclass(frozen=True, eq=False)
class Unfitted:
    """An object as it is before it is fitted, whether it is or not."""

    kind: Kind

    def takes(self, value: Any) -> bool:
        return self.kind.takes(value)

    def pack(self, value: Any, out: Writer, scope: Scope) -> Any:
        return self.kind.pack(value, out, Scope(is_fitted=False))

    def suits(self, node: Any) -> bool:
        return self.kind.suits(node)

    def read(self, node: Any, source: Reader, scope: Scope) -> Any:
        return self.kind.read(node, source, Scope(is_fitted=False))


def build(value: Any, brought: list[Any]) -> Any:
    """Make checked values into objects.

    Parameters
    ----------
    value : Record, or any other checked value
    brought : list
        Objects that the user brought and trusts.
    """
    if isinstance(value, BroughtPart):
        return brought[value.number]
    if isinstance(value, list | tuple):
        return type(value)(build(one, brought) for one in value)
    if isinstance(value, dict):
        return {name: build(one, brought) for name, one in value.items()}
    if not isinstance(value, Record):
        return value
    kind = value.type.load()
    built = {name: build(one, brought) for name, one in value.values.items()}
    whole = value.type.finish(built) if value.is_fitted else built
    found = object.__new__(kind)
    # Also of frozen data classes, whose attributes are there too.
    found.__dict__.update({**_defaults(kind), **whole})
    _check_parameters(found)
    return found


def _check_parameters(built: Any) -> None:
    """Refuse parameters that no fit takes, by the table that every estimator has of its own."""
    from likewise._sklearn import InvalidParameterError, validate_parameter_constraints

    constraints = getattr(built, "_parameter_constraints", None)
    if constraints is None:
        return
    name = type(built).__name__
    try:
        validate_parameter_constraints(constraints, built.get_params(deep=False), name)
    except InvalidParameterError as error:
        raise UnfitError(f"cannot have been fitted ({first_line(error)})") from error


def type_name(kind: type) -> str:
    """Return the full name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _defaults(kind: type) -> Values:
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other) or isinstance(one, np.ndarray):
        return False
    return bool(one == other) or bool(one != one and other != other)  # noqa: PLR0124 - NaN
