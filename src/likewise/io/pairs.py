"""Files of pairs: which rows of a table belong together, or do not."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import Column, as_text, import_pyarrow
from likewise.io.columns import column_names, read_columns
from likewise.io.files import PathName
from likewise.io.tables import Table
from likewise.io.wording import counted, listed

__all__ = ["Pairs", "read_pairs"]

_SAME = {"same", "similar", "must link"}
_DIFFERENT = {"different", "dissimilar", "cannot link"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Row numbers of paired rows, integer arrays of shape (n, 2)."""

    similar: NDArray[np.int64]
    dissimilar: NDArray[np.int64]


def read_pairs(path: PathName, table: Table) -> Pairs:
    """Read which rows of a table belong together, or do not.

    Parameters
    ----------
    path : path
        A CSV or Parquet file with columns ``left`` and ``right`` of ids and, if not all pairs are
        similar, ``relation``: same, similar or must-link against different, dissimilar or
        cannot-link.
    table : Table
        The rows that the ids mean. Ids are compared as text.

    Returns
    -------
    Pairs
    """
    path = Path(path)
    columns = _pair_columns(path)
    left, right = (as_text(columns[side]) for side in ("left", "right"))
    if not len(left):
        raise ValueError(f"{path} has no pairs; at least one is needed.")
    rows = _look_up(path, table, left, right)
    selves = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if selves.size:
        raise ValueError(
            f"{path}, row {selves[0] + 1}: {left[int(selves[0])].as_py()!r} is paired with itself; "
            "a pair needs two different rows."
        )
    same = _relations(path, columns.get("relation"), len(rows))
    _check_consistent(path, table, rows, same)
    return Pairs(similar=rows[same], dissimilar=rows[~same])


def _pair_columns(path: Path) -> dict[str, Column]:
    names = column_names(path)
    columns = read_columns(path, text_columns=names)
    tidy = {name.strip().lower(): column for name, column in columns.items()}
    lacking = [side for side in ("left", "right") if side not in tidy]
    if lacking:
        raise ValueError(
            f"{path} has no column {listed(lacking)}; a file of pairs has columns left, right and, "
            f"if need be, relation, but this one has {listed(names)}."
        )
    return tidy


def _look_up(path: Path, table: Table, left: Column, right: Column) -> NDArray[np.int64]:
    """Return row numbers of shape (n, 2), or name the ids that are not in the table."""
    pc = import_pyarrow().compute
    found = [
        pc.fill_null(pc.index_in(side, value_set=table.keys), -1).to_numpy(zero_copy_only=False)
        for side in (left, right)
    ]
    rows = np.column_stack(found).astype(np.int64)
    if rows.min() >= 0:
        return rows
    unknown = pc.unique(
        import_pyarrow().concat_arrays(
            [side.filter(index < 0) for side, index in zip((left, right), found, strict=True)]
        )
    )
    examples = [
        f"{side[int(row)].as_py()!r} (row {row + 1})"
        for row in np.flatnonzero((rows < 0).any(axis=1))[:3]
        for side, index in zip((left, right), found, strict=True)
        if index[row] < 0
    ]
    raise ValueError(
        f"{path} names {counted(len(unknown), 'id')} not found in {table.path} (ids are compared "
        f"as text), such as {', '.join(examples[:3])}."
    )


def _relations(path: Path, relation: Column | None, n_pairs: int) -> NDArray[np.bool_]:
    """Return which pairs are similar; without a relation column, all are."""
    if relation is None:
        return np.ones(n_pairs, dtype=np.bool_)
    encoded = import_pyarrow().compute.fill_null(as_text(relation), "").dictionary_encode()
    meaning = np.array([_meaning(word) for word in encoded.dictionary.to_pylist()])
    same = meaning[encoded.indices.to_numpy(zero_copy_only=False)]
    odd = np.flatnonzero(same < 0)
    if odd.size:
        raise ValueError(
            f"{path}, row {odd[0] + 1}: the relation is {encoded[int(odd[0])].as_py()!r}, but it "
            "must be 'same' or 'different'."
        )
    return np.asarray(same == 1)


def _meaning(word: str) -> int:
    """Return 1 for same, 0 for different, -1 for neither."""
    tidy = word.strip().lower().replace("-", " ").replace("_", " ")
    if tidy in _SAME:
        return 1
    return 0 if tidy in _DIFFERENT else -1


def _check_consistent(
    path: Path, table: Table, rows: NDArray[np.int64], same: NDArray[np.bool_]
) -> None:
    codes = rows.min(axis=1) * len(table) + rows.max(axis=1)  # one number per unordered pair
    both = np.intersect1d(codes[same], codes[~same])
    if both.size:
        first, second = (table.keys[int(row)].as_py() for row in divmod(int(both[0]), len(table)))
        raise ValueError(
            f"{path} says of {first!r} and {second!r} both that they are of the same class and "
            f"that they differ ({counted(both.size, 'such pair')} in all)."
        )
