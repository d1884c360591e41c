"""Small tables for notebooks: text is escaped, and nothing else is needed to show them."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
        The first entry of each says what the row is about.

    Examples
    --------
    >>> from likewise._html import html_table
    >>> html_table(("a", "b"), [("<x>", "1")])
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><th>&lt;x&gt;</th>...'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(one)}</td>' for one in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
