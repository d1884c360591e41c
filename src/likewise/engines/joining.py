"""Pairs that name rows of a table: where these stand, and how their members are fetched."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import import_pyarrow


@dataclass(frozen=True, eq=False)
class NamedPairs:
    """Pairs given by ids or row numbers.

    Attributes
    ----------
    left, right : arrays of length n_pairs
        Ids as pyarrow arrays, or row numbers as numpy arrays.
    fetch : callable
        Returns the members of the pairs in the form that an engine reads them in.
    """

    left: Any
    right: Any
    fetch: Callable[[], Any]

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def members(self) -> Any:
        """The members, fetched when they are first read: statements about rows need none."""
        return self.fetch()


def members_of(pairs: Any) -> Any:
    """Return the members of pairs that name them, or of pairs that are rows of their own."""
    return pairs.members if isinstance(pairs, NamedPairs) else pairs


def are_named(pairs: Iterable[Any]) -> bool:
    """Tell whether there are pairs, and all of them name rows."""
    kinds = list(pairs)
    return bool(kinds) and all(isinstance(kind, NamedPairs) for kind in kinds)


def id_columns(pairs: Any, name: str) -> tuple[Any, Any]:
    """Return the left and the right ids of pairs as pyarrow arrays.

    Parameters
    ----------
    pairs : pyarrow table or pandas data frame with columns left and right, or (n, 2) array
    name : str
        What the pairs are, for the messages.
    """
    pa = import_pyarrow()
    if hasattr(pairs, "column_names"):
        left, right = (pairs.column(name).combine_chunks() for name in ("left", "right"))
        return left, right
    if hasattr(pairs, "columns"):
        left, right = (pa.array(pairs[name]) for name in ("left", "right"))
        return left, right
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"`{name}` must be two sources (A, B), a source with columns left_* and right_*, or "
            f"ids in columns left and right or of shape (n, 2); got shape {array.shape}."
        )
    left, right = (pa.array(column) for column in array.T)
    return left, right


def cast_ids(ids: Any, kind: Any, id_column: str) -> Any:
    """Return ids of pairs as a pyarrow array of the type that the table has them in."""
    pa = import_pyarrow()
    try:
        return ids.cast(kind)
    except pa.ArrowException as error:
        raise ValueError(
            f"The pairs name ids of type {ids.type}, but column {id_column!r} is of type {kind}."
        ) from error


def positions_by_ids(
    pairs: Mapping[Any, NamedPairs], ids: Any, id_column: str
) -> dict[Any, NDArray[np.intp]]:
    """Return the row numbers of the pairs of each kind, (n_pairs, 2), by the ids of all rows."""
    return {
        part: np.column_stack(
            [
                pair_positions(cast_ids(side, ids.type, id_column), ids, id_column)
                for side in (named.left, named.right)
            ]
        )
        for part, named in pairs.items()
    }


def positions_by_numbers(pairs: Mapping[Any, NamedPairs]) -> dict[Any, NDArray[np.intp]]:
    """Return the row numbers of pairs that are given by them, (n_pairs, 2) of each kind."""
    return {
        part: np.column_stack([named.left, named.right]).astype(np.intp)
        for part, named in pairs.items()
    }


def pair_positions(named: Any, ids: Any, id_column: str) -> NDArray[np.intp]:
    """Return the row of each named id, given the ids of all rows, as a hash join does.

    Parameters
    ----------
    named, ids : pyarrow arrays of one type
    id_column : str
        For the messages.
    """
    pa = import_pyarrow()
    if len(pa.compute.unique(ids)) < len(ids):
        counts = pa.compute.value_counts(ids)
        twice = counts.filter(pa.compute.greater(counts.field("counts"), 1))[0]["values"]
        raise ValueError(f"Column {id_column!r} holds the id {twice} more than once.")
    positions = pa.compute.index_in(named, value_set=ids)
    if positions.null_count:
        first = int(pa.compute.index(positions.is_null(), True).as_py())
        raise ValueError(
            f"Pair {first} names {named[first]}, but there is no such id in column {id_column!r} "
            f"({positions.null_count} ids of {len(named)} are missing)."
        )
    return np.asarray(positions.to_numpy(), dtype=np.intp)


def check_not_selves(left: NDArray[Any], right: NDArray[Any]) -> None:
    """Raise if a pair joins a row with itself."""
    selves = np.flatnonzero(np.asarray(left) == np.asarray(right))
    if selves.size:
        raise ValueError(
            f"Pair {int(selves[0])} joins {left[selves[0]]} with itself; a pair needs two "
            "different rows."
        )
