"""Tables for the terminal and for RESULTS.md; nothing is measured here."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table as TerminalTable
from rich.text import Text

from benchmarks.table import Table
from likewise.io import replacing

__all__ = ["print_table", "write_results"]

RESULTS = Path(__file__).with_name("RESULTS.md")
_STYLES = {"met": "green", "missed": "bold red", "": ""}


def print_table(table: Table, console: Console) -> None:
    """Show a table with its notes on the terminal."""
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


def write_results(tables: Sequence[Table], machine: Sequence[str], command: str) -> None:
    """Write all tables into RESULTS.md, which is replaced as a whole."""
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
    with replacing(RESULTS) as stream:
        stream.write("\n".join([*lines, ""]).encode())


def _markdown(table: Table) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    body = [line([*row.cells[:-1], _emphasised(row.verdict)]) for row in table.rows]
    dashes = ["---:" if name == table.value_name else "---" for name in table.columns]
    notes = [text for note in table.notes for text in ("", note)]
    return [f"## {table.title}", "", line(table.columns), line(dashes), *body, *notes]


def _emphasised(verdict: str) -> str:
    return "**missed**" if verdict == "missed" else verdict
