"""Tables for the terminal and for RESULTS.md; nothing is measured here."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.table import Plot, Table
from likewise.io import replacing

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["GPU_RESULTS", "RESULTS", "draw", "print_table", "write_results"]

RESULTS, GPU_RESULTS = (Path(__file__).with_name(f"RESULTS{kind}.md") for kind in ("", "-gpu"))
_STYLES = {"met": "green", "missed": "bold red", "": ""}


def print_table(table: Table, console: "Console") -> None:
    """Show a table with its notes on the terminal."""
    from rich.table import Table as TerminalTable
    from rich.text import Text

    shown = TerminalTable(title=table.title, title_justify="left")
    for heading in table.columns:
        shown.add_column(heading, justify="right" if heading == table.value_name else "left")
    for row in table.rows:
        *cells, verdict = row.cells
        shown.add_row(*map(Text, cells), Text(verdict, style=_STYLES[verdict]))
    console.print(shown)
    for note in table.notes:
        console.print(Text(note, style="dim"))
    console.print()


def write_results(
    tables: Sequence[Table], machine: Sequence[str], command: str, path: Path = RESULTS
) -> None:
    """Write all tables into a page, which is replaced as a whole, with its pictures beside it."""
    misses = sum(len(table.misses) for table in tables)
    numbers = sum(row.limit is not None for table in tables for row in table.rows)
    lines = [
        "# Benchmark results",
        "",
        f"Written by `{command}` on {datetime.now(UTC):%Y-%m-%d}; every number was measured by "
        f"that run. Of {numbers} limits, {misses} were missed.",
        "",
        *(f"- {line}" for line in machine),
    ]
    for table in tables:
        lines += ["", *_markdown(table)]
        for plot in table.plots:
            lines += ["", f"![{plot.title}]({draw(plot, path.parent).name})"]
    with replacing(path) as stream:
        stream.write("\n".join([*lines, ""]).encode())


def draw(plot: Plot, folder: Path) -> Path:
    """Draw times on logarithmic axes, and return the SVG file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    path = folder / f"{plot.name}.svg"
    # The same numbers make the same file.
    with mpl.rc_context({"svg.hashsalt": plot.name, "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.0, 4.5), layout="constrained")
        axes = figure.add_subplot(xscale="log", yscale="log")
        for name, times in plot.curves.items():
            axes.plot(list(times), list(times.values()), marker="o", label=name)
        axes.set(title=plot.title, xlabel=plot.x_name, ylabel="seconds")
        sizes = sorted({size for times in plot.curves.values() for size in times})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        with replacing(path) as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None})
    return path


def _markdown(table: Table) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    body = [line([*row.cells[:-1], _emphasised(row.verdict)]) for row in table.rows]
    dashes = ["---:" if name == table.value_name else "---" for name in table.columns]
    notes = [text for note in table.notes for text in ("", note)]
    return [f"## {table.title}", "", line(table.columns), line(dashes), *body, *notes]


def _emphasised(verdict: str) -> str:
    return "**missed**" if verdict == "missed" else verdict
