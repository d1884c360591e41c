"""How messages word what went wrong: counts, lists of names, another library's error.

Names and cells come from files, so that a message shows them escaped: none may move the cursor,
change colours or turn the direction of writing on a terminal.
"""

from collections.abc import Sequence

__all__ = ["counted", "escaped", "first_line", "listed", "shown"]

_MOST_CHARACTERS = 300
"""Of a name or a cell that a message shows: a path of usual length is shown whole."""
_MOST_OF_A_NAME = 80
"""Of each name in a list."""


def counted(number: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows`` and so on."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Return the names in quotes, and of many only the first.

    Examples
    --------
    >>> from likewise.io.wording import listed
    >>> listed(["a", "b"]), listed(["a", "b", "c"], limit=1)
    ("'a', 'b'", "'a' and 2 more")
    """
    first = ", ".join(repr(_shortened(str(name), _MOST_OF_A_NAME)) for name in names[:limit])
    return first if len(names) <= limit else f"{first} and {len(names) - limit} more"


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, to go on with in a sentence."""
    return shown(str(error).strip().partition("\n")[0].rstrip("."))


def shown(text: object, limit: int = _MOST_CHARACTERS) -> str:
    r"""Return a text that is safe to print: nothing in it is invisible, and it is not long.

    Parameters
    ----------
    text : object
        A cell, an id, the name of a column or of a file.
    limit : int, default 300
        Most characters of the text to show; of a longer one the middle is left out.

    Returns
    -------
    str

    Examples
    --------
    >>> from likewise.io.wording import shown
    >>> print(shown("plain é"), shown("red \x1b[31m"), shown("two\nlines"))
    plain é red \x1b[31m two\nlines
    >>> shown("0123456789", limit=6)
    '012...789'
    """
    return escaped(_shortened(str(text), limit))


def escaped(text: str) -> str:
    r"""Return a text with everything that does not print as itself escaped, as ``\x1b``.

    These are control characters, marks that turn the direction of writing, lone surrogates (bytes
    of a file's name that are not UTF-8), and blanks other than the space. A text that was escaped
    stays as it is.
    """
    if text.isprintable():
        return text
    return "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _shortened(text: str, limit: int) -> str:
    """Leave out the middle of a long text."""
    if len(text) <= limit:
        return text
    half = max(limit // 2, 1)
    return f"{text[:half]}...{text[-half:]}"
