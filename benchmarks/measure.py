"""How time and memory are measured; what is measured is not known here."""

import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import ParamSpec, TypeVar

__all__ = [
    "best_times",
    "extra_resident",
    "extra_traced",
    "import_seconds",
    "in_fresh_process",
    "least",
]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Name = TypeVar("Name", bound=Hashable)

_STATUS = Path("/proc/self/status")


def least(meters: Mapping[Name, Callable[[], float]], repeats: int) -> dict[Name, float]:
    """Return the least reading of each meter.

    They take turns, so that a slow moment of the machine does not hit one of them alone.
    """
    best = dict.fromkeys(meters, float("inf"))
    for _ in range(repeats):
        for name, read in meters.items():
            best[name] = min(best[name], read())
    return best


def best_times(contestants: Mapping[Name, Callable[[], object]], repeats: int) -> dict[Name, float]:
    """Return the least seconds of each contestant, all taking turns."""
    return least({name: partial(_clock, action) for name, action in contestants.items()}, repeats)


def _clock(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def in_fresh_process(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Call a function of a module in a new interpreter that has done nothing else before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def extra_traced(action: Callable[[], object]) -> int:
    """Return the bytes that Python and numpy hold at most during `action`, beyond those before."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def extra_resident(action: Callable[[], object]) -> int:
    """Return by how many bytes `action` raises the largest resident memory of the process.

    Call it in a fresh process that holds as much now as it ever did.
    """
    before = _largest_resident()
    action()
    return _largest_resident() - before


def _largest_resident() -> int:
    # Linux hands a parent's ru_maxrss down to its children, which would hide what they use.
    if _STATUS.exists():
        fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return 1024 * int(fields["VmHWM"].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS


def import_seconds(statement: str) -> float:
    """Return how long an import takes in a new interpreter, whose own start is not counted."""
    code = (
        "from time import perf_counter\n"
        "start = perf_counter()\n"
        f"{statement}\n"
        "print(perf_counter() - start)"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return float(done.stdout)
