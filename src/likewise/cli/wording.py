"""How the commands word things: a summary line by line, and options instead of arguments."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from likewise.cli.terminal import note

__all__ = [
    "aligned",
    "class_names",
    "columns_in_words",
    "in_options",
    "interval_in_words",
    "option_words",
    "statements_in_words",
]

_OPTIONS = {
    "pass pairing='random' if": "fit with --pairing random if",
    "pass n_classes='auto'": "give --classes auto",
    "pass prior=... instead": "collect more, or say it with --method su --prior",
    "pass prior=... if you know it, or use likewise.PairClassifier, which needs none": (
        "give --prior if you know it, or leave out --method su, since the pair method needs none"
    ),
    "pass error_rate='auto' if": "add --errors auto if",
    "Pass a smaller n_classes": "Give fewer --classes",
    "Pass n_classes='auto', or the number that you know": (
        "Give --classes auto, or the number that you know"
    ),
    "or choose the kinds of pairs with rewrite=...": (
        "which there are where pairs are more, or choose the kinds of pairs with --rewrite"
    ),
    "but y holds": "but the pairs hold",
    "leave them out of likewise.pack": "leave them out",
    "but clf predicts": "but the model predicts",
}


def aligned(lines: Iterable[tuple[str, str]]) -> str:
    """Return lines of a name and a value, the values below each other.

    A value stays on its line, whatever a file has put into it.
    """
    from likewise.io.wording import escaped

    return "\n".join(f"{escaped(name):<18}{escaped(value)}" for name, value in lines)


def columns_in_words(names: Sequence[str], text_names: Sequence[str]) -> str:
    """Say how many columns were learned from, and how many of them hold text."""
    text = f" ({len(text_names)} of text)" if text_names else ""
    return f"{len(names):,}{text}"


def interval_in_words(interval: Sequence[float], level: float) -> str:
    """Say where an interval of shares begins and ends.

    Examples
    --------
    >>> from likewise.cli.wording import interval_in_words
    >>> interval_in_words([0.612, 0.75], level=0.95)
    '95 % interval 61.2% to 75.0%'
    """
    low, high = interval
    return f"{100 * level:g} % interval {low:.1%} to {high:.1%}"


def class_names(classes: Sequence[Any]) -> list[str]:
    """Return the names of classes; -1 and +1 with their signs."""
    from likewise.report.page import class_names

    return class_names(classes)


def statements_in_words(similar: int, dissimilar: int, groups: int) -> list[tuple[str, str]]:
    """Say how many statements there are, line by line."""
    if groups:
        return [("groups", f"{groups:,}")]
    return [("similar pairs", f"{similar:,}"), ("dissimilar pairs", f"{dissimilar:,}")]


def in_options(sentence: str) -> str:
    """Say with options what the library says with arguments.

    Examples
    --------
    >>> from likewise.cli.wording import in_options
    >>> in_options("Pass a smaller n_classes, or collect more pairs.")
    'Give fewer --classes, or collect more pairs.'
    """
    for words, option in _OPTIONS.items():
        sentence = sentence.replace(words, option)
    return sentence


@contextmanager
def option_words(name_of: Callable[[int], str] | None = None) -> Iterator[list[str]]:
    """Put what the library objects to or warns of within the block in the words of options.

    Parameters
    ----------
    name_of : callable, optional
        Returns the id of a row, for statements that contradict each other.

    Yields
    ------
    list of str
        Once the block has ended well, its warnings; by then each stands on stderr too. Refits on
        folds warn of the same thing with other numbers: of warnings that are equal up to their
        first colon, one is kept.
    """
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield said
        except ValueError as error:
            raise ValueError(in_options(_named(error, name_of))) from error
    first_of: dict[str, str] = {}
    for warning in caught:
        sentence = in_options(str(warning.message))
        first_of.setdefault(sentence.partition(":")[0], sentence)
    said.extend(first_of.values())
    for sentence in said:
        note(f"warning: {sentence}")


def _named(error: ValueError, name_of: Callable[[int], str] | None) -> str:
    """Return the message of an error; ids stand for row numbers."""
    from likewise.beliefs.components import ContradictionError

    if name_of is None or not isinstance(error, ContradictionError):
        return str(error)
    return str(error.named(lambda row: repr(name_of(row))))
