"""``make fuzz``: cases without an end, until the time is up; 1 if one of them is a finding."""

import argparse
import faulthandler
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.fuzz.subjects import CASES_OF_STRATEGIES, SUBJECTS, run_case, working_folder

_MOST_FINDINGS = 5
"""Findings of one subject that are shown; then it is left out."""


class _Run:
    """Cases so far, the time they took, and what they found."""

    def __init__(self, names: list[str], first: int, folder: Path) -> None:
        self._folder = folder
        self._next = dict.fromkeys(names, first)
        self._taken = dict.fromkeys(names, 0.0)
        self.counts: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()

    def step(self) -> bool:
        """Run a case of the subject that has had least of its time; False if none is left."""
        open_names = [name for name in self._next if self.findings[name] < _MOST_FINDINGS]
        if not open_names:
            return False
        name = min(open_names, key=lambda one: self._taken[one] / SUBJECTS[one][0])
        number = self._next[name]
        self._next[name] += 1
        start = time.monotonic()
        if not replay(name, number, self._folder):
            self.findings[name] += 1
        self._taken[name] += time.monotonic() - start
        self.counts[name] += 2 * CASES_OF_STRATEGIES if name == "strategies" else 1
        return True

    def summary(self) -> str:
        lines = [
            f"{name:<12}{self.counts[name]:>9,} cases {self._taken[name]:>8.1f} s"
            f"{self.findings[name]:>5} findings"
            for name in self._next
        ]
        total = sum(self.counts.values()), sum(self.findings.values())
        return "\n".join([*lines, f"{total[0]:,} cases, {total[1]} findings"])


def replay(name: str, number: int, folder: Path) -> bool:
    """Run one case; print what it found, and how to see it again."""
    try:
        run_case(name, number, folder)
    except Exception:  # noqa: BLE001 - whatever it is, it is the finding
        lines = traceback.format_exc().splitlines()
        print("\n".join(lines if len(lines) < 40 else [*lines[:5], "...", *lines[-34:]]))  # noqa: T201
        print(f"FINDING: make fuzz REPLAY='{name} {number}'\n", flush=True)  # noqa: T201
        return False
    return True


def main() -> int:
    """Read the command line, and run."""
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=None, help="number of the first case")
    parser.add_argument("--only", nargs="*", choices=tuple(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--replay", nargs=2, metavar=("SUBJECT", "NUMBER"))
    asked = parser.parse_args()
    faulthandler.enable()
    with working_folder() as folder:
        if asked.replay:
            return 0 if replay(asked.replay[0], int(asked.replay[1]), folder) else 1
        first = int(time.time()) % 10**6 * 10**6 if asked.seed is None else asked.seed
        print(f"seed {first}, {asked.seconds:g} s, {', '.join(asked.only)}", flush=True)  # noqa: T201
        run = _Run(asked.only, first, folder)
        end = time.monotonic() + asked.seconds
        with suppress(KeyboardInterrupt):  # what was run so far is told
            while time.monotonic() < end and run.step():
                pass
    print(run.summary())  # noqa: T201
    return 1 if run.findings.total() else 0


if __name__ == "__main__":
    sys.exit(main())
