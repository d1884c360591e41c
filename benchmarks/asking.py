"""Questions that `Asker` chooses: how soon the next one is there, and what the answers teach."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import likewise as lw
from benchmarks.asking_runs import Choosing, Plan, runs, stop_of
from benchmarks.table import Limit, Row, Table, seconds
from likewise.asking.groups import group_rows

_RUNS = Path(__file__).with_name("asking_runs.jsonl")
_LEAST_AHEAD = {0.0: -0.3, 0.1: 1.5}
"""Points by which chosen questions have to be ahead at each error rate."""


def measure(
    n_rows: int,
    n_columns: int,
    n_answers: int,
    names: Sequence[str],
    draws: Sequence[int],
    judged: Sequence[int],
    n_judged: int,
    n_of_digits: int,
    path: Path = _RUNS,
) -> Table:
    """Time questions of a large table; compare answers to chosen questions with random ones.

    `draws` are compared, and in `judged` the estimated accuracy is followed over `n_judged` answers
    too. Runs take minutes: each is printed as it ends, and kept in the file `path`. Of the digits,
    of ten classes, `n_of_digits` answers are asked for.
    """
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
    for error_rate in _LEAST_AHEAD if names else ():
        plans = [Plan(name, draw, error_rate, n_answers, False) for draw in draws for name in names]
        rows += _compared(_finished(plans, path), error_rate)
    plans = [
        Plan(name, draw, error_rate, n_judged, True)
        for error_rate in _LEAST_AHEAD
        for draw in judged
        for name in names
    ]
    rows += _stopped(_finished(plans, path)) if plans else []
    rows += [_settled(n_of_digits)] if n_of_digits else []
    return Table(
        "asking: chosen questions against random pairs",
        "seconds, points ahead, share",
        tuple(rows),
        (
            "A simulated person answers at once, right or wrong, and waits for the work in the "
            "background before the next question. Random pairs are learned from by PairClassifier "
            "with the same defaults, and error_rate='auto' if some answers are wrong: as many "
            "then, else twice as many.",
        ),
    )


def _finished(plans: list[Plan], path: Path) -> list[dict[str, Any]]:
    """Return the records of all plans, and print each."""
    found = []
    for record in runs(plans, path):
        right = [record["points"][-1]["right"], record["random"]]
        print(*(record[name] for name in Plan._fields), *right, stop_of(record), flush=True)
        found.append(record)
    return found


def _compared(records: list[dict[str, Any]], error_rate: float) -> list[Row]:
    """Return how far chosen questions are ahead, in every set and on average."""
    right: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        pair = (record["points"][-1]["right"], record["random"])
        right.setdefault(record["name"], []).append(pair)
    wrong = f", {error_rate:.0%} of the answers wrong" if error_rate else ""
    rows, ahead = [], []
    for name, pairs in right.items():
        ours, random = 100 * np.mean(pairs, axis=0)
        ahead.append(float(ours - random))
        what = f"accuracy on new rows of {name}, {len(pairs)} draws{wrong}"
        rows.append(Row(what, f"{ours:.1f}", f"{random:.1f} by random pairs", ahead[-1]))
    mean = float(np.mean(ahead))
    return [
        *rows,
        Row(f"mean over these sets{wrong}", "", "", mean, Limit(_LEAST_AHEAD[error_rate])),
    ]


def _stopped(records: list[dict[str, Any]]) -> list[Row]:
    """Return how often enough was said, and how often its interval held the truth."""
    stops = [stop for stop in map(stop_of, records) if stop is not None]
    share = float(np.mean([held for _, held in stops])) if stops else float("nan")
    when = f"after {np.median([count for count, _ in stops]):.0f} answers" if stops else "never"
    return [
        Row(
            "interval holds the accuracy on new rows when enough is said",
            f"said in {len(stops)} of {len(records)} runs",
            f"{when} at the median",
            share,
            Limit(lowest=0.85),
        )
    ]


def _settled(n_answers: int) -> Row:
    """Return how many answers it takes to settle the class of one of 1,000 digits."""
    X, y = load_digits(return_X_y=True)
    rates = []
    for draw in range(3):
        rows = np.random.default_rng(draw).permutation(len(y))[:1000]
        asker = Choosing(X[rows], 10, random_state=draw)
        for _ in range(n_answers):
            question = asker.next()
            alike = y[rows[question.left]] == y[rows[question.right]]
            asker.tell(question, "same" if alike else "different")
            asker.wait()
        groups = group_rows(1000, *asker._statements(), 10)
        rates.append(n_answers / groups.classes()[0].size)
        asker.close()
    return Row(
        f"answers per settled row, digits, {n_answers} answers, 3 draws",
        f"{np.mean(rates):.2f}",
        f"{max(rates):.2f} at most",
        float(np.mean(rates)),
        Limit(highest=1.6),
    )


def _waits(n_rows: int, n_columns: int) -> list[float]:
    X, y = lw.datasets.make_gaussians(n_rows, n_features=n_columns, separation=3, random_state=0)
    asker, waits = lw.Asker(X, random_state=0), []
    for _ in range(60):
        start = time.perf_counter()
        question = asker.next()
        waits.append(time.perf_counter() - start)
        asker.tell(question, "same" if y[question.left] == y[question.right] else "different")
        time.sleep(0.5)  # a quick person
    asker.close()
    return waits
