"""``likewise datasets``: the benchmarks of the paper and where each can be found."""

from dataclasses import asdict

from likewise.cli.terminal import Json, show_json

__all__ = ["datasets"]


def datasets(as_json: Json = False) -> None:
    """List the twelve benchmarks of the paper, and where each can be found now."""
    from likewise.datasets import list_datasets

    entries = list_datasets()
    if as_json:
        show_json({"datasets": [asdict(entry) for entry in entries]})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", title="Benchmarks of the paper", title_justify="left")
    for heading in ("rows", "features", "positive"):
        table.add_column(heading, justify="right")
    table.add_column("found in")
    for entry in entries:
        table.add_row(
            entry.name,
            f"{entry.rows:,}",
            str(entry.dims),
            f"{entry.positive_share:.1%}",
            entry.source,
        )
    console = Console()
    console.print(table)
    console.print(
        "Files NAME.npz are looked for in the folder that LIKEWISE_DATA names, then in the cache.",
        highlight=False,
    )
