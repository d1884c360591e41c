"""Questions that `Asker` chooses: how soon the next one is there, and what the answers teach."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.table import Limit, Row, Table, seconds
from likewise.classifiers.saying import unsaid


def measure(n_rows: int, n_columns: int, n_answers: int, names: Sequence[str], draws: int) -> Table:
    """Time questions of a large table; compare answers to chosen questions with random ones."""
    waits = _waits(n_rows, n_columns)
    rows = [
        Row(
            f"next question, {n_rows:,} x {n_columns}, fits in the background",
            f"{seconds(float(np.median(waits)))} at the median",
            f"{seconds(max(waits))} at most",
            max(waits),
            Limit(highest=0.2),
        )
    ]
    ahead = []
    for name in names:
        found = np.array([_accuracies(name, draw, n_answers) for draw in range(draws)])
        ours, random = 100 * found.mean(axis=0)
        ahead.append(ours - random)
        what = f"accuracy on new rows of {name}, 1000 rows, {draws} draws"
        rows.append(_row(what, ours, random, n_answers, ahead[-1]))
    if ahead:
        rows.append(Row("accuracy, mean over these sets", "", "", np.mean(ahead), Limit(-0.3)))
    return Table(
        "asking: chosen questions against random pairs",
        "seconds, points ahead",
        tuple(rows),
        (
            "A simulated person answers at once and without errors, and waits for the work in the "
            "background before the next question. Random pairs are learned from by PairClassifier "
            "with the same defaults.",
        ),
    )


def _row(what: str, ours: float, random: float, n_answers: int, ahead: float) -> Row:
    return Row(
        what,
        f"{ours:.1f} after {n_answers} chosen questions",
        f"{random:.1f} after {2 * n_answers} random pairs",
        ahead,
    )


def _waits(n_rows: int, n_columns: int) -> list[float]:
    X, y = lw.datasets.make_gaussians(n_rows, n_features=n_columns, separation=3, random_state=0)
    asker, waits = lw.Asker(X, random_state=0), []
    for _ in range(60):
        start = time.perf_counter()
        question = asker.next()
        waits.append(time.perf_counter() - start)
        _tell(asker, question, y)
        time.sleep(0.5)  # a quick person
    asker.close()
    return waits


def _accuracies(name: str, draw: int, n_answers: int) -> tuple[float, float]:
    """Return the accuracy of chosen questions, and of twice as many random pairs."""
    X, y = lw.datasets.load(name, return_X_y=True)
    rng = np.random.default_rng(draw)
    order = rng.permutation(X.shape[0])
    table, classes, new = X[order[:1000]], y[order[:1000]], order[1000:21000]
    asker = lw.Asker(table, random_state=draw)
    for _ in range(n_answers):
        _tell(asker, asker.next(), classes)
        asker.wait()
    pairs = np.array([rng.choice(1000, 2, replace=False) for _ in range(2 * n_answers)])
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    random = lw.PairClassifier(pairing="asked", random_state=0)
    with unsaid():
        random.fit(*lw.pack(table, pairs[same], pairs[~same]))
    return _right(asker.classifier_, X[new], y[new]), _right(random, X[new], y[new])


def _tell(asker: lw.Asker, question: Any, classes: Any) -> None:
    is_same = classes[question.left] == classes[question.right]
    asker.tell(question, "same" if is_same else "different")


def _right(classifier: Any, X: Any, y: Any) -> float:
    share = float(np.mean(classifier.predict(X) == np.where(y > 0, 1, -1)))
    return max(share, 1.0 - share)  # classes have no names
