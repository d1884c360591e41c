"""``likewise reproduce``: the experiments of the paper, one command each and one for all."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import Json, note, say, show_json, track

if TYPE_CHECKING:
    from likewise.experiments.experiment import Experiment, Plan
    from likewise.pages.document import Section, Table

__all__ = ["ABOUT", "reproduce"]

ABOUT = {
    "losses": "Losses on pairs and on unlabeled rows (Figures 2 and 3).",
    "theory": "No bias, least variance, the error bound (Theorems 1, 2 and 4).",
    "prior": "Estimated class priors on samples of growing size (Figure 4).",
    "unlabeled": "The error with more unlabeled rows (Figure 5).",
    "benchmark": "All methods on twelve datasets (Table 4).",
    "half": "Equally large classes, which the paper's risk excludes.",
    "coverage": "How often intervals hold what they should; only by name.",
    "nets": "Nets from pairs on MNIST, beside published numbers; only by name, wants a GPU.",
}
"""Said here once more, because the experiments take a second to import and help should not."""

_LONGEST_CELL = 50
"""Characters of a table's cell beyond which it is prose, and not for a terminal."""

REPORT = "report.html"
TABLES = "tables.md"

reproduce = typer.Typer(no_args_is_help=True, rich_markup_mode=None, invoke_without_command=True)

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for records and report, needed; a stopped run goes on."),
]
Quick = Annotated[bool, typer.Option("--quick", help="A minute's look: part of the experiment.")]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Trials of each setting; by default the paper's.")
]
Datasets = Annotated[
    str | None, typer.Option(help="Datasets, as a,b; 'gaussians' needs no file.", metavar="NAMES")
]
Methods = Annotated[
    str | None, typer.Option(help="Methods, as a,b; a wrong name lists them.", metavar="NAMES")
]
Only = Annotated[
    str | None,
    typer.Option(help="Only these settings, as n=300,prior=0.7.", metavar="NAME=NUMBER"),
]
Jobs = Annotated[int, typer.Option(help="Processes side by side; -1 is one for each core.")]
Again = Annotated[
    bool, typer.Option("--again", help="Discard the records of what is run, and run it again.")
]


@dataclass(frozen=True)
class _Wishes:
    """What the command line asks for."""

    out: Path
    quick: bool
    trials: int | None
    datasets: list[str] | None
    methods: list[str] | None
    only: dict[str, set[float]]
    jobs: int
    again: bool


def _run(
    context: typer.Context,
    out: Out = None,
    quick: Quick = False,
    trials: Trials = None,
    datasets: Datasets = None,
    methods: Methods = None,
    only: Only = None,
    jobs: Jobs = -1,
    again: Again = False,
    as_json: Json = False,
) -> None:
    if context.invoked_subcommand is not None:
        _refuse_misplaced_options(context)
        return
    if out is None:
        raise ValueError("--out is missing: name a folder for the records and the report.")
    if jobs == 0:
        raise ValueError("--jobs must be a number of processes, or -1 for one on each core; got 0.")
    chosen = context.command.name if context.command.name in ABOUT else None
    if only is not None and chosen is None:
        raise ValueError("--only needs the name of an experiment: settings differ between them.")
    names = _names(datasets), _names(methods)
    wishes = _Wishes(out, quick, trials, *names, _numbers(only), jobs, again)
    _reproduce(wishes, chosen, as_json=as_json)


reproduce.callback(
    help="Run the experiments of the paper again: the one named, or all.",
    invoke_without_command=True,
)(_run)
for _name, _help in ABOUT.items():
    reproduce.command(_name, help=_help)(_run)


def _reproduce(wishes: _Wishes, chosen: str | None, *, as_json: bool) -> None:
    from likewise.experiments.catalogue import EXPERIMENTS
    from likewise.experiments.experiment import RECORDS
    from likewise.experiments.markdown import write_markdown
    from likewise.experiments.reporting import TITLE, tell
    from likewise.experiments.runner import read_records
    from likewise.experiments.statistics import results
    from likewise.pages.report import write_report

    plans = _plans_of_all(wishes) if chosen is None else [_plan_of(EXPERIMENTS[chosen], wishes)]
    new = _run_plans(plans, wishes)
    told = tell(read_records(wishes.out / RECORDS), wishes.out)
    found, sections = told.found, told.sections
    files = [wishes.out / name for name in (RECORDS, REPORT, TABLES)]
    write_report(wishes.out / REPORT, TITLE, told.said, told.facts)
    write_markdown(wishes.out / TABLES, TITLE, told.said, told.facts)
    asked = [experiment for experiment, _ in plans]
    failed = sum(one["status"] != "ok" for experiment in asked for one in found[experiment.name])
    if as_json:
        show_json(
            {
                "experiments": [experiment.name for experiment in asked],
                "new_records": new,
                "failed": failed,
                "results": [
                    {"experiment": experiment.name, **row}
                    for experiment in asked
                    for row in results(found[experiment.name], experiment.outcome)
                ],
                "files": [str(path) for path in files],
            }
        )
        return
    for experiment in asked:
        _show(sections[experiment.name])
    if failed:
        note(f"{failed} trials failed; the report says why.")
    for path in files:
        say(str(path))


