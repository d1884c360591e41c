"""Answers that are never lost: a SQLite file to which lines are added, one commit each.

A line is on the disk before `AnswerStore.append` returns. Nothing is ever changed or deleted, so
that a killed program, a full disk or two programs on one file lose nothing that was saved.
"""

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from likewise.io.answers import (
    IN_FORCE,
    LINE_COLUMNS,
    SCHEMA,
    UNDONE,
    Line,
    check_ours,
    one_per_pair,
)
from likewise.io.files import PathName, write_table

__all__ = ["AnswerStore", "StoreError", "TableMark"]

_PATIENCE = 30.0
"""Seconds to wait for another program that writes to the same file."""


class StoreError(OSError):
    """An answer could not be saved; everything saved before is still there."""


@dataclass(frozen=True)
class TableMark:
    """What a file of answers remembers of the table that it is about.

    Attributes
    ----------
    n_rows : int
    columns : tuple of str
        Names of all columns, the id's first.
    digest : str
        Of names and ids, in whatever order they stand.
    """

    n_rows: int
    columns: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, ids: Sequence[str], columns: Sequence[str]) -> "TableMark":
        """Return the mark of a table with these ids and columns."""
        content = json.dumps([sorted(columns), sorted(ids)]).encode()
        return cls(len(ids), tuple(columns), hashlib.sha256(content).hexdigest())

    def difference(self, other: "TableMark") -> str:
        """Say how another table differs from this one."""
        if set(self.columns) != set(other.columns):
            return f"with the columns {', '.join(self.columns)}"
        if self.n_rows != other.n_rows:
            return f"with {self.n_rows:,} rows, not {other.n_rows:,}"
        return "whose rows have other ids"


