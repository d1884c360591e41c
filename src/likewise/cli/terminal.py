"""What the commands say and where: results on stdout, everything else on stderr.

Names and cells of files are in what is said, so that all of it is escaped here.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

__all__ = [
    "STDOUT",
    "Json",
    "Seed",
    "complain",
    "counting",
    "note",
    "plain_warnings",
    "say",
    "show_json",
    "track",
    "waiting",
]

STDOUT = "stdout"
"""What an error calls the file that results go to."""
_LARGEST_SEED = 2**32 - 1
"""Of numpy's RandomState, which scikit-learn takes its random numbers from."""


def _check_seed(seed: int) -> int:
    if not 0 <= seed <= _LARGEST_SEED:
        raise ValueError(f"--seed must be a number from 0 to {_LARGEST_SEED}; got {seed}.")
    return seed


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Seed = Annotated[
    int, typer.Option("--seed", callback=_check_seed, help="Seed of all random choices.")
]

Item = TypeVar("Item")

_LONGEST_NOTE = 4000
"""Characters: a sentence that names a few columns and files of any length is shorter."""


def complain(error: Exception) -> None:
    """Say on stderr, in one line, what was wrong."""
    if isinstance(error, OSError) and error.strerror:
        file = _file_name(error)
        message = f"{file}: {error.strerror}." if file else f"{error.strerror}."
    elif isinstance(error, UnicodeEncodeError):
        message = (
            f"stdout takes only {error.encoding}, which does not have every character of the "
            "result; set PYTHONIOENCODING=utf-8, or name a file with --output."
        )
    else:
        message = str(error) or type(error).__name__
    note(message)


def _file_name(error: OSError) -> str:
    name = error.filename
    if not isinstance(name, str | bytes | os.PathLike):  # None, or the number of an open file
        return ""
    from likewise.io.wording import shown

    return shown(os.fsdecode(name))


def note(message: str) -> None:
    """Say something on stderr, in one line."""
    from likewise.io.wording import shown

    typer.echo(f"likewise: {shown(' '.join(message.split()), _LONGEST_NOTE)}", err=True)


def say(text: str) -> None:
    """Say something on stdout, in as many lines as it has."""
    from likewise.io.files import blaming
    from likewise.io.wording import escaped

    lines = "\n".join(escaped(line) for line in text.split("\n"))
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with blaming(STDOUT):
        typer.echo(lines.encode(encoding, "backslashreplace").decode(encoding))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show every warning as one line on stderr, without the line of code that raised it."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")


def show_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    text = json.dumps(content, indent=2, allow_nan=False, default=str)
    say(text.replace("\x7f", r"\u007f"))  # the one control character that JSON leaves as it is


def _on_terminal() -> bool:
    return sys.stderr.isatty()


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Show on a terminal that something goes on."""
    if not _on_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(doing):
        yield


def track(items: Iterable[Item], doing: str, total: int) -> Iterator[Item]:
    """Show on a terminal how far a loop has come."""
    if not _on_terminal():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as progress

    yield from progress(
        items, description=doing, total=total, console=Console(stderr=True), transient=True
    )


@contextmanager
def counting(doing: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call as ``(done, total)``, which shows a bar; None without a terminal."""
    if not _on_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
