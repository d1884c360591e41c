"""Files of statements: which rows of a table are alike, or differ, as pairs or as groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.io.answers import is_answer_file, read_answers
from likewise.io.arrow import Column, import_pyarrow
from likewise.io.files import PathName
from likewise.io.lookup import check_filled, find_rows, text_columns
from likewise.io.tables import Table
from likewise.io.wording import counted, listed, shown

__all__ = ["STATEMENT_COLUMNS", "Pairs", "read_pairs", "relation_code"]

_SAME = {"same", "similar", "must link"}
_DIFFERENT = {"different", "dissimilar", "cannot link"}
STATEMENT_COLUMNS = ("left", "right", "relation", "id", "group")
"""Columns of a file of statements that mean something."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a file says about the rows of a table, by row numbers.

    Attributes
    ----------
    similar : integer array of shape (n, 2), or list of integer arrays
        Pairs of rows that are alike, or groups of two rows or more.
    dissimilar : integer array of shape (n, 2)
        Pairs of rows that differ.
    notes : tuple of str
        What a reader of the file should know.
    """

    similar: Sequence[NDArray[np.int64]] | NDArray[np.int64]
    dissimilar: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of statements."""
        return len(self.similar) + len(self.dissimilar)

    @property
    def are_groups(self) -> bool:
        """Whether the file is one of groups."""
        return isinstance(self.similar, list)

    def statement(self, number: int) -> tuple[NDArray[np.int64], str]:
        """Return rows and relation of a statement; similar ones are numbered first."""
        n_similar = len(self.similar)
        if number < n_similar:
            return np.asarray(self.similar[number]), "same"
        return self.dissimilar[number - n_similar], "different"


def read_pairs(path: PathName, table: Table) -> Pairs:
    """Read which rows of a table are alike, or differ.

    Parameters
    ----------
    path : path
        A CSV or Parquet file, or a folder of Parquet files, of pairs or of groups. Pairs
        have the columns ``left`` and ``right`` of ids and, if not all pairs are similar,
        ``relation``: same, similar or must-link against different, dissimilar or cannot-link.
        Groups have the columns ``id`` and ``group``: all ids with one value of ``group`` are alike.
        Or a database that ``likewise ask`` made: its answers in force, one per pair.
    table : Table
        The rows that the ids mean. Ids are compared as text.

    Returns
    -------
    Pairs
    """
    path = Path(path)
    if not path.is_dir() and is_answer_file(path):
        return _read_answers(path, table)
    columns, names = text_columns(path, STATEMENT_COLUMNS)
    return _pairs_of(path, table, columns, names)


def _read_answers(path: Path, table: Table) -> Pairs:
    pa = import_pyarrow()
    columns, notes = read_answers(path)
    arrays = {name: pa.array(values, pa.large_string()) for name, values in columns.items()}
    return replace(_pairs_of(path, table, arrays, tuple(arrays)), notes=notes)


def _pairs_of(
    path: Path, table: Table, columns: Mapping[str, Column], names: Sequence[str]
) -> Pairs:
    if not {"left", "right"} & set(columns) and {"id", "group"} <= set(columns):
        return _read_groups(path, table, columns["id"], columns["group"])
    lacking = [side for side in ("left", "right") if side not in columns]
    if lacking:
        raise ValueError(
            f"{shown(path)} has no column {listed(lacking)}; a file of pairs has columns left, "
            "right and, if need be, relation, a file of groups id and group, but this one has "
            f"{listed(names)}."
        )
    return _read_pairs(path, table, columns)


def _read_pairs(path: Path, table: Table, columns: Mapping[str, Column]) -> Pairs:
    left, right = columns["left"], columns["right"]
    if not len(left):
        raise ValueError(f"{shown(path)} has no pairs; at least one is needed.")
    rows = find_rows(path, table, left, right)
    selves = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if selves.size:
        name = left[int(selves[0])].as_py()
        raise ValueError(
            f"{shown(path)}, row {selves[0] + 1}: {listed([name])} is paired with itself; a pair "
            "needs two different rows."
        )
    same = _relations(path, columns.get("relation"), len(rows))
    return Pairs(similar=rows[same], dissimilar=rows[~same])


def _relations(path: Path, relation: Column | None, n_pairs: int) -> NDArray[np.bool_]:
    """Return which pairs are similar; without a relation column, all are."""
    if relation is None:
        return np.ones(n_pairs, dtype=np.bool_)
    encoded = import_pyarrow().compute.fill_null(relation, "").dictionary_encode()
    meaning = np.array([relation_code(word) for word in encoded.dictionary.to_pylist()])
    same = meaning[encoded.indices.to_numpy(zero_copy_only=False)]
    odd = np.flatnonzero(same < 0)
    if odd.size:
        word = encoded[int(odd[0])].as_py()
        raise ValueError(
            f"{shown(path)}, row {odd[0] + 1}: the relation is {listed([word])}, but it "
            "must be 'same' or 'different'."
        )
    return np.asarray(same == 1)


def relation_code(word: str) -> int:
    """Return 1 for same, 0 for different, -1 for neither.

    Parameters
    ----------
    word : str
    """
    tidy = word.strip().lower().replace("-", " ").replace("_", " ")
    if tidy in _SAME:
        return 1
    return 0 if tidy in _DIFFERENT else -1


def _read_groups(path: Path, table: Table, ids: Column, group: Column) -> Pairs:
    if not len(ids):
        raise ValueError(f"{shown(path)} has no groups; at least one of two ids is needed.")
    check_filled(path, "group", group)
    rows = find_rows(path, table, ids)[:, 0]
    encoded = group.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    # An id that is in a group twice is in it once; both orders stay those of the file.
    keys = codes * len(table) + rows
    once = np.sort(np.unique(keys, return_index=True)[1])
    order = once[np.argsort(codes[once], kind="stable")]
    sizes = np.bincount(codes[order])
    groups = np.split(rows[order], np.cumsum(sizes)[:-1])
    kept = [members for members in groups if members.size > 1]
    if not kept:
        raise ValueError(
            f"{shown(path)} has no group with two different ids, so that it says nothing."
        )
    alone = np.flatnonzero(sizes == 1)
    notes: tuple[str, ...] = ()
    if alone.size:
        names = [encoded.dictionary[int(code)].as_py() for code in alone]
        notes = (
            f"{shown(path)}: {counted(alone.size, 'group')} with one id each say nothing: "
            f"{listed(names, 3)}.",
        )
    return Pairs(kept, np.zeros((0, 2), dtype=np.int64), notes)
