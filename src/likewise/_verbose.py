"""Lines on long work, one per step, for whoever asked by ``verbose=True``.

Steps say where they stand, whoever runs them; only the call that was asked to talk prints it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from time import perf_counter
from typing import Any, TypeVar, cast

__all__ = ["step", "telling", "tells", "tells_if_asked"]

Call = TypeVar("Call", bound=Callable[..., Any])

_TALKER: ContextVar[tuple[str, float] | None] = ContextVar("talker", default=None)
"""Who talks, and since when; None for silence."""


@contextmanager
def telling(who: str, verbose: Any) -> Iterator[None]:
    """Print what steps say, if `verbose`; else be silent, also inside of what talks.

    Parameters
    ----------
    who : str
        What the lines begin with.
    verbose : bool or int
    """
    before = _TALKER.set((who, perf_counter()) if verbose else None)
    try:
        yield
    finally:
        _TALKER.reset(before)


def tells(fit: Call) -> Call:
    """Let a method of an estimator print its steps if its parameter ``verbose`` says so."""

    @wraps(fit)
    def told(self: Any, *arguments: Any, **options: Any) -> Any:
        with telling(type(self).__name__, self.verbose):
            return fit(self, *arguments, **options)

    return cast(Call, told)


def tells_if_asked(call: Call) -> Call:
    """Let a function print its steps if its keyword ``verbose`` says so."""

    @wraps(call)
    def told(*arguments: Any, **options: Any) -> Any:
        with telling(call.__name__, options.get("verbose")):
            return call(*arguments, **options)

    return cast(Call, told)


def step(text: str) -> None:
    """Say that a step is done.

    Parameters
    ----------
    text : str
        What was done, and what came of it.
    """
    talker = _TALKER.get()
    if talker is not None:
        who, since = talker
        print(f"[{who}] {perf_counter() - since:.1f} s: {text}", flush=True)  # noqa: T201
