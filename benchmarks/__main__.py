"""The command ``python -m benchmarks``: run, print, and keep the results of a full run."""

import argparse
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console

from benchmarks.machine import describe_machine
from benchmarks.registry import BENCHMARKS
from benchmarks.report import draw, print_table, write_results

_COMMAND = "python -m benchmarks"
_QUICK = (
    "Quick run: the same benchmarks at reduced sizes. Limits are meant for full sizes, so nothing "
    "is judged here, and RESULTS.md stays as it is."
)


def main() -> int:
    """Run the chosen benchmarks; return 1 if a limit was missed."""
    arguments = _parse()
    # In a file or pipe, rich would squeeze the tables into 80 columns.
    console = Console() if sys.stdout.isatty() else Console(width=130)
    progress = Console(stderr=True)
    machine = describe_machine()  # before our own work loads it
    if arguments.quick:
        console.print(_QUICK)
    start, tables = perf_counter(), []
    for name in arguments.names or BENCHMARKS:
        progress.print(f"Running {name} ...", style="dim")
        benchmark = BENCHMARKS[name]
        table = benchmark.quick().without_limits() if arguments.quick else benchmark.full()
        print_table(table, console)
        tables.append(table)
        if arguments.plots is not None:
            for plot in table.plots:
                console.print(f"Drawn: {draw(plot, arguments.plots)}")
    progress.print(f"{perf_counter() - start:.0f} seconds in all.", style="dim")
    if not arguments.names and not arguments.quick:
        write_results(tables, machine, _COMMAND)
    return int(any(table.misses for table in tables))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=_COMMAND,
        description="Measure speed and memory against named competitors. A full run of all "
        "benchmarks replaces RESULTS.md; any other run only prints. The exit code is 1 if a limit "
        "is missed.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHMARKS)}; default all"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under three minutes")
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw how time grows into this folder too"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
