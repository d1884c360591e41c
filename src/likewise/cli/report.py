"""``likewise report``: how accurate a classifier is, from a table and pairs, without labels."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    Inputs,
    PairsPath,
    TablePath,
    read_inputs,
    read_inputs_of,
)
from likewise.cli.pair_method import pair_pipeline
from likewise.cli.terminal import Json, Seed, show_json, waiting
from likewise.cli.wording import option_words

if TYPE_CHECKING:
    from likewise.experiments.document import Picture, Section, Table
    from likewise.report.label_free import LabelFreeReport

__all__ = ["report"]

_MEASURES = {
    "accuracy": ("accuracy", "of all rows, the share given the right class"),
    "true_positive_rate": ("true-positive rate", "of the rows of +1, the share called +1"),
    "false_positive_rate": ("false-positive rate", "of the rows of -1, the share called +1"),
    "prior": ("prior of +1", "the share of class +1 among the rows"),
    "pair_agreement": ("pair agreement", "of the similar pairs, the share given one class"),
}
_VERDICTS = {True: "holds", False: "doubtful", None: "not tested"}


def report(
    table: TablePath,
    pairs: PairsPath,
    model: Annotated[
        Path | None,
        typer.Option(help="A model that `likewise fit` saved; if not given, one is fitted."),
    ] = None,
    same_pairs: Annotated[
        bool,
        typer.Option(
            "--same-pairs/--new-pairs", help="Whether the model was fitted on these pairs."
        ),
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Save the report too: .html with pictures, or .json."),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say how accurate a classifier is, from the rows of TABLE and PAIRS of them, without labels.

    Where the classifier learned from these pairs, it is refitted without some of them in turn, and
    judged by those that are left out.
    """
    _check_options(level, model, same_pairs)
    if output is not None:
        _check_output(output, (table, pairs, *([] if model is None else [model])))
    if model is None:
        inputs = read_inputs(table, pairs, id_column=id_column, features=features, drop=drop)
        pipeline = pair_pipeline(inputs, seed=seed)
    else:
        _refuse_columns(id_column, features, drop)
        pipeline, inputs = _load(model, table, pairs)
    # One block for both, so that pairs without a signal are told once: by the error.
    with waiting("Judging"), option_words() as warnings:
        if model is None:
            pipeline.fit(*inputs.pack())
        X, y = _transformed(pipeline, inputs)
        found = _judge(pipeline, X, y, level=level, same_pairs=same_pairs, seed=seed)
    facts = {
        "table": str(table),
        "pairs": str(pairs),
        "model": None if model is None else str(model),
    }
    content = {**facts, **inputs.counts(), **found.to_dict(), "warnings": warnings}
    if output is not None:
        content["output"] = str(output)
        _save(output, content, found, facts, pictures=_pictures(found, pipeline, X, y))
    if as_json:
        show_json(content)
        return
    typer.echo(str(found))
    if output is not None:
        typer.echo(f"Report: {output}")


def _check_options(level: float, model: Path | None, same_pairs: bool) -> None:
    """Refuse what cannot be before any file is read."""
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1, as 0.95; got {level:g}.")
    if model is None and not same_pairs:
        raise ValueError(
            "--new-pairs needs --model: without it, a classifier is fitted on these pairs."
        )


def _check_output(output: Path, inputs: Sequence[Path]) -> None:
    from likewise.io import check_output

    check_output(output, inputs=inputs)
    if output.suffix.lower() not in {".html", ".json"}:
        raise ValueError(
            f"{output} is neither an .html nor a .json file by its name; a report is one of the "
            "two."
        )


def _refuse_columns(id_column: str | None, features: str | None, drop: str | None) -> None:
    given = {"--id": id_column, "--features": features, "--drop": drop}
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Give either --model or {name}, not both: a model knows its columns.")


def _load(model: Path, table: Path, pairs: Path) -> tuple[Any, Inputs]:
    from likewise.io import load_model

    loaded = load_model(model)
    return loaded.estimator, read_inputs_of(loaded, table, pairs)


