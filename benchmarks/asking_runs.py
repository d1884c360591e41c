"""Runs of a simulated person who answers questions of `Asker`, kept in a file as they end.

Every renewal of the progress is kept, so that rules for stopping can be compared afterwards.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import likewise as lw
from likewise.asking.progress import Point, judge_progress

__all__ = ["Choosing", "Plan", "runs", "stop_of"]

_N_ROWS, _N_NEW = 1000, 20_000


class Plan(NamedTuple):
    """What to run.

    Attributes
    ----------
    name : str
        Of the data set.
    draw : int
        Seed of rows, questions and mistakes.
    error_rate : float
        Probability that an answer is wrong.
    n_answers : int
    is_judged : bool
        Whether the classifier is fitted and its accuracy estimated on the way, as `Asker` does it,
        rather than once at the end, which takes a tenth of the time. Questions are the same.
    """

    name: str
    draw: int
    error_rate: float
    n_answers: int
    is_judged: bool


class Choosing(lw.Asker):
    """Chooses questions and fits no classifier."""

    def _fit_if_due(self) -> None:
        pass


def runs(plans: list[Plan], path: Path) -> Iterator[dict[str, Any]]:
    """Yield the record of every plan, from the file where this code has run it before.

    Parameters
    ----------
    plans : list of Plan
    path : path
        A file of JSON lines, which new records are added to.
    """
    code = _code()
    lines = path.read_text().splitlines() if path.exists() else []
    kept = {_key(record): record for record in map(json.loads, lines)}
    for plan in plans:
        key = (code, *plan)
        if key not in kept:
            kept[key] = record = {"code": code, **plan._asdict(), **_run(plan)}
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
        yield kept[key]


def _key(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("code", *Plan._fields))


def _code() -> str:
    """Return a digest of the package: what another one measured is measured again."""
    digest = hashlib.sha256()
    folder = Path(lw.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:12]


class _Data(NamedTuple):
    """Rows to ask about, and new ones; classes are -1 and 1."""

    table: Any
    classes: Any
    fresh: Any
    truth: Any

    @classmethod
    def of(cls, plan: Plan) -> "_Data":
        X, y = lw.datasets.load(plan.name, return_X_y=True)
        order = np.random.default_rng(plan.draw).permutation(X.shape[0])
        here, new = order[:_N_ROWS], order[_N_ROWS : _N_ROWS + _N_NEW]
        signs = np.where(y > 0, 1, -1)
        return cls(X[here], signs[here], X[new], signs[new])

    def share_right(self, classifier: Any) -> float:
        """Return the accuracy on new rows; classes have no names."""
        share = float(np.mean(classifier.predict(self.fresh) == self.truth))
        return max(share, 1.0 - share)


def _run(plan: Plan) -> dict[str, Any]:
    """Ask, and return the accuracy on new rows: at every renewal, and of random pairs."""
    data = _Data.of(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what few answers do not show
        return {"points": _ask(plan, data), "random": _random_pairs(plan, data)}


def _ask(plan: Plan, data: _Data) -> list[dict[str, Any]]:
    """Return what was known at every renewal of the classifier."""
    mistakes = np.random.default_rng([plan.draw, 1])
    asker = (lw.Asker if plan.is_judged else Choosing)(data.table, random_state=plan.draw)
    points: list[dict[str, Any]] = []
    last = None
    for count in range(1, plan.n_answers + 1):
        question = asker.next()
        alike = data.classes[question.left] == data.classes[question.right]
        is_wrong = mistakes.random() < plan.error_rate
        asker.tell(question, "same" if alike != is_wrong else "different")
        asker.wait()
        if count == plan.n_answers and not plan.is_judged:
            asker = lw.Asker(data.table, answers=asker.told, random_state=plan.draw)
            asker.wait()
        if asker.classifier_ is not None and asker.classifier_ is not last:
            last = asker.classifier_
            points.append(
                {
                    "n_answers": count,
                    "right": data.share_right(last),
                    "has_signal": bool(last.has_signal_),
                    "history": asker.history(),
                }
            )
    asker.close()
    return points


def _random_pairs(plan: Plan, data: _Data) -> float:
    """Return the accuracy that random pairs teach: as many if some are wrong, else twice."""
    random = np.random.default_rng([plan.draw, 2])
    count = plan.n_answers if plan.error_rate else 2 * plan.n_answers
    pairs = np.array([random.choice(_N_ROWS, 2, replace=False) for _ in range(count)])
    same = data.classes[pairs[:, 0]] == data.classes[pairs[:, 1]]
    same ^= random.random(count) < plan.error_rate
    rate: Any = "auto" if plan.error_rate else 0.0
    learner = lw.PairClassifier(pairing="asked", error_rate=rate, random_state=0)
    learner.fit(*lw.pack(data.table, pairs[same], pairs[~same]))
    return data.share_right(learner)


def stop_of(record: dict[str, Any]) -> tuple[int, bool] | None:
    """Return after how many answers enough was said, and whether the interval held the truth.

    Parameters
    ----------
    record : dict
        Of a run.

    Returns
    -------
    tuple (n_answers, held), or None if enough was not said
    """
    for point in record["points"]:
        history = [Point(*values) for values in point["history"]]
        progress = judge_progress(point["n_answers"], history)
        if progress.enough and progress.interval is not None:
            low, high = progress.interval
            return point["n_answers"], low <= point["right"] <= high
    return None
