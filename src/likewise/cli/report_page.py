"""The page of ``likewise report``: estimates, assumptions, suspects and pictures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.pages.document import Picture, Section
    from likewise.report.label_free import LabelFreeReport

__all__ = ["save_report", "suspects_section"]


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
    from likewise.io import replacing
    from likewise.pages.report import write_report
    from likewise.report.estimates import TITLE
    from likewise.report.page import facts_with, sections_of

    if output.suffix.lower() == ".json":
        with replacing(output) as stream:
            stream.write(json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")
        return
    files = {**facts, "model": facts["model"] or "the pair method, fitted on these pairs"}
    after = []
    if content["suspects"]:
        after.append(suspects_section(content["suspect_count"], content["suspects"]))
    write_report(
        output,
        TITLE,
        sections_of(found, _pictures(found, classifier, X, y), after),
        facts_with(found, {name: str(fact) for name, fact in files.items()}),
    )


def suspects_section(count: int, suspects: Sequence[Mapping[str, Any]]) -> "Section":
    """Return the section that lists statements which may be wrong, of `count` the first ones."""
    from likewise.pages.document import Cell, Section, Table

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
    from likewise.pages.document import Picture

    def draw_scores() -> Any:
        from matplotlib.figure import Figure

        from likewise.plots import plot_score_histograms

        figure = Figure(figsize=(4.3, 4.0), layout="constrained")
        plot_score_histograms(classifier, X, y, ax=figure.subplots())
        return figure

    if len(found.recall) != 2:
        return ()
    caption = (
        "Decision values of the rows and of the members of pairs: where the classes are found, "
        "similar pairs hold more of the majority class."
    )
    return (Picture(caption, draw_scores),)
