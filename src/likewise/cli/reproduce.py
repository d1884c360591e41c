"""``likewise reproduce``: the experiments of the paper, a command for each."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import Json, note, show_json, track

if TYPE_CHECKING:
    from likewise.experiments.prior import Cell

__all__ = ["reproduce"]

reproduce = typer.Typer(
    help="Run an experiment of the paper again.", no_args_is_help=True, rich_markup_mode=None
)

Out = Annotated[
    Path, typer.Option("--out", help="Folder for records and pictures; a stopped run goes on.")
]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Trials of each setting; by default the paper's.")
]
Datasets = Annotated[str | None, typer.Option(help="Datasets, as a,b; by default all twelve.")]
Jobs = Annotated[int, typer.Option(help="Processes side by side; -1 is one for each core.")]
Quick = Annotated[bool, typer.Option("--quick", help="A foretaste: 2 datasets, 2 sizes, 3 trials.")]


@reproduce.command()
def prior(
    out: Out,
    trials: Trials = None,
    datasets: Datasets = None,
    methods: Annotated[
        str | None, typer.Option(help="Of km1,km2,pair_moments; by default all.")
    ] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Estimate class priors on samples of growing size (Figure 4 of the paper)."""
    from likewise.experiments import prior as experiment
    from likewise.experiments.runner import read_records

    if jobs == 0:
        raise ValueError("--jobs must be a number of processes, or -1 for one on each core; got 0.")
    settings: dict[str, Any] = experiment.QUICK if quick else {}
    chosen = {"trials": trials, "datasets": _names(datasets), "methods": _names(methods)}
    settings = {**settings, **{name: value for name, value in chosen.items() if value is not None}}
    count, records = experiment.run(out, jobs=jobs, **settings)
    for _ in track(records, "Estimating", count):
        pass
    kept = read_records(out / "records.jsonl")
    cells = experiment.summary(kept)
    pictures = _draw(experiment, out, kept)
    if as_json:
        show_json(
            {
                "experiment": "prior",
                "new_records": count,
                "results": [asdict(cell) for cell in cells],
                "files": [str(path) for path in [out / "records.jsonl", *pictures]],
            }
        )
        return
    _show_table(cells, experiment.METHODS)
    for path in [out / "records.jsonl", *pictures]:
        typer.echo(str(path))


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return list(dict.fromkeys(part.strip() for part in text.split(",")))


def _draw(experiment: Any, out: Path, records: Sequence[dict[str, Any]]) -> list[Path]:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        note("there is no picture, since matplotlib is missing: pip install 'likewise[plots]'.")
        return []
    paths: list[Path] = experiment.save_plot(out, records)
    return paths


def _show_table(cells: Sequence["Cell"], methods: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "dataset", title="Absolute error of the class prior, mean ± s.e.", title_justify="left"
    )
    shown = [method for method in methods if any(cell.method == method for cell in cells)]
    for heading in ("n", *shown):
        table.add_column(heading, justify="right")
    found = {(cell.dataset, cell.n, cell.method): cell for cell in cells}
    for dataset, n in dict.fromkeys((cell.dataset, cell.n) for cell in cells):
        row = [_words(found.get((dataset, n, method))) for method in shown]
        table.add_row(dataset, str(n), *row)
    Console().print(table)


def _words(cell: "Cell | None") -> str:
    if cell is None:
        return ""
    if cell.error is None:
        return "failed"
    spread = "" if cell.standard_error is None else f" ± {cell.standard_error:.3f}"
    failed = f" ({cell.failed} failed)" if cell.failed else ""
    return f"{cell.error:.3f}{spread}{failed}"
