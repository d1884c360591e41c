"""What would make a classifier better: more pairs, another model, other columns; with numbers."""

from dataclasses import dataclass

__all__ = ["Suggestion", "suggest"]


@dataclass(frozen=True)
class Suggestion:
    """Something that would make the classifier better, and by how much.

    Attributes
    ----------
    name : {"more pairs", "another model", "other columns"}
    gain : float
        How much accuracy it may bring.
    text : str

    Examples
    --------
    >>> import likewise as lw
    >>> lw.Suggestion("more pairs", 0.01, "twice as many would help.").gain
    0.01
    """

    name: str
    gain: float
    text: str


def suggest(
    accuracy: float, interval: tuple[float, float], lag: float, attainable: float, n_pairs: int
) -> tuple[Suggestion, ...]:
    """Say what would help, what helps most first.

    Parameters
    ----------
    accuracy : float
    interval : tuple of two floats
        Of the accuracy.
    lag : float
        By how much copies of the classifier that saw four fifths of the data are less accurate.
    attainable : float
        Accuracy of the best rule that the columns allow, as far as the reference score knows.
    n_pairs : int

    Returns
    -------
    tuple of Suggestion

    Examples
    --------
    >>> from likewise.report.suggestions import suggest
    >>> [one.name for one in suggest(0.80, (0.76, 0.84), 0.01, 0.81, 100)]
    ['other columns', 'more pairs', 'another model']
    """
    # What a model lacks for want of data falls as one over their number: from 4/5 to all it fell by
    # a quarter of what is left, and twice the data would bring half of that.
    more = min(max(2.0 * lag, 0.0), 1.0 - accuracy)
    width = (interval[1] - interval[0]) / 2.0
    model = max(attainable - accuracy, 0.0)
    columns = 1.0 - max(attainable, accuracy)
    found = [
        Suggestion(
            "more pairs",
            more,
            f"twice as many pairs and rows ({2 * n_pairs:,} pairs) would "
            f"{_raised(more, 'by about')}, and narrow its interval from "
            f"±{100 * width:.1f} to about ±{100 * width / 2**0.5:.1f} points.",
        ),
        Suggestion(
            "another model",
            model,
            f"another model of the same columns could {_raised(model, 'by up to about')}.",
        ),
        Suggestion(
            "other columns",
            columns,
            f"no model of these columns is likely to be above {100 * max(attainable, accuracy):.1f}"
            f" %: the other {100 * columns:.1f} points need columns that tell the classes apart.",
        ),
    ]
    return tuple(sorted(found, key=lambda one: -one.gain))


def _raised(gain: float, how: str) -> str:
    points = f"{100 * gain:.1f}"
    if points == "0.0":
        return "hardly raise the accuracy"
    return f"raise the accuracy {how} {points} points"
