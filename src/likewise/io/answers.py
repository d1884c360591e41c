"""Files of answers: what ``likewise ask`` saved, as SQLite; the schema, and how it is read.

An answer is a line that stays. One that was changed or undone is replaced by a later line, which
names it; the answers in force are those that no line replaces.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from likewise.io.wording import counted

__all__ = [
    "APPLICATION_ID",
    "IN_FORCE",
    "LINE_COLUMNS",
    "SCHEMA",
    "UNDONE",
    "VERSION",
    "Line",
    "check_ours",
    "is_answer_file",
    "one_per_pair",
    "pair_of",
    "read_answers",
    "relation_of",
]

Name = TypeVar("Name", str, int)
"""What a row is called: an id of a file, or a number."""

APPLICATION_ID = 0x6C696B65
"""Says that a SQLite file is ours: the letters "like"."""
VERSION = 1
UNDONE = "undone"
"""The relation of a line that takes an answer back."""

SCHEMA = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE answers (
  line INTEGER PRIMARY KEY AUTOINCREMENT,
  time TEXT NOT NULL,
  person TEXT NOT NULL,
  left_id TEXT NOT NULL,
  right_id TEXT NOT NULL CHECK (right_id <> left_id),
  relation TEXT NOT NULL CHECK (relation IN ('same', 'different', 'unsure', '{UNDONE}')),
  reason TEXT NOT NULL,
  replaces INTEGER UNIQUE REFERENCES answers (line),
  request TEXT UNIQUE
);
CREATE INDEX answers_by_pair ON answers (left_id, right_id);
CREATE TRIGGER answers_stay BEFORE DELETE ON answers
BEGIN SELECT RAISE(ABORT, 'answers are never deleted'); END;
CREATE TRIGGER answers_stay_the_same BEFORE UPDATE ON answers
BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""

LINE_COLUMNS = "line, time, person, left_id, right_id, relation, reason, replaces"
IN_FORCE = (
    "relation <> 'undone' AND NOT EXISTS "
    "(SELECT 1 FROM answers AS later WHERE later.replaces = answers.line)"
)

_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Line:
    """One line of the file.

    Attributes
    ----------
    line : int
        Its number, from 1 on.
    time : str
        When it was saved, in UTC.
    person : str
    left, right : str
        Ids of two rows.
    relation : {"same", "different", "unsure", "undone"}
    reason : str
        How the question was chosen.
    replaces : int or None
        The line that is no longer in force because of this one.
    """

    line: int
    time: str
    person: str
    left: str
    right: str
    relation: str
    reason: str
    replaces: int | None


def is_answer_file(path: Path) -> bool:
    """Tell whether a file is one of SQLite, whatever is in it."""
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not one of answers, or one of a later version."""
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is not a file of answers: {error}.") from error
    if application != APPLICATION_ID:
        raise ValueError(
            f"{path} is a database of something else, not a file of answers by likewise ask."
        )
    if version > VERSION:
        raise ValueError(
            f"{path} was made by a later version of likewise (format {version}; this one reads "
            f"{VERSION}): update likewise."
        )


def read_answers(path: Path) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Read which ids were said to be the same, or different, in a file of answers.

    Parameters
    ----------
    path : Path

    Returns
    -------
    columns : dict of lists
        left, right and relation, as in a file of pairs.
    notes : tuple of str
        What a reader of the file should know.
    """
    with _reading(path) as connection:
        check_ours(connection, path)
        found = connection.execute(
            f"SELECT {LINE_COLUMNS} FROM answers WHERE {IN_FORCE} ORDER BY line"  # noqa: S608
        ).fetchall()
    return one_per_pair(path, [Line(*line) for line in found])


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database that is only read, while others may write to it."""
    # In a folder where nothing can be written, SQLite cannot make the files that it would share
    # with writers. Where there is no log beside the file, there are none, and all is in the file.
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    address = f"{path.absolute().as_uri()}?{'immutable=1' if alone else 'mode=ro'}"
    with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path} cannot be read as a file of answers: {error}.") from error


def one_per_pair(path: Path, lines: Sequence[Line]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Return one relation per pair of ids: what most people said of it.

    Pairs of which all said "unsure" say nothing, nor do those that as many people call the same as
    different: they are left out, the latter with a note.

    Parameters
    ----------
    path : Path
        For the note.
    lines : sequence of Line
        Answers in force.
    """
    by_pair: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        by_pair.setdefault(pair_of(line.left, line.right), []).append(line)
    columns: dict[str, list[str]] = {"left": [], "right": [], "relation": []}
    n_split = 0
    for about in by_pair.values():
        relation = relation_of(line.relation for line in about)
        if relation == "unsure":
            n_split += any(line.relation != "unsure" for line in about)
            continue
        columns["left"].append(about[0].left)
        columns["right"].append(about[0].right)
        columns["relation"].append(relation)
    notes: tuple[str, ...] = ()
    if n_split:
        notes = (f"{path}: left out, since people disagree: {counted(n_split, 'pair')}.",)
    return columns, notes


def pair_of(left: Name, right: Name) -> tuple[Name, Name]:
    """Return two ids, or two row numbers, in the one order that stands for both.

    Examples
    --------
    >>> from likewise.io.answers import pair_of
    >>> pair_of("b", "a") == pair_of("a", "b")
    True
    """
    return (left, right) if left < right else (right, left)


def relation_of(relations: Iterable[str]) -> str:
    """Return what most of several answers about a pair say, and "unsure" if they cancel.

    Examples
    --------
    >>> from likewise.io.answers import relation_of
    >>> relation_of(["same", "unsure", "same"]), relation_of(["same", "different"])
    ('same', 'unsure')
    """
    said = list(relations)
    lead = said.count("same") - said.count("different")
    if lead == 0:
        return "unsure"
    return "same" if lead > 0 else "different"
