"""Pairs that name rows of a table: where these stand, and how their members are fetched."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import as_text, first_true, import_pyarrow
from likewise.io.wording import listed, shown


@dataclass(frozen=True, eq=False)
class NamedPairs:
    """Pairs given by ids or row numbers.

    Attributes
    ----------
    left, right : arrays of length n_pairs
        Ids as pyarrow arrays of text, or row numbers as numpy arrays.
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
    """Return the left and the right ids of pairs as pyarrow arrays of text.

    Parameters
    ----------
    pairs : pyarrow table or pandas data frame with columns left and right, or (n, 2) array
    name : str
        What the pairs are, for the messages.
    """
    if hasattr(pairs, "column_names") or hasattr(pairs, "columns"):
        sides = [pairs[side] for side in _sides_of(pairs, name)]
    else:
        array = np.asarray(pairs)
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(
                f"`{name}` must be two sources (A, B), a source with columns left_* and right_*, "
                f"or ids in columns left and right or of shape (n, 2); got shape {array.shape}."
            )
        sides = list(array.T)
    left, right = (text_ids(side, f"`{name}`") for side in sides)
    return left, right


def _sides_of(pairs: Any, name: str) -> tuple[str, str]:
    names = list(getattr(pairs, "column_names", pairs.columns))
    lacking = [side for side in ("left", "right") if side not in names]
    if lacking:
        raise ValueError(
            f"`{name}` has no column {listed(lacking)}; pairs by ids have columns left and right, "
            f"but there are {listed(names)}."
        )
    return "left", "right"


def text_ids(ids: Any, where: str) -> Any:
    """Return ids as one pyarrow array of text.

    Parameters
    ----------
    ids : numpy or pyarrow array, or pandas series
    where : str
        For the message.
    """
    pa = import_pyarrow()
    try:
        found = ids if hasattr(ids, "combine_chunks") else pa.array(ids, from_pandas=True)
    except (pa.ArrowException, UnicodeError) as error:
        raise ValueError(
            f"{where}: ids are of several types, such as text and numbers; make them all text."
        ) from error
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return as_text(found, where)


def positions_by_ids(
    pairs: Mapping[Any, NamedPairs], keys: Any, id_column: str
) -> dict[Any, NDArray[np.intp]]:
    """Return the row numbers of the pairs of each kind, (n_pairs, 2), by the ids of all rows."""
    return {
        part: np.column_stack(
            [pair_positions(side, keys, id_column) for side in (named.left, named.right)]
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
    named, ids : pyarrow arrays of text
    id_column : str
        For the messages.
    """
    pa = import_pyarrow()
    if pa.compute.count_distinct(ids, mode="all").as_py() < len(ids):
        counts = pa.compute.value_counts(ids)
        twice = counts.filter(pa.compute.greater(counts.field("counts"), 1))[0]["values"]
        raise ValueError(
            f"Column {listed([id_column])} holds the id {shown(twice)} more than once."
        )
    positions = pa.compute.index_in(named, value_set=ids)
    unknown = pa.compute.or_(positions.is_null(), named.is_null())
    first = first_true(unknown)
    if first is not None:
        raise ValueError(
            f"Pair {first} names {shown(named[first])}, but there is no such id in column "
            f"{listed([id_column])} ({unknown.true_count} ids of {len(named)} are missing; ids are "
            "compared as text)."
        )
    return np.asarray(positions.to_numpy(), dtype=np.intp)


def check_not_selves(left: Any, right: Any) -> None:
    """Raise if a pair joins a row with itself.

    Parameters
    ----------
    left, right : arrays of length n_pairs
        Row numbers as numpy arrays, or ids as pyarrow arrays of text.
    """
    if isinstance(left, np.ndarray):
        found = np.flatnonzero(left == right)
        first = int(found[0]) if found.size else None
    else:
        first = first_true(import_pyarrow().compute.equal(left, right))
    if first is not None:
        raise ValueError(
            f"Pair {first} joins {shown(left[first])} with itself; a pair needs two different rows."
        )
