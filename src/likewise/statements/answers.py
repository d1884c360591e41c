"""A frame of answers, one row per pair: which two rows, and whether they are the same."""

from typing import Any

import numpy as np

from likewise.io.pairs import relation_code

__all__ = ["are_answers", "split_answers"]

_COLUMNS = ("left", "right", "relation")
_UNSURE = "unsure"


def are_answers(statements: Any) -> bool:
    """Tell whether statements are a data frame with the columns left, right and relation.

    Parameters
    ----------
    statements : any
    """
    return hasattr(statements, "columns") and set(_COLUMNS) <= set(statements.columns)


def split_answers(answers: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Return the pairs that were said to be the same, and those that were said to differ.

    Parameters
    ----------
    answers : data frame
        With a column `relation`: same, different (or must-link, cannot-link), or unsure, which says
        nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> said = ["same", "unsure", "different"]
    >>> answers = pd.DataFrame({"left": [0, 1, 2], "right": [1, 2, 3], "relation": said})
    >>> split_answers(answers)
    ([(0, 1)], [(2, 3)])
    """
    left, right, words = (list(answers[name]) for name in _COLUMNS)
    codes = np.array([relation_code(str(word)) for word in words], dtype=int)
    unsure = np.array([word == _UNSURE for word in words], dtype=bool)
    odd = np.flatnonzero((codes < 0) & ~unsure)
    if odd.size:
        raise ValueError(
            f"Answer {int(odd[0])}: the relation is {words[odd[0]]!r}, but it must be 'same', "
            "'different' or 'unsure'."
        )
    pairs = list(zip(left, right, strict=True))
    same, different = (
        [pair for pair, code in zip(pairs, codes, strict=True) if code == kind] for kind in (1, 0)
    )
    return same, different
