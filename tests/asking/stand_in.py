"""An asker that knows nothing and asks about every pair in turn, at once."""

import itertools
import threading
from typing import Any

import numpy as np

from likewise.asking.progress import Progress
from likewise.asking.questions import Answer, Question


class StandIn:
    """Has the methods of `likewise.asking.Asker`; what it says of classes is made up."""

    def __init__(self, n_rows: int, answers: list[Answer]) -> None:
        self.n_rows = n_rows
        self.told = {_pair(one.left, one.right): one for one in answers}
        self._all = itertools.combinations(range(n_rows), 2)
        self._lock = threading.Lock()
        self.enough = False
        self.problem: Exception | None = None
        self.suspected: list[Question] = []
        self.points: list[tuple[int, float, float, float]] = []

    @property
    def row_proba_(self) -> Any:
        return np.eye(2)[np.arange(self.n_rows) % 2]

    @property
    def labels_(self) -> Any:
        return np.where(np.arange(self.n_rows) % 2, 1, -1)

    @property
    def answers(self) -> list[Answer]:
        return list(self.told.values())

    def next(self, person: str = "") -> Question | None:
        with self._lock:
            for left, right in self._all:
                if (left, right) not in self.told:
                    return Question(left, right, "random")
        return None

    def tell(self, question: Any, relation: Any, person: str = "") -> None:
        left, right = question.left, question.right
        answer = Answer(left, right, relation, question.reason, person)
        self.told[_pair(left, right)] = answer

    def forget(self, pair: tuple[int, int]) -> None:
        del self.told[_pair(*pair)]

    def progress(self) -> Progress:
        why = "The accuracy is 90%." if self.enough else "Not known yet."
        return Progress(len(self.told), 0.9, (0.85, 0.95), 0.001, self.enough, why)

    def history(self) -> list[tuple[int, float, float, float]]:
        return self.points

    def suspects(self) -> list[Question]:
        return self.suspected

    def typical(self, k: int, count: int = 5) -> list[int]:
        return [row for row in range(self.n_rows) if row % 2 == k][:count]

    def wait(self, timeout: float | None = None) -> bool:
        if self.problem is not None:
            raise self.problem
        return True

    def close(self) -> None:
        pass


def _pair(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)
