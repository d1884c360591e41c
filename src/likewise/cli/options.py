"""Options that several commands share: how statements came about, and how many are wrong."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "ClassesOption",
    "CountOption",
    "ErrorsOption",
    "Pairing",
    "PairingOption",
    "TrustOption",
    "check_level",
    "refuse_given",
    "statement_settings",
]


_MOST_CLASSES = 10_000


class Pairing(StrEnum):
    """How statements came about."""

    AUTO = "auto"
    ASKED = "asked"
    RANDOM = "random"
    FREE = "free"


ClassesOption = Annotated[
    int | None, typer.Option("--classes", min=2, help="Number of classes: 2, if not given.")
]
CountOption = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="auto|NUMBER",
        help="Number of classes: 2, if not given. auto takes the smallest number that held-out "
        "pairs do not clearly speak against.",
    ),
]
PairingOption = Annotated[
    Pairing | None,
    typer.Option(
        "--pairing",
        help="How pairs came about. asked: rows were picked for any reason, every answer was kept; "
        "random: only similar pairs were kept, whichever were met; free: the same, but one class "
        "is met more often than another. If not given, auto: asked where there are dissimilar "
        "pairs, else random is tested against free.",
    ),
]
ErrorsOption = Annotated[
    str | None,
    typer.Option(
        "--errors",
        metavar="auto|RATE",
        help="Share of statements that are wrong, below 0.5; auto finds it. If not given, 0: then "
        "statements that contradict each other are refused.",
    ),
]
TrustOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="TYPE",
        help="A type that MODEL may hold beside ours, by its full name; may be given again. Code "
        "of that type runs: trust only what you know.",
    ),
]


def statement_settings(
    classes: str | None, pairing: Pairing | None, errors: str | None
) -> dict[str, int | str | float]:
    """Return these options as arguments of the library."""
    return {
        "n_classes": _n_classes(classes),
        "pairing": (pairing or Pairing.AUTO).value,
        "error_rate": _error_rate(errors),
    }


def _n_classes(classes: str | None) -> int | str:
    if classes is None or classes == "auto":
        return classes or 2
    if not (classes.isascii() and classes.isdigit() and 2 <= int(classes) <= _MOST_CLASSES):
        raise ValueError(f"--classes takes auto or a number from 2 on, but got {classes!r}.")
    return int(classes)


def _error_rate(errors: str | None) -> float | str:
    if errors is None or errors == "auto":
        return errors or 0.0
    try:
        rate = float(errors)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate < 0.5:
        raise ValueError(
            f"--errors takes auto or a rate from 0 to below 0.5, as 0.1, but got {errors!r}."
        )
    return rate


def refuse_given(options: Mapping[str, object], reason: str) -> None:
    """Refuse options that would do nothing.

    Parameters
    ----------
    options : dict
        Values by the names of options; None if one was not given.
    reason : str
        How the sentence goes on after the name of an option.
    """
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"{name} {reason}")


def check_level(level: float) -> None:
    """Refuse a level of intervals that cannot be."""
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1, as 0.95; got {level:g}.")