def _transformed(pipeline: Any, inputs: Inputs) -> tuple[Any, Any]:
    """Return packed rows as the classifier at the end of a fitted pipeline sees them."""
    rows, y = inputs.pack()
    return pipeline[:-1].transform(rows), y


def _judge(
    pipeline: Any, X: Any, y: Any, *, level: float, same_pairs: bool, seed: int
) -> "LabelFreeReport":
    from likewise import label_free_report

    return label_free_report(
        pipeline[-1], X, y, level=level, trained_on_same_pairs=same_pairs, random_state=seed
    )


def _save(
    output: Path,
    content: dict[str, Any],
    found: "LabelFreeReport",
    facts: dict[str, str | None],
    *,
    pictures: "tuple[Picture, ...]",
) -> None:
    from likewise import __version__
    from likewise.experiments.report import write_report
    from likewise.io import replacing

    if output.suffix.lower() == ".json":
        with replacing(output) as stream:
            stream.write(json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")
        return
    lines = {
        **facts,
        "model": facts["model"] or "the pair method, fitted on these pairs",
        "rows and pairs": f"{found.n_rows:,} rows, {found.n_pairs:,} pairs, no labels",
        "version": f"likewise {__version__}",
    }
    write_report(
        output,
        "How accurate is this classifier? A report without labels",
        _sections(found, pictures),
        {name: str(fact) for name, fact in lines.items()},
    )


def _sections(found: "LabelFreeReport", pictures: "tuple[Picture, ...]") -> "list[Section]":
    from likewise.experiments.document import Section

    return [
        Section("What the pairs say", (_verdict(found),), (_table(found),), pictures),
        Section(
            "What this rests on",
            (
                "The numbers above are right only as far as these assumptions are. They are tested "
                "on the pairs themselves; a test that finds nothing is no proof.",
            ),
            (_checks(found),),
        ),
    ]


def _verdict(found: "LabelFreeReport") -> str:
    low, high = found.accuracy.interval
    how = (
        "by copies of the classifier that had not learned from it"
        if found.cross_fitted
        else "by the classifier itself, which had not learned from these pairs"
    )
    return (
        f"About {found.accuracy.value:.1%} of new rows are given the right class "
        f"({100 * found.level:g} % interval {low:.1%} to {high:.1%}). No label was used: similar "
        f"pairs and unlabeled rows tell how often predictions are right. Every row was predicted "
        f"{how}."
    )


def _table(found: "LabelFreeReport") -> "Table":
    from likewise.experiments.document import Cell, Table

    rows = []
    for name, (title, meaning) in _MEASURES.items():
        estimate = getattr(found, name)
        numbers = (estimate.value, *estimate.interval)
        shares = (Cell(f"{number:.1%}", value=number) for number in numbers)
        rows.append((Cell(title), *shares, Cell(meaning)))
    return Table(
        f"Estimates with {100 * found.level:g} % intervals",
        ("measure", "estimate", "from", "to", "meaning"),
        tuple(rows),
    )


def _checks(found: "LabelFreeReport") -> "Table":
    from likewise.experiments.document import Cell, Table

    return Table(
        "Assumptions",
        ("assumption", "verdict", "finding"),
        tuple(
            (Cell(check.name), Cell(_VERDICTS[check.passed]), Cell(check.text))
            for check in found.checks
        ),
    )


def _pictures(found: "LabelFreeReport", pipeline: Any, X: Any, y: Any) -> "tuple[Picture, ...]":
    from likewise.experiments.document import Picture

    def draw_scores() -> Any:
        from matplotlib.figure import Figure

        from likewise.plots import plot_score_histograms

        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        plot_score_histograms(pipeline[-1], X, y, ax=figure.subplots())
        return figure

    return (
        Picture("The estimates, and the chances of class +1 behind them.", found.plot),
        Picture(
            "Decision values of the rows and of the members of pairs: where the classes are "
            "found, similar pairs hold more of the larger one.",
            draw_scores,
        ),
    )
