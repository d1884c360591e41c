"""The streams that a process is started with: closed ones, full ones, readers that stop early."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from likewise.cli.terminal import STDOUT, complain, note

__all__ = ["checked_streams", "drop_stdout"]


@contextmanager
def checked_streams() -> Iterator[None]:
    """Begin with streams that are open, and end when all that was said has been taken."""
    _open_streams()
    try:
        yield
    except SystemExit as stop:
        error = _flush_stdout()
        if error is None or stop.code:
            raise
        complain(error)
        raise SystemExit(2) from None


def _open_streams() -> None:
    """Refuse a closed stdout, which no result can go to; open what else is closed to nowhere."""
    is_closed = sys.stdout is None
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # A file opened later must not get the number of a stream, or messages would go into it.
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if is_closed:
        note("stdout is closed, so that nothing could be shown; send it to a file or to /dev/null.")
        sys.exit(2)


def _flush_stdout() -> OSError | None:
    """Send out what stdout still holds; return the error that kept it, if that matters."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    except OSError as error:
        drop_stdout()
        return OSError(error.errno, error.strerror, STDOUT)
    return None


def drop_stdout() -> None:
    """Send what stdout still holds nowhere, since nobody reads it.

    Else Python would try once more when it ends, and print that it could not.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