def _plan_of(experiment: "Experiment", wishes: _Wishes) -> "tuple[Experiment, Plan]":
    plan = experiment.quick if wishes.quick else experiment.full
    trials = wishes.trials if experiment.sampled else None
    plan = plan.only(wishes.only)
    return experiment, plan.changed(datasets=wishes.datasets, methods=wishes.methods, trials=trials)


def _plans_of_all(wishes: _Wishes) -> "list[tuple[Experiment, Plan]]":
    """Plan every experiment with those of the wished names that it has."""
    from likewise.experiments.catalogue import EXPERIMENTS

    every = [one for one in EXPERIMENTS.values() if not one.by_name_only]
    known = {name for experiment in every for name in experiment.methods}
    for name in wishes.methods or ():
        if name not in known:
            raise ValueError(f"No experiment has a method {name!r}; there are {_list(known)}.")
    plans = []
    for experiment in every:
        methods = wishes.methods
        if methods is not None:
            methods = [name for name in methods if name in experiment.methods]
        if methods == []:
            continue
        datasets = wishes.datasets if experiment.sampled else None
        plans.append(_plan_of(experiment, replace(wishes, methods=methods, datasets=datasets)))
    return plans


def _run_plans(plans: "Sequence[tuple[Experiment, Plan]]", wishes: _Wishes) -> int:
    """Run what is missing and return how much that was."""
    from likewise.experiments.experiment import prepare_again, run

    if wishes.again:
        for one, plan in plans:
            prepare_again(one, plan, wishes.out)
    # All are planned before the first is run, so that a wrong name is told at once.
    runs = [(one, *run(one, plan, wishes.out, jobs=wishes.jobs)) for one, plan in plans]
    try:
        for experiment, count, records in runs:
            with closing(records):
                for _ in track(records, f"{experiment.name}:", count):
                    pass
    except KeyboardInterrupt:
        note("stopped; what is finished is kept, and the same command goes on from there.")
        raise
    return sum(count for _, count, _ in runs)


def _refuse_misplaced_options(context: typer.Context) -> None:
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--json" if name == "as_json" else f"--{name}"
            raise ValueError(
                f"{option} stands before the name of the experiment; put it after "
                f"{context.invoked_subcommand!r}."
            )


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return list(dict.fromkeys(part.strip() for part in text.split(",")))


def _numbers(text: str | None) -> dict[str, set[float]]:
    """Read settings and their values."""
    found: dict[str, set[float]] = {}
    for part in _names(text) or ():
        name, _, number = part.partition("=")
        try:
            found.setdefault(name.strip(), set()).add(float(number))
        except ValueError:
            raise ValueError(f"--only takes settings as n=300,prior=0.7; got {part!r}.") from None
    return found


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _show(sections: "Sequence[Section]") -> None:
    """Print the first table of every section without its prose; the rest is in the report."""
    from rich.console import Console

    for section in sections:
        for table in section.tables[:1]:
            drawn = _draw(_narrow(_without_prose(table)), section.title)
            # Never narrower than the table: a number broken over two lines cannot be read.
            needed = Console(width=1000).measure(drawn).maximum
            console = Console()
            console.width = max(console.width, needed)
            console.print(drawn)


def _draw(table: "Table", title: str) -> Any:
    from rich.table import Table as Drawing
    from rich.text import Text

    drawing = Drawing(title=title, title_justify="left", caption=table.caption)
    for place, heading in enumerate(table.header):
        drawing.add_column(heading, justify="right" if place else "left")
    for row in table.rows:
        drawing.add_row(*(Text(cell.text, style="bold" if cell.bold else "") for cell in row))
    return drawing


def _without_prose(table: "Table") -> "Table":
    """Leave out columns of sentences."""
    from likewise.pages.document import Table

    kept = [
        place
        for place in range(len(table.header))
        if all(len(row[place].text) <= _LONGEST_CELL for row in table.rows)
    ]
    return Table(
        table.caption,
        tuple(table.header[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in table.rows),
    )


def _narrow(table: "Table") -> "Table":
    """Turn a table round if that makes it narrower."""
    from likewise.pages.document import Cell, Table

    if len(table.header) <= len(table.rows) + 1:
        return table
    lines = [tuple(Cell(heading) for heading in table.header), *table.rows]
    first, *others = zip(*lines, strict=True)
    return Table(table.caption, tuple(cell.text for cell in first), tuple(others))
