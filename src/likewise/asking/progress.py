"""How far asking has come: accuracy without labels, what more answers would gain, and enough."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Point", "Progress", "expected_gain", "judge_progress", "renewal_step"]

_TARGET = 0.2
"""Width of the interval of the accuracy at which it counts as known."""
_SMALL = 0.01
"""Gain in accuracy by half as many answers again that is not worth them. Gains are known to about a
point themselves: with less, noise alone would keep people answering."""
_FEWEST_POINTS = 4
"""Refits that a gain is estimated from at least."""
_FEWEST_ANSWERS = 50
_STEPS = (5, 10, 20)
"""The classifier is fitted again at multiples of one of these, times a power of ten: of the least
that is a tenth of the answers. So it knows all answers whenever their number is round."""


@dataclass(frozen=True)
class Point:
    """How accurate the classifier was after some answers.

    Attributes
    ----------
    n_answers : int
    accuracy : float
        Estimated for new rows.
    low, high : float
        Its interval.
    """

    n_answers: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Progress:
    """Progress of asking: answers so far, estimated accuracy, and whether they are enough.

    Attributes
    ----------
    n_answers : int
        Answers so far, "unsure" not counted.
    accuracy : float or None
        Estimated for new rows; None until a row that was drawn at random is answered.
    interval : tuple of two floats, or None
        Its interval, from the rows that were drawn at random.
    gain : float or None
        Accuracy that half as many answers again are expected to add.
    enough : bool
        Whether to stop.
    why : str
        The reason, in a sentence.

    Examples
    --------
    >>> import likewise as lw
    >>> asker = lw.Asker([[0.0], [1.0], [5.0], [6.0]], random_state=0)
    >>> asker.tell(asker.next(), "same")
    >>> progress = asker.progress()
    >>> progress.n_answers, progress.enough
    (1, False)
    """

    n_answers: int
    accuracy: float | None
    interval: tuple[float, float] | None
    gain: float | None
    enough: bool
    why: str


def expected_gain(history: Sequence[Point]) -> float | None:
    """Return the accuracy that half as many answers again would add.

    Errors fall about as one over the root of the number of answers: a line through the last points
    says how fast. None while there are few.

    Parameters
    ----------
    history : sequence of Point
    """
    points = [point for point in history if point.n_answers >= history[-1].n_answers / 4]
    if len(points) < _FEWEST_POINTS:
        return None
    x = np.array([point.n_answers for point in points]) ** -0.5
    y = np.array([point.accuracy for point in points])
    spread = float(np.sum((x - x.mean()) ** 2))
    if spread == 0:
        return None
    slope = float((x - x.mean()) @ (y - y.mean())) / spread
    now = points[-1].n_answers
    return max(slope * float((1.5 * now) ** -0.5 - now**-0.5), 0.0)


def judge_progress(n_answers: int, history: Sequence[Point]) -> Progress:
    """Say how far asking has come, and whether it is enough.

    Parameters
    ----------
    n_answers : int
    history : sequence of Point
    """
    if not history:
        why = "The answers do not show yet how accurate the classifier is."
        return Progress(n_answers, None, None, None, False, why)
    last, gain = history[-1], expected_gain(history)
    low, high = interval = last.low, last.high
    known = f"The accuracy is {last.accuracy:.0%}, between {low:.0%} and {high:.0%}"
    if last.n_answers < _FEWEST_ANSWERS or high - low > _TARGET:
        why = f"{known}: not known well enough yet."
        return Progress(n_answers, last.accuracy, interval, gain, False, why)
    if gain is None or gain > _SMALL:
        more = "" if gain is None else f", about {gain:.1%} with half as many again"
        why = f"{known}; more answers still help{more}."
        return Progress(n_answers, last.accuracy, interval, gain, False, why)
    why = f"{known}, and half as many answers again would add about {gain:.1%}."
    return Progress(n_answers, last.accuracy, interval, gain, True, why)


def renewal_step(count: int) -> int:
    """Return the least round number that is a tenth of a count or more."""
    power = 1
    while True:
        for step in _STEPS:
            if step * power >= count / 10:
                return step * power
        power *= 10
