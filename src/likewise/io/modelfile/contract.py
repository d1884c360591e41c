"""The contract of the kinds of values that a model file may hold.

A kind turns a value into a node, which JSON can hold, and a node into a checked value. Numbers,
texts, lists and None are nodes themselves; everything else is an object with one key that says
what it is. Nothing is built by a kind.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from likewise.io.modelfile.failures import UnfitError

__all__ = ["BroughtPart", "Kind", "Reader", "Scope", "Writer", "expect", "is_tagged"]


class Writer(Protocol):
    """What takes arrays and brought objects while nodes are made."""

    def add_array(self, array: NDArray[Any]) -> int:
        """Keep an array and return its number."""

    def add_brought(self, value: Any) -> int:
        """Keep an object that is in no table and return its number."""

    def mark(self) -> tuple[int, int]:
        """Return how much was kept so far."""

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was kept since."""


class Reader(Protocol):
    """What gives arrays while nodes are read."""

    n_brought: int

    def header(self, number: int) -> tuple[str, tuple[int, ...]]:
        """Return type and shape of an array."""

    def array(self, number: int) -> NDArray[Any]:
        """Return an array, which is not asked for again."""

    def spend(self, size: int) -> None:
        """Raise if texts take more bytes in memory than they may."""


@dataclass
class Scope:
    """What kinds share inside one object.

    Attributes
    ----------
    sizes : dict
        Sizes that have a name, such as the number of columns: all that have it must agree.
    is_fitted : bool
        Whether estimators here are fitted ones.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    is_fitted: bool = True

    def agree(self, name: str, size: int) -> None:
        """Raise unless a size is what it is elsewhere."""
        if self.sizes.setdefault(name, size) != size:
            raise UnfitError(f"has size {size} where its other parts have {self.sizes[name]}")


@dataclass(frozen=True)
class BroughtPart:
    """The place of an object that the user brought."""

    number: int


class Kind(Protocol):
    """What a value may be."""

    def takes(self, value: Any, /) -> bool:
        """Tell whether a value is of this kind as far as its type tells."""

    def pack(self, value: Any, out: Writer, scope: Scope, /) -> Any:
        """Return the node of a value; raise `UnfitError` if it has none."""

    def suits(self, node: Any, /) -> bool:
        """Tell whether a node is of this kind as far as its form tells."""

    def read(self, node: Any, source: Reader, scope: Scope, /) -> Any:
        """Return the value of a node, checked; raise `UnfitError` if it is not what it may be."""


def is_tagged(node: Any, tag: str) -> bool:
    """Tell whether a node is an object of one key, and that is `tag`."""
    return isinstance(node, dict) and len(node) == 1 and tag in node


def expect(is_so: bool, what: str) -> None:
    """Raise an error that says what is wrong, unless it is as expected."""
    if not is_so:
        raise UnfitError(what)
