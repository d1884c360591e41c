"""How messages word what went wrong: counts, lists of names, another library's error."""

from collections.abc import Sequence

__all__ = ["counted", "first_line", "listed"]


def counted(number: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows`` and so on."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Return the names in quotes, and of many only the first."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, to go on with in a sentence."""
    return str(error).strip().partition("\n")[0].rstrip(".")