class AnswerStore:
    """A file of answers.

    Parameters
    ----------
    path : path
        Made if it does not exist. A file that is not one of answers is refused and not touched.
    mark : TableMark, optional
        The table that the answers are about; answers about another one are refused. A new file
        remembers it.

    Attributes
    ----------
    path : Path
    digest : str
        Of the table that the answers are about; empty if the file does not know it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from likewise.asking.store import AnswerStore
    >>> with TemporaryDirectory() as folder, AnswerStore(Path(folder) / "a.sqlite") as store:
    ...     first = store.append("Ann", "p1", "p2", "same", "random")
    ...     second = store.append("Ann", "p1", "p2", "different", "random")
    ...     [(line.relation, line.replaces) for line in store.current()]
    [('different', 1)]
    """

    def __init__(self, path: PathName, mark: TableMark | None = None) -> None:
        self.path = Path(path)
        self.digest = ""
        self._lock = threading.Lock()
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{self.path} is not a file; name a file for the answers.")
        if not self.path.parent.is_dir():
            raise ValueError(f"The folder {self.path.parent} does not exist; create it.")
        self._connection = sqlite3.connect(
            self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            with self._saying():
                self._prepare(mark)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "AnswerStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    # --- opening ----------------------------------------------------------------------------

    def _prepare(self, mark: TableMark | None) -> None:
        if self._is_empty():
            self._write_ahead()
            with self._transaction():
                if self._is_empty():  # no other program was quicker
                    self._create(mark)
        check_ours(self._connection, self.path)
        self._write_ahead()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        if mark is not None:
            self._check_mark(mark)

    def _is_empty(self) -> bool:
        """Tell whether nothing has been put into the file yet."""
        try:
            (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.DatabaseError as error:
            if _code(error) != sqlite3.SQLITE_NOTADB:
                raise
            raise ValueError(f"{self.path} is not a file of answers: {error}.") from error
        return bool(n_tables == 0 and application == 0)

    def _write_ahead(self) -> None:
        """Keep a log, so that readers and a writer do not wait for each other."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:  # SQLite does not wait by itself for this one
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _create(self, mark: TableMark | None) -> None:
        for statement in _statements(SCHEMA):
            self._connection.execute(statement)
        if mark is not None:
            self._connection.executemany(
                "INSERT INTO about VALUES (?, ?)",
                [
                    ("rows", str(mark.n_rows)),
                    ("columns", json.dumps(mark.columns)),
                    ("digest", mark.digest),
                ],
            )

    def _check_mark(self, mark: TableMark) -> None:
        about = dict(self._connection.execute("SELECT name, value FROM about").fetchall())
        self.digest = about.get("digest", "")
        if not self.digest or self.digest == mark.digest:
            return
        columns = tuple(json.loads(about["columns"]))
        made_for = TableMark(int(about["rows"]), columns, about["digest"])
        raise ValueError(
            f"{self.path} holds answers about another table, {made_for.difference(mark)}; name "
            "another file with --answers."
        )

    # --- writing ----------------------------------------------------------------------------

    def append(
        self,
        person: str,
        left: str,
        right: str,
        relation: str,
        reason: str,
        *,
        replaces: int | None = None,
        request: str | None = None,
    ) -> Line:
        """Save an answer and return its line; when this returns, it is on the disk.

        Parameters
        ----------
        person, left, right, relation, reason : str
            As in `Line`.
        replaces : int, optional
            A line about the same pair to replace; or that which is in force in its place by now.
            By default what this person said about the pair before, if anything.
        request : str, optional
            A mark of the request. What was asked for twice is saved once: the line is returned
            that the first request made.

        Raises
        ------
        StoreError
            If it could not be saved.
        """
        with self._lock, self._saying(), self._transaction():
            done = self._made_by(request)
            if done is not None:
                return done
            before = self._before(person, left, right, replaces)
            return self._insert(person, left, right, relation, reason, before, request)

    def undo(self, person: str, *, request: str | None = None) -> Line | None:
        """Take back a person's last answer in force; return it, or None if there is none.

        Parameters
        ----------
        person : str
        request : str, optional
            As in `append`.
        """
        with self._lock, self._saying(), self._transaction():
            done = self._made_by(request)
            if done is not None:
                return self._lines("line = ?", (done.replaces,))[0]
            own = self._lines(f"person = ? AND {IN_FORCE} ORDER BY line DESC LIMIT 1", (person,))
            if not own:
                return None
            (last,) = own
            self._insert(person, last.left, last.right, UNDONE, last.reason, last.line, request)
            return last

    def _made_by(self, request: str | None) -> Line | None:
        """Return the line that an earlier request of the same mark made."""
        done = [] if request is None else self._lines("request = ?", (request,))
        return done[0] if done else None

    def _insert(self, *values: str | int | None) -> Line:
        line = self._connection.execute(
            "INSERT INTO answers (time, person, left_id, right_id, relation, reason, replaces, "
            "request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (_now(), *values),
        ).lastrowid
        return self._lines("line = ?", (line,))[0]

    def _before(self, person: str, left: str, right: str, replaces: int | None) -> int | None:
        """Return the line in force that a new one takes the place of."""
        if replaces is None:
            own = self._about(left, right, f"AND person = ? AND {IN_FORCE}", (person,))
            return own[-1].line if own else None
        if not self._about(left, right, "AND line = ?", (replaces,)):
            raise ValueError(f"There is no answer {replaces} about {left!r} and {right!r}.")
        while later := self._lines("replaces = ?", (replaces,)):
            replaces = later[0].line
        return replaces

    def _about(self, left: str, right: str, where: str, values: tuple[Any, ...]) -> list[Line]:
        return self._lines(
            f"((left_id = ? AND right_id = ?) OR (left_id = ? AND right_id = ?)) {where} "
            "ORDER BY line",
            (left, right, right, left, *values),
        )

    # --- reading ----------------------------------------------------------------------------

    def current(self) -> list[Line]:
        """Return the answers in force, in the order in which they were given."""
        with self._lock, self._saying():
            return self._lines(f"{IN_FORCE} ORDER BY line", ())

    def after(self, line: int) -> list[Line]:
        """Return all lines after one, whoever wrote them and whether they are in force or not."""
        with self._lock, self._saying():
            return self._lines("line > ? ORDER BY line", (line,))

    def export_csv(self, path: PathName) -> int:
        """Write the file that ``likewise fit`` takes, and return how many pairs are in it.

        Parameters
        ----------
        path : path
            A name that ends in ``.csv`` or ``.parquet``.
        """
        import numpy as np

        columns, _ = one_per_pair(self.path, self.current())
        write_table(path, {name: np.array(values, object) for name, values in columns.items()})
        return len(columns["left"])

    def _lines(self, where: str, values: tuple[Any, ...]) -> list[Line]:
        found = self._connection.execute(
            f"SELECT {LINE_COLUMNS} FROM answers WHERE {where}",  # noqa: S608
            values,
        )
        return [Line(*line) for line in found.fetchall()]

    # --- all or nothing ---------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done in the block, or take all of it back."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _saying(self) -> Iterator[None]:
        """Say in plain words what the database objects to."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{_in_words(error, self.path)} What was saved before is safe.") from (
                error
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _code(error: sqlite3.Error) -> int:
    """Return which kind of error it is, without its finer distinctions."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _in_words(error: sqlite3.Error, path: Path) -> str:
    reasons = {
        sqlite3.SQLITE_FULL: "the disk is full; make room and answer again.",
        sqlite3.SQLITE_BUSY: "another program keeps the file locked.",
        sqlite3.SQLITE_READONLY: "the file may not be written to.",
        sqlite3.SQLITE_CANTOPEN: "the file cannot be opened.",
    }
    return f"Nothing can be saved in {path.name}: {reasons.get(_code(error), f'{error}.')}"


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements, which `executescript` would commit one by one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
