"""What the commands say and where: results on stdout, everything else on stderr."""

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

__all__ = [
    "Json",
    "Seed",
    "complain",
    "counting",
    "note",
    "plain_warnings",
    "show_json",
    "track",
    "waiting",
]

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


def complain(error: Exception) -> None:
    """Say on stderr, in one line, what was wrong."""
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    else:
        message = str(error) or type(error).__name__
    note(message)


def note(message: str) -> None:
    """Say something on stderr, in one line."""
    typer.echo(f"likewise: {' '.join(message.split())}", err=True)


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
    typer.echo(json.dumps(content, indent=2, allow_nan=False, default=str))


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
