"""Runs a command in copies of this process, each of which is killed, or runs out of disk.

Started as a process of its own, since it forks: everything is imported once, so that a moment of
the command is a moment of its work. Prints one line of JSON per copy.
"""

import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from typing import Any

__all__ = ["main"]

_FIRST_LOOK = 1200.0
"""Seconds by the clock that the command may take when nothing happens to it: it takes a few, but a
machine may be busy with other work."""


def main() -> None:
    """Read what to do from the first argument: arguments, kills, limits of files, a seed."""
    asked = json.loads(sys.argv[1])
    arguments, draw = asked["arguments"], random.Random(asked["seed"])  # noqa: S311
    _import_all()
    taken, code = _run(arguments, seconds=_FIRST_LOOK)
    _tell(moment=None, limit=None, code=code)
    for _ in range(asked["kills"]):
        moment = draw.uniform(0.0, 1.05 * taken)
        _tell(moment=moment, limit=None, code=_run(arguments, seconds=moment)[1])
    for limit in asked["limits"]:
        _tell(moment=None, limit=limit, code=_run(arguments, seconds=_FIRST_LOOK, limit=limit)[1])


def _import_all() -> None:
    """Load what commands load when they begin to work."""
    import pyarrow.parquet
    import sklearn.pipeline

    import likewise.cli.app
    import likewise.experiments.catalogue
    import likewise.report.label_free  # noqa: F401

    assert pyarrow.parquet
    assert sklearn.pipeline


def _tell(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    if sys.stdin.readline() != "go on\n":  # whoever started us looks at the files first
        sys.exit(1)


def _run(
    arguments: list[str], *, seconds: float, limit: int | None = None
) -> tuple[float, int | None]:
    """Run the command in a copy of this process; return its time and its code, None if killed."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _be_the_command(arguments, limit)
    while time.monotonic() - start < seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return time.monotonic() - start, os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return seconds, None


def _be_the_command(arguments: list[str], limit: int | None) -> None:
    from likewise.cli.app import app

    code: Any = 1
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        with warnings.catch_warnings(action="ignore"):
            app(arguments)
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
