"""What is fuzzed: each subject makes one case of a seed, and checks it."""

import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from tests.fuzz.estimators import fuzz_others, fuzz_pair, fuzz_su
from tests.fuzz.files import fuzz_files, fuzz_known
from tests.fuzz.options import fuzz_options
from tests.fuzz.places import fuzz_engines, fuzz_models
from tests.fuzz.strategies import explore

__all__ = ["CASES_OF_STRATEGIES", "SUBJECTS", "Subject", "run_case", "working_folder"]

Subject = Callable[[random.Random, Path], None]
CASES_OF_STRATEGIES = 20
"""Examples that one call of the strategies tries of each kind."""
_MOST_SECONDS, _MOST_BY_THE_CLOCK = 120, 1200
"""After so much time of the processor a case is stopped and is a finding; by the clock much later,
since a machine may be busy with other work."""


def _fuzz_strategies(draw: random.Random, folder: Path) -> None:
    explore(draw.randrange(2**32), CASES_OF_STRATEGIES)


SUBJECTS: dict[str, tuple[float, Subject]] = {
    "files": (3.0, fuzz_files),
    "known": (0.5, fuzz_known),
    "options": (2.0, fuzz_options),
    "models": (2.0, fuzz_models),
    "su": (2.0, fuzz_su),
    "pair": (2.0, fuzz_pair),
    "others": (1.0, fuzz_others),
    "engines": (1.0, fuzz_engines),
    "strategies": (1.0, _fuzz_strategies),
}
"""By name, the share of the time that a subject gets, and what makes and checks a case."""


def run_case(name: str, number: int, folder: Path) -> None:
    """Make the case of a number and check it; whatever it raises is a finding.

    Parameters
    ----------
    name : str
        Of a subject.
    number : int
        The seed: the same number makes the same case.
    folder : Path
        Emptied first.
    """
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    with _stopped_after(_MOST_SECONDS, _MOST_BY_THE_CLOCK):
        SUBJECTS[name][1](random.Random(f"{name} {number}"), folder)  # noqa: S311 - to be repeated


@contextmanager
def working_folder() -> Iterator[Path]:
    """Make a folder to work in, two below one that is removed afterwards, and come back."""
    before = Path.cwd()
    with TemporaryDirectory() as name:
        folder = Path(name) / "up" / "here"
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            os.chdir(before)


@contextmanager
def _stopped_after(seconds: int, by_the_clock: int) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took more than {seconds} s, or {by_the_clock} s by the clock")

    timers = (
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, by_the_clock),
    )
    before = [signal.signal(number, stop) for number, _, _ in timers]
    for _, timer, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
