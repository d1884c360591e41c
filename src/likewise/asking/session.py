"""Who is asked what: questions given out, answers saved and told to the asker, people's records.

What is said comes from the store alone: answers of this program and of any other one on the same
file are taken in alike. Knows nothing of HTTP.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from likewise.asking.ledger import Ledger, Pair, PersonRecord, person_records
from likewise.asking.questions import RELATIONS, Answer, Question, Relation
from likewise.asking.records import Records
from likewise.asking.store import AnswerStore
from likewise.io.answers import Line, pair_of

if TYPE_CHECKING:
    from likewise.asking.asker import Asker

__all__ = ["RequestError", "Session"]

_LONGEST_NAME = 40
_LONGEST_WORD = 20
_DRAWS = 20
"""Questions drawn until one is not with somebody already."""
_TYPICAL = 3
"""Rows shown of every class."""
_OVERLAP = "overlap"
"""Why a question is asked that somebody else has answered."""


class RequestError(ValueError):
    """What was asked for makes no sense."""


class Session:
    """Asks people, and keeps what they say.

    Parameters
    ----------
    records : Records
    store : AnswerStore
    make_asker : callable
        Returns the asker, given what is said already: a list of answers by row numbers.
    overlap : float, default 0.0
        Share of pairs that a second person is asked about too.
    """

    def __init__(
        self,
        records: Records,
        store: AnswerStore,
        make_asker: "Callable[[list[Answer]], Asker]",
        *,
        overlap: float = 0.0,
    ) -> None:
        self.records, self._store, self._overlap = records, store, overlap
        self._rows = records.rows()
        self._lock = threading.RLock()
        self._open: dict[str, list[Question]] = {}
        self._skipped: set[Pair] = set()
        self._failed: tuple[int, str | None] = (0, None)
        self._second: dict[Pair, None] = {}
        self._ledger = Ledger()
        touched = dict.fromkeys(self._ledger.take(line) for line in store.after(0))
        self._told = {pair: self._ledger.relation(pair) for pair in touched}
        self._note_second(touched)
        self.asker = make_asker([self._answer_about(pair) for pair in self._ledger.pairs()])

    def __len__(self) -> int:
        """Return the number of answers in force."""
        return len(self._ledger)

    def close(self) -> None:
        """End the asker's work, and close the file."""
        self.asker.close()
        self._store.close()

    # --- questions --------------------------------------------------------------------------

    def questions(self, person: str, count: int = 2) -> list[dict[str, Any]]:
        """Return what a person is to be asked now and next; the same until it is answered.

        Parameters
        ----------
        person : str
        count : int
        """
        person = _name(person)
        with self._lock:
            self._sync()
            mine = self._open.setdefault(person, [])
            while len(mine) < count:
                question = self._second_opinion(person) or self._fresh(person)
                if question is None:
                    break
                mine.append(question)
            return [self._shown(question) for question in mine[:count]]

    def _fresh(self, person: str) -> Question | None:
        for _ in range(_DRAWS):
            question = self.asker.next(person)
            if question is None:
                return None
            pair = self._pair(question)
            if pair not in self._skipped and not self._is_open(pair):
                return cast(Question, question)
        return None

    def _second_opinion(self, person: str) -> Question | None:
        """Return a pair that one other person has answered and two are to."""
        for pair in self._second:
            (line,) = self._ledger.about(pair)
            if line.person != person and not self._is_open(pair) and pair not in self._skipped:
                return Question(self._rows[line.left], self._rows[line.right], _OVERLAP)
        return None

    def _is_open(self, pair: Pair) -> bool:
        return any(pair == self._pair(one) for mine in self._open.values() for one in mine)

    def skip(self, person: str, left: str, right: str) -> None:
        """Put a question aside: it is not asked again."""
        person, pair = _name(person), self._known_pair(left, right)
        with self._lock:
            self._skipped.add(pair)
            self._drop(person, pair)

    # --- answers ----------------------------------------------------------------------------

    def answer(
        self,
        person: str,
        left: str,
        right: str,
        relation: str,
        *,
        reason: str = "",
        replaces: int | None = None,
        request: str | None = None,
    ) -> Line:
        """Save an answer, then take it in; what it returns is on the disk.

        Parameters
        ----------
        person, left, right, relation
        reason : str
            Why it was asked, for a question that was given out before this program started.
        replaces, request
            As in `AnswerStore.append`.
        """
        person, pair = _name(person), self._known_pair(left, right)
        if relation not in RELATIONS:
            raise RequestError(f"An answer is one of {', '.join(RELATIONS)}; got {relation!r}.")
        why = self._reason(person, pair, reason, replaces)
        try:
            line = self._store.append(
                person, left, right, relation, why, replaces=replaces, request=request
            )
        except ValueError as error:
            raise RequestError(str(error)) from error
        with self._lock:
            self._sync()
        return line

    def _reason(self, person: str, pair: Pair, said: str, replaces: int | None) -> str:
        """Return how the question was chosen; of an answer that is changed, how it was first."""
        with self._lock:
            if replaces is not None:
                before = [line for line in self._ledger.about(pair) if line.line == replaces]
                if before:
                    return before[0].reason
            for question in self._open.get(person, ()):
                if self._pair(question) == pair:
                    return question.reason
        if len(said) > _LONGEST_WORD or not said.isidentifier():
            return ""
        return said

    def undo(self, person: str, *, request: str | None = None) -> dict[str, Any] | None:
        """Take back a person's last answer and ask that question again; None without one."""
        person = _name(person)
        line = self._store.undo(person, request=request)
        if line is None:
            return None
        pair = pair_of(line.left, line.right)
        question = Question(self._rows[line.left], self._rows[line.right], line.reason)
        with self._lock:
            self._sync()
            self._drop(person, pair)
            self._open.setdefault(person, []).insert(0, question)
            return self._shown(question)

    def _sync(self) -> None:
        """Take in what was saved since, by whichever program."""
        lines = self._store.after(self._ledger.last)
        touched = dict.fromkeys(self._ledger.take(line) for line in lines)
        for line in lines:
            self._drop(line.person, pair_of(line.left, line.right))
        for pair in touched:
            self._tell(pair)
        self._note_second(touched)

    def _tell(self, pair: Pair) -> None:
        """Tell the asker what most people say about a pair, if that has changed."""
        relation, before = self._ledger.relation(pair), self._told.get(pair)
        if relation == before:
            return
        self._told[pair] = relation
        if relation is None:
            self.asker.forget((self._rows[pair[0]], self._rows[pair[1]]))
            return
        answer = self._answer_about(pair)
        question = Question(answer.left, answer.right, answer.reason)
        self.asker.tell(question, answer.relation, answer.person)

    def _answer_about(self, pair: Pair) -> Answer:
        """Return what most people say about a pair, with the reason that it was first asked for."""
        first = self._ledger.about(pair)[0]
        relation = cast(Relation, self._ledger.relation(pair))
        left, right = self._rows[first.left], self._rows[first.right]
        return Answer(left, right, relation, first.reason, first.person)

    def _note_second(self, touched: Iterable[Pair]) -> None:
        """Note which pairs a second person is to be asked about."""
        for pair in touched:
            if len(self._ledger.about(pair)) == 1 and _draw(pair) < self._overlap:
                self._second[pair] = None
            else:
                self._second.pop(pair, None)

    def _drop(self, person: str, pair: Pair) -> None:
        """Take a pair from what a person is to be asked."""
        mine = self._open.get(person, [])
        mine[:] = [question for question in mine if self._pair(question) != pair]

    # --- what is known ----------------------------------------------------------------------

    def state(self, person: str) -> dict[str, Any]:
        """Return how far asking has come, for a person to see; changes nothing.

        Parameters
        ----------
        person : str
        """
        with self._lock:
            self._sync()
            progress = self.asker.progress()
            return {
                "table": self._store.digest,
                "rows": len(self._rows),
                "answers": len(self._ledger),
                "progress": {
                    "answers": progress.n_answers,
                    "accuracy": progress.accuracy,
                    "interval": progress.interval,
                    "gain": progress.gain,
                    "enough": progress.enough,
                    "why": progress.why,
                },
                "history": [list(point) for point in self.asker.history()],
                "classes": self._classes(),
                "suspects": self._suspects(),
                "people": [vars(record) for record in self.people()],
                "problem": self._problem(),
                **self.past(person),
            }

    def past(self, person: str, before: int | None = None, limit: int = 20) -> dict[str, Any]:
        """Return a person's last answers, newest first, and how many there are in all.

        Parameters
        ----------
        person : str
        before : int, optional
            Only those before this line.
        limit : int
        """
        with self._lock:
            own = [line for line in reversed(self._ledger.lines()) if line.person == person]
        shown = [line for line in own if before is None or line.line < before]
        return {"own": len(own), "past": [_told(line) for line in shown[:limit]]}

    def people(self) -> list[PersonRecord]:
        """Return how everybody answered."""
        with self._lock:
            labels = self.asker.labels_
            class_of = None
            if labels is not None:
                ids = {one for line in self._ledger.lines() for one in (line.left, line.right)}
                class_of = {one: labels[self._rows[one]] for one in ids}
            return person_records(self._ledger, class_of)

    def lines(self) -> list[Line]:
        """Return all answers in force."""
        with self._lock:
            self._sync()
            return self._ledger.lines()

    def pair(self, left: str, right: str) -> dict[str, Any]:
        """Return what is to be seen of a pair, to answer it again."""
        self._known_pair(left, right)
        return self.records.pair(self._rows[left], self._rows[right])

    def _classes(self) -> list[dict[str, Any]]:
        """Return the share and typical rows of every class, once there is a classifier."""
        proba = self.asker.row_proba_
        if proba is None:
            return []
        best = proba.argmax(axis=1)
        return [
            {
                "share": float((best == k).mean()),
                "rows": [self.records.brief(int(row)) for row in self.asker.typical(k, _TYPICAL)],
            }
            for k in range(proba.shape[1])
        ]

    def _suspects(self) -> list[dict[str, Any]]:
        """Return answers that may be wrong and have not been checked again."""
        found = []
        for question in self.asker.suspects():
            said = self._ledger.about(self._pair(question))
            found += [_told(line) for line in said if line.replaces is None]
        return found

    def _problem(self) -> str | None:
        """Say to everybody what went wrong in the background, until it goes well again."""
        n_fits = len(self.asker.history())
        try:
            self.asker.wait(0)
        except Exception as error:  # noqa: BLE001 - shown on the page
            self._failed = (n_fits, f"The classifier could not be fitted: {error}")
        return self._failed[1] if self._failed[0] == n_fits else None

    # --- rows and ids -----------------------------------------------------------------------

    def _shown(self, question: Question) -> dict[str, Any]:
        seen = self.records.pair(int(question.left), int(question.right))
        return {**seen, "reason": question.reason}

    def _pair(self, question: Question) -> Pair:
        left, right = int(question.left), int(question.right)
        return pair_of(self.records.id_of(left), self.records.id_of(right))

    def _known_pair(self, left: str, right: str) -> Pair:
        for one in (left, right):
            if one not in self._rows:
                raise RequestError(f"The table has no row with id {one!r}.")
        if left == right:
            raise RequestError(f"{left!r} cannot be compared with itself.")
        return pair_of(left, right)


def _told(line: Line) -> dict[str, Any]:
    return {
        "line": line.line,
        "left": line.left,
        "right": line.right,
        "relation": line.relation,
        "person": line.person,
    }


def _name(person: str) -> str:
    """Return a person's name without blanks around, or refuse what is none."""
    name = person.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RequestError(f"A name has 1 to {_LONGEST_NAME} characters.")
    return name


def _draw(pair: Pair) -> float:
    """Return a number in [0, 1) that is the same for a pair in every program, at any time."""
    digest = hashlib.blake2b("\x00".join(pair).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
