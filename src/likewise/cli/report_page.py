"""The page of ``likewise report``: estimates, assumptions, suspects and pictures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.wording import class_names

if TYPE_CHECKING:
    from likewise.experiments.document import Picture, Section, Table
    from likewise.report.label_free import LabelFreeReport

__all__ = ["save_report", "suspects_section"]

_MEANINGS = {
    "accuracy": "of all rows, the share given the right class",
    "recall": "of the rows of this class, the share that is found",
    "prior": "the share of this class among the rows",
    "pair_agreement": "of the similar pairs, the share given one class",
}
_VERDICTS = {True: "holds", False: "doubtful", None: "not tested"}


def save_report(
    output: Path,
    content: Mapping[str, Any],
    found: "LabelFreeReport",
    facts: Mapping[str, str | None],
    classifier: Any,
    X: Any,
    y: Any,
) -> None:
    """Save a report, by the name's ending as a page or as numbers.

    Parameters
    ----------
    output : Path
        Its name ends in .html or .json.
    content : dict
        What ``--json`` shows.
    found : LabelFreeReport
    facts : dict
        The files: table, pairs, model.
    classifier : fitted classifier
    X, y : table and weak labels
        As the classifier takes them, for a picture of its scores.
    """
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
        _sections(found, content, _pictures(found, classifier, X, y)),
        {name: str(fact) for name, fact in lines.items()},
    )


def _sections(
    found: "LabelFreeReport", content: Mapping[str, Any], pictures: "tuple[Picture, ...]"
) -> "list[Section]":
    from likewise.experiments.document import Section

    suspects = content["suspects"]
    sections = [
        Section("What the pairs say", (_verdict(found),), (_table(found, content),), pictures),
        Section(
            "What this rests on",
            (
                "The numbers above are right only as far as these assumptions are. They are tested "
                "on the pairs themselves; a test that finds nothing is no proof.",
            ),
            (_checks(found),),
        ),
    ]
    if suspects:
        sections.append(suspects_section(content["suspect_count"], suspects))
    return sections


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


def _table(found: "LabelFreeReport", content: Mapping[str, Any]) -> "Table":
    from likewise.experiments.document import Cell, Table

    rows = []
    for name, title, estimate in _estimates(found, content):
        numbers = (estimate["value"], *estimate["interval"])
        shares = (Cell(f"{number:.1%}", value=number) for number in numbers)
        rows.append((Cell(title), *shares, Cell(_MEANINGS[name])))
    return Table(
        f"Estimates with {100 * found.level:g} % intervals",
        ("measure", "estimate", "from", "to", "meaning"),
        tuple(rows),
    )


def _estimates(
    found: "LabelFreeReport", content: Mapping[str, Any]
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield name, title and estimate of everything that there is, class by class."""
    yield "accuracy", "accuracy", content["accuracy"]
    names = dict(zip(found.recall, class_names(list(found.recall)), strict=True))
    for label, name in names.items():
        yield "recall", f"recall of {name}", content["recall"][str(label)]
    if len(names) == 2:
        yield "prior", f"prior of {list(names.values())[1]}", content["prior"]
    else:
        for label, name in names.items():
            yield "prior", f"prior of {name}", content["prior"][str(label)]
    if content["pair_agreement"] is not None:
        yield "pair_agreement", "pair agreement", content["pair_agreement"]


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


def suspects_section(count: int, suspects: Sequence[Mapping[str, Any]]) -> "Section":
    """Return the section that lists statements which may be wrong, of `count` the first ones."""
    from likewise.experiments.document import Cell, Section, Table

    text = (
        f"{count:,} statements are more likely wrong than others, given the columns and all other "
        "statements. Check these first."
    )
    rows = tuple(
        (
            Cell(", ".join(suspect["ids"])),
            Cell(suspect["relation"]),
            Cell(f"{suspect['probability']:.2f}", value=suspect["probability"]),
        )
        for suspect in suspects
    )
    header = ("ids", "said to be", "probability that it is wrong")
    table = Table("Most likely wrong first", header, rows)
    return Section("Statements that may be wrong", (text,), (table,))


def _pictures(found: "LabelFreeReport", classifier: Any, X: Any, y: Any) -> "tuple[Picture, ...]":
    from likewise.experiments.document import Picture

    def draw_scores() -> Any:
        from matplotlib.figure import Figure

        from likewise.plots import plot_score_histograms

        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        plot_score_histograms(classifier, X, y, ax=figure.subplots())
        return figure

    pictures = [Picture("The estimates, and the probabilities behind them.", found.plot)]
    if len(found.recall) == 2:
        caption = (
            "Decision values of the rows and of the members of pairs: where the classes are found, "
            "similar pairs hold more of the majority class."
        )
        pictures.append(Picture(caption, draw_scores))
    return tuple(pictures)
