"""A label-free report as a page: verdict, estimates, mistakes, thresholds, assumptions, advice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise._version import __version__
from likewise.pages.document import Cell, Picture, Section, Table
from likewise.pages.report import page_of, write_report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from likewise.report.estimates import Estimate, LabelFreeReport

__all__ = ["class_names", "report_page", "sections_of"]

_WIDTH = 4.3
"""Inches: what fits a phone without scrolling is still large enough on a desk."""
_SHARES = (0.05, 0.1, 0.2, 0.5)
"""Shares of rows called +1 whose rates are listed."""
_VERDICTS = {True: "holds", False: "doubtful", None: "not tested"}


def report_page(report: "LabelFreeReport", path: Any, title: str) -> str:
    """Return a report as the text of an HTML file, and save it where a path is given.

    Parameters
    ----------
    report : LabelFreeReport
    path : path or None
    title : str
    """
    sections, facts = sections_of(report), facts_of(report)
    if path is not None:
        write_report(Path(path), title, sections, facts)
    return page_of(title, sections, facts)


def facts_of(report: "LabelFreeReport") -> dict[str, str]:
    """Return what the report rests on."""
    return {
        "rows and pairs": f"{report.n_rows:,} rows, {report.n_pairs:,} pairs, no labels",
        "version": f"likewise {__version__}",
    }


def class_names(classes: Sequence[Any]) -> list[str]:
    """Return the names of classes; -1 and +1 with their signs.

    Examples
    --------
    >>> from likewise.report.page import class_names
    >>> class_names([-1, 1]), class_names(["no", "yes"]), class_names([0, 1, 2])
    (['-1', '+1'], ['no', 'yes'], ['0', '1', '2'])
    """
    return ["-1", "+1"] if list(classes) == [-1, 1] else [str(label) for label in classes]


def sections_of(
    report: "LabelFreeReport", pictures: Sequence[Picture] = (), after: Sequence[Section] = ()
) -> list[Section]:
    """Return what the page says.

    Parameters
    ----------
    report : LabelFreeReport
    pictures : sequence of Picture
        To stand beside the estimates.
    after : sequence of Section
        To stand before what the numbers rest on.
    """
    names = class_names(list(report.recall))
    sections = [
        Section("What the pairs say", (_verdict(report),), (_estimates(report, names),)),
        Section(
            "Which classes are mixed up",
            ("Rows in a hundred, by their class and by the class that is predicted.",),
            (_confusion(report, names),),
            (*_spread(report, names), *pictures),
        ),
    ]
    if report.curve is not None:
        sections.append(_thresholds(report, names[1]))
    if report.calibration is not None:
        sections.append(_calibration(report, names))
    return [
        *sections,
        *after,
        *_help(report),
        Section(
            "What this rests on",
            (
                "The numbers above are right only if these assumptions hold. They are tested "
                "on the pairs themselves; a test that does not reject is no proof.",
            ),
            (_checks(report),),
        ),
    ]


def _verdict(report: "LabelFreeReport") -> str:
    low, high = report.accuracy.interval
    how = (
        "by copies of the classifier that had not learned from it"
        if report.cross_fitted
        else "by the classifier itself, which had not learned from these pairs"
    )
    beside = ""
    if report.baseline is not None:
        most = _percent(report.baseline.value)
        beside = f" Always predicting the majority class would be right for {most}."
    return (
        f"About {_percent(report.accuracy.value)} of new rows are given the right class "
        f"({100 * report.level:g} % interval {low:.1%} to {high:.1%}).{beside} No label was used: "
        "pairs and unlabeled rows show how often predictions are right. Every row was predicted "
        f"{how}."
    )


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _estimates(report: "LabelFreeReport", names: Sequence[str]) -> Table:
    rows = []
    for title, estimate, meaning in _measures(report, names):
        low, high = estimate.interval
        rows.append(
            (
                Cell(title, note=meaning),
                Cell(_percent(estimate.value), value=estimate.value),
                Cell(f"{100 * low:.1f} to {100 * high:.1f}", value=low),
            )
        )
    level = f"{100 * report.level:g} %"
    return Table(f"Estimates with {level} intervals", ("measure", "estimate", level), tuple(rows))


def _measures(
    report: "LabelFreeReport", names: Sequence[str]
) -> "Iterator[tuple[str, Estimate, str]]":
    """Yield the title, the estimate and the meaning of everything that there is."""
    yield "accuracy", report.accuracy, "Of all rows, the share given the right class."
    if report.baseline is not None:
        meaning = "Accuracy of always predicting the majority class."
        yield "majority-class baseline", report.baseline, meaning
    for label, name in zip(report.recall, names, strict=True):
        found = "Of the rows of this class, the share that is found."
        yield f"recall of {name}", report.recall[label], found
    if report.false_positive_rate is not None:
        meaning = f"Of the rows of class {names[0]}, the share that is called {names[1]}."
        yield "false-positive rate", report.false_positive_rate, meaning
    shares = report.prior if isinstance(report.prior, dict) else {names[1]: report.prior}
    for name, share in zip(names[-len(shares) :], shares.values(), strict=True):
        yield f"prior of {name}", share, "The share of this class among the rows."
    if report.pair_agreement is not None:
        meaning = "Of the similar pairs, the share whose rows are given one class."
        yield "pair agreement", report.pair_agreement, meaning
    if report.roc_auc is not None and report.average_precision is not None:
        meaning = (
            f"Probability that a row of class {names[1]} is ranked above one of class {names[0]}."
        )
        yield "area under the ROC curve", report.roc_auc, meaning
        meaning = "The mean precision over all thresholds, weighted by the recall that each adds."
        yield "average precision", report.average_precision, meaning


def _confusion(report: "LabelFreeReport", names: Sequence[str]) -> Table:
    shares = 100.0 * report.confusion
    rows = tuple(
        (
            Cell(name),
            *(Cell(f"{share:.1f}", value=float(share), bold=False) for share in of_class),
        )
        for name, of_class in zip(names, shares, strict=True)
    )
    header = ("class, by the pairs", *(f"called {name}" for name in names))
    return Table("Confusion matrix without labels, rows in a hundred", header, rows)


def _spread(report: "LabelFreeReport", names: Sequence[str]) -> list[Picture]:
    if len(names) > 2:
        return []

    def draw(ax: "Axes") -> None:
        from likewise.plots import plot_probabilities

        plot_probabilities(report.probabilities[:, 1], report.predictions == 1, names, ax=ax)

    return [_picture(f"Rows by their probability of class {names[1]}, by the pairs.", 3.0, draw)]


def _picture(caption: str, height: float, draw: "Callable[[Axes], None]") -> Picture:
    def figure() -> "Figure":
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(drawn.subplots())
        return drawn

    return Picture(caption, figure)


def _thresholds(report: "LabelFreeReport", name: str) -> Section:
    curve = report.curve
    assert curve is not None  # noqa: S101 - asked for where there is one
    rows = []
    for share in _SHARES:
        at = curve.at_share(share)
        numbers = (at["precision"], at["true_positive_rate"], at["false_positive_rate"])
        rows.append(
            (
                Cell(_percent(at["share"]), value=at["share"]),
                *(Cell(_percent(number), value=number) for number in numbers),
            )
        )
    table = Table(
        f"If only the rows with the highest scores are called {name}",
        ("called so", "precision", "recall", "false positives"),
        tuple(rows),
    )

    def draw_roc(ax: "Axes") -> None:
        from likewise.report.pictures import plot_roc

        plot_roc(curve, report.true_positive_rate, report.false_positive_rate, ax=ax)

    def draw_precision(ax: "Axes") -> None:
        from likewise.report.pictures import plot_precision_recall

        plot_precision_recall(curve, ax=ax)

    pictures = (
        _picture(
            "ROC curve without labels; the dot is the classifier's own threshold.", 3.9, draw_roc
        ),
        _picture("Precision and recall at all thresholds; dashed: the prior.", 3.6, draw_precision),
    )
    text = (
        "What another threshold would change. Every row counts for both classes, with its "
        "probability of each."
    )
    return Section("Other thresholds", (text,), (table,), pictures)


def _calibration(report: "LabelFreeReport", names: Sequence[str]) -> Section:
    curve = report.calibration
    assert curve is not None  # noqa: S101 - asked for where there is one
    of = f"of class {names[1]}" if len(names) == 2 else "of the class that it predicts"
    text = (
        f"The probability {of} that the classifier gives is off by "
        f"{100 * curve.error:.1f} points on average (expected calibration error)."
    )

    def draw(ax: "Axes") -> None:
        from likewise.report.pictures import plot_calibration

        plot_calibration(curve, ax=ax)

    caption = "Calibration without labels; on the diagonal, the probabilities are right."
    return Section(
        "Can its probabilities be trusted?", (text,), (), (_picture(caption, 3.9, draw),)
    )


def _help(report: "LabelFreeReport") -> list[Section]:
    if not report.suggestions:
        return []
    rows = tuple(
        (
            Cell(one.name),
            Cell(f"{100 * one.gain:.1f}", value=one.gain),
            Cell(one.text[:1].upper() + one.text[1:]),
        )
        for one in report.suggestions
    )
    table = Table("Most first", ("what", "points at most", "why"), rows)
    text = "How much accuracy each could add, estimated from the pairs. These are rough numbers."
    return [Section("What would help", (text,), (table,))]


def _checks(report: "LabelFreeReport") -> Table:
    return Table(
        "Assumptions",
        ("assumption", "verdict", "finding"),
        tuple(
            (Cell(check.name), Cell(_VERDICTS[check.passed]), Cell(check.text))
            for check in report.checks
        ),
    )


def facts_with(report: "LabelFreeReport", facts: Mapping[str, str]) -> dict[str, str]:
    """Return given facts before those of the report."""
    return {**facts, **facts_of(report)}
