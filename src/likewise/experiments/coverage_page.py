"""What a report says of intervals: how often they held the truth, how wide they are, how far off.

A cell is a source, a setting, a number of statements and a prior; it is judged by its trials.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta, binom, norm

from likewise.experiments.figures import legend_of_all, panels
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group
from likewise.pages.document import Cell, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Coverage", "coverages", "plot", "sections"]

_CELL = ("method", "dataset", "n", "prior")
_ENOUGH = 20
"""Trials from which on a cell is shown by itself: the share of fewer is anything."""
_MANY = 300
"""Statements from which on intervals are judged prior by prior, and source by source."""
_BAND = (0.84, 0.97)
"""Shares that are near enough to a nominal 90 %."""
_NOMINAL = 0.9
_REACH = float(norm.ppf((1.0 + _NOMINAL) / 2.0))


@dataclass(frozen=True)
class Coverage:
    """How the intervals of one quantity did in one cell.

    Attributes
    ----------
    quantity, method, dataset : str
    n : int
    prior : float
    hits, trials : int
    bias : float
        Mean of value less truth.
    width : float
        Median.
    ratio : float or None
        Median width as a multiple of the narrowest possible; for the prior.
    """

    quantity: str
    method: str
    dataset: str
    n: int
    prior: float
    hits: int
    trials: int
    bias: float
    width: float
    ratio: float | None

    @property
    def share(self) -> float:
        """Share of intervals that held the truth."""
        return self.hits / self.trials


def coverages(records: Sequence[Record]) -> list[Coverage]:
    """Count how often intervals held the truth, for every quantity in every cell.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Coverage
    """
    found = []
    good = [record for record in records if record.get("intervals")]
    for (method, dataset, n, prior), own in group(good, *_CELL).items():
        names = dict.fromkeys(name for record in own for name in record["intervals"])
        for name in names:
            rows = [record for record in own if name in record["intervals"]]
            ends = np.array([_allowing_for_truth(record, name) for record in rows])
            value, low, high, truth = ends.T
            said = (record["intervals"][name] for record in rows)
            widths = [own_high - own_low for _, own_low, own_high, _ in said]
            # At one half either class may be the majority, and the truth is on the edge.
            hits = int(np.sum((low - 1e-9 <= truth) & (truth <= high + 1e-9)))
            ratios = [
                width / (2.0 * record["narrowest"])
                for width, record in zip(widths, rows, strict=True)
                if name == "prior" and record.get("narrowest")
            ]
            found.append(
                Coverage(
                    name,
                    method,
                    dataset,
                    n,
                    prior,
                    hits,
                    len(rows),
                    float(np.mean(value - truth)),
                    float(np.median(widths)),
                    float(np.median(ratios)) if ratios else None,
                )
            )
    return found


def _allowing_for_truth(record: Record, name: str) -> list[float]:
    """Return value, ends and truth, the ends allowing for how well the truth is known."""
    value, low, high, truth = record["intervals"][name]
    error = _REACH * record.get("truth_errors", {}).get(name, 0.0)
    if error:
        low = value - float(np.hypot(max(value - low, 0.0), error))
        high = value + float(np.hypot(max(high - value, 0.0), error))
    return [value, low, high, truth]


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of intervals.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    usual = _of_most_cells(records)
    found = coverages(usual)
    cells = [one for one in coverages(records) if one.trials >= _ENOUGH]
    caption = "Coverage by setting, with its 95 % interval; small dots are single cells."
    pictures = (Picture(caption, lambda: plot(found, cells)),)
    paragraphs = (
        "Every interval is a nominal 90 % interval. A cell is a source, a setting, a number of "
        "statements and a prior. Shares over several cells leave out trials that fewer than half "
        "of a setting's cells have, so that no cell counts more than the others. In brackets: the "
        "exact (Clopper-Pearson) 95 % interval of the "
        "share. Intervals that a report does not give, since there is no signal, do not count. "
        "Where the classes are equally large, the truth lies at the lower end of all that the "
        "majority class's share can be. Accuracy, rates and recall are measured on rows kept "
        "apart, of which some sources have few: before hits are counted, the standard error of "
        "that is added to intervals, in quadrature. The information in a fresh pair is compared "
        "with what the classifier's calibrated probabilities would gain on new pairs; what is "
        "reported comes from models of folds, which learned from four pairs of five, and its "
        "interval reaches 1.64 standard errors to both sides.",
    )
    about = f"Every cell of {_ENOUGH} trials and more by itself."
    of_cells = [Section("Cells", (about,), (_by_cell(cells), _tests_of_cells(records)), ())]
    return [
        Section(
            "Intervals",
            paragraphs,
            (
                _by_quantity(found, cells),
                _by_setting(found, cells),
                _by_prior(found),
                _by_source(found),
            ),
            pictures if found else (),
        ),
        *(of_cells if cells else []),
        Section(
            "Tests",
            (
                "How often tests raise an alarm. A trial fails without enough rows in its source, "
                "or if three classes are wanted of a source that has two. Where half of the pairs "
                "are of class +1 (free), random pairing should be rejected, but at a prior of one "
                "half, where it holds.",
            ),
            (_tests(usual), _pairing_tests(usual)),
            (),
        ),
    ]


def _of_most_cells(records: Sequence[Record]) -> list[Record]:
    """Leave out trials that only few cells of a setting have."""
    kept = []
    for own in group(records, "method").values():
        n_cells = len(group(own, *_CELL))
        counts = Counter(record["trial"] for record in own)
        kept += [record for record in own if 2 * counts[record["trial"]] >= n_cells]
    return kept


def _by_quantity(found: Sequence[Coverage], all_cells: Sequence[Coverage]) -> Table:
    """Tell how many cells are near the level, and how many would be if all held 90 %."""
    rows = []
    for (quantity,), own in _grouped(found, "quantity"):
        of_quantity = [one for one in all_cells if one.quantity == quantity]
        for name, is_many in ((f"under {_MANY}", False), (f"{_MANY} and more", True)):
            part, cells = (
                [one for one in some if (one.n >= _MANY) == is_many] for some in (own, of_quantity)
            )
            if part:
                within = sum(_BAND[0] <= one.share <= _BAND[1] for one in cells)
                rows.append(
                    (
                        Cell(quantity),
                        Cell(name),
                        _pooled_cell(part),
                        Cell(str(len(cells)), float(len(cells))),
                        _number(100 * within / len(cells) if cells else None, 0),
                        _number(_expected_within(cells), 0),
                        _least_cell(cells),
                    )
                )
    low, high = (f"{100 * share:.0f}" for share in _BAND)
    header = (
        "quantity", "statements", "coverage, %", f"cells of {_ENOUGH} trials and more",
        f"of them within {low} to {high}, %", "expected if all held 90, %", "least cell, %",
    )  # fmt: skip
    return Table("Coverage by quantity, and how many cells are near the level", header, tuple(rows))


def _expected_within(cells: Sequence[Coverage]) -> float | None:
    """Return the percentage of cells that would be expected in the band if all held 90 %."""
    if not cells:
        return None
    probabilities = []
    for one in cells:
        hits = np.arange(one.trials + 1)
        near = (hits >= _BAND[0] * one.trials) & (hits <= _BAND[1] * one.trials)
        probabilities.append(binom.pmf(hits[near], one.trials, _NOMINAL).sum())
    return 100 * float(np.mean(probabilities))


def _least_cell(cells: Sequence[Coverage]) -> Cell:
    least = min(cells, key=lambda one: one.share, default=None)
    if least is None:
        return Cell("")
    where = f"{least.method}, {least.dataset}, {least.n}, {least.prior:g}"
    return Cell(f"{100 * least.share:.0f} of {least.trials} ({where})", 100 * least.share)


def _by_setting(found: Sequence[Coverage], cells: Sequence[Coverage]) -> Table:
    rows = []
    for (quantity, method, n), own in _grouped(found, "quantity", "method", "n"):
        ratios = [one.ratio for one in own if one.ratio is not None]
        here = [one for one in cells if (one.quantity, one.method, one.n) == (quantity, method, n)]
        worst = min(here, key=lambda one: one.share, default=None)
        rows.append(
            (
                Cell(quantity),
                Cell(method),
                Cell(str(n), float(n)),
                _pooled_cell(own),
                Cell("")
                if worst is None
                else Cell(
                    f"{100 * worst.share:.0f} ({worst.dataset}, {worst.prior:g})",
                    100 * worst.share,
                ),
                _bias_cell(own),
                _number(float(np.median([one.width for one in own])), 3),
                _number(float(np.median(ratios)) if ratios else None, 2),
            )
        )
    header = (
        "quantity", "setting", "statements", "coverage, %", "worst cell, %", "bias", "width",
        "width / narrowest",
    )  # fmt: skip
    return Table("Coverage over sources and priors", header, tuple(rows))


def _by_prior(found: Sequence[Coverage]) -> Table:
    many = [one for one in found if one.n >= _MANY]
    rows = tuple(
        (Cell(quantity), Cell(method), Cell(f"{p:g}", p), _pooled_cell(own), _bias_cell(own))
        for (quantity, method, p), own in _grouped(many, "quantity", "method", "prior")
    )
    header = ("quantity", "setting", "prior", "coverage, %", "bias")
    return Table(f"Coverage by prior, {_MANY} statements and more", header, rows)


def _by_source(found: Sequence[Coverage]) -> Table:
    many = [one for one in found if one.n >= _MANY]
    rows = tuple(
        (Cell(quantity), Cell(method), Cell(source), _pooled_cell(own), _bias_cell(own))
        for (quantity, method, source), own in _grouped(many, "quantity", "method", "dataset")
    )
    header = ("quantity", "setting", "source", "coverage, %", "bias")
    return Table(f"Coverage by source, {_MANY} statements and more", header, rows)


def _grouped(
    found: Sequence[Coverage], *fields: str
) -> list[tuple[tuple[Any, ...], list[Coverage]]]:
    """Return the cells that agree in some fields together, in the order of these."""

    def key(one: Coverage) -> tuple[Any, ...]:
        return tuple(getattr(one, field) for field in fields)

    return [(own, list(cells)) for own, cells in groupby(sorted(found, key=key), key)]


def _pooled_cell(own: Sequence[Coverage]) -> Cell:
    return _share_cell(sum(one.hits for one in own), sum(one.trials for one in own))


def _bias_cell(own: Sequence[Coverage]) -> Cell:
    return _number(float(np.mean([one.bias for one in own])), 3)


def _by_cell(found: Sequence[Coverage]) -> Table:
    rows = tuple(
        (
            Cell(one.quantity),
            Cell(one.method),
            Cell(one.dataset),
            Cell(str(one.n), float(one.n)),
            Cell(f"{one.prior:g}", one.prior),
            _share_cell(one.hits, one.trials),
            _number(one.bias, 3),
            _number(one.width, 3),
        )
        for one in found
    )
    header = (
        "quantity", "setting", "source", "statements", "prior", "coverage, %", "bias", "width",
    )  # fmt: skip
    return Table("Coverage of every cell", header, rows)


def _tests(records: Sequence[Record]) -> Table:
    rows = []
    for (method, n), own in sorted(group(records, "method", "n").items()):
        good = [record for record in own if record["status"] == "ok"]
        failed = len(own) - len(good)
        rows.append(
            (
                Cell(method),
                Cell(str(n), float(n)),
                *_alarms(good),
                Cell(str(failed), float(failed)),
            )
        )
    header = ("setting", "statements", "signal found, %", "pairing rejected, %", "failed")
    return Table("How often a signal is found and random pairing is rejected", header, tuple(rows))


def _tests_of_cells(records: Sequence[Record]) -> Table:
    good = [record for record in records if record["status"] == "ok"]
    rows = [
        (Cell(method), Cell(dataset), Cell(str(n), float(n)), Cell(f"{p:g}", p), *_alarms(own))
        for (method, dataset, n, p), own in sorted(group(good, *_CELL).items())
        if len(own) >= _ENOUGH
    ]
    header = (
        "setting", "source", "statements", "prior", "signal found, %", "pairing rejected, %",
    )  # fmt: skip
    return Table("Tests in every cell", header, tuple(rows))


def _alarms(records: Sequence[Record]) -> tuple[Cell, Cell]:
    """Tell how often a signal was found, and how often random pairing was rejected if tested."""
    tested = [one["pairing_rejected"] for one in records if one["pairing_rejected"] is not None]
    signals = sum(record["signal"] for record in records)
    return _share_cell(signals, len(records)), _share_cell(sum(tested), len(tested))


def _pairing_tests(records: Sequence[Record]) -> Table:
    """Tell by prior how often random pairing is rejected: how far it is off depends on that."""
    rows = []
    tested = [one for one in records if one.get("pairing_rejected") is not None]
    for (method, n, prior), own in sorted(group(tested, "method", "n", "prior").items()):
        rejected = sum(record["pairing_rejected"] for record in own)
        rows.append(
            (
                Cell(method),
                Cell(str(n), float(n)),
                Cell(f"{prior:g}", prior),
                _share_cell(rejected, len(own)),
            )
        )
    header = ("setting", "statements", "prior", "pairing rejected, %")
    return Table("How often random pairing is rejected, by prior", header, tuple(rows))


def _share_cell(hits: int, trials: int) -> Cell:
    if not trials:
        return Cell("")
    low, high = _exact(hits, trials)
    share = 100 * hits / trials
    return Cell(f"{share:.0f} ({100 * low:.0f} to {100 * high:.0f}) of {trials}", share)


def _exact(hits: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Clopper and Pearson."""
    low = beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


def _number(value: float | None, digits: int) -> Cell:
    return Cell("") if value is None else Cell(f"{value:.{digits}f}", value)


def plot(found: Sequence[Coverage], cells: Sequence[Coverage]) -> "Figure":
    """Draw coverage over all cells, and that of cells with many trials; a panel for each setting.

    Parameters
    ----------
    found : sequence of Coverage
        Of all cells, as many trials of each.
    cells : sequence of Coverage
        Of those with many trials.

    Returns
    -------
    matplotlib Figure
    """
    from likewise.plots import BLUE, GREEN, PURPLE, VERMILION

    methods = sorted({one.method for one in found})
    quantities = ("prior", "accuracy", "true-positive rate", "error rate")
    colors = dict(zip(quantities, (BLUE, VERMILION, GREEN, PURPLE), strict=True))
    figure, axes = panels(
        methods,
        xlabel="statements",
        ylabel="coverage of a nominal 90 % interval, %",
        heading="Coverage of nominal 90 % intervals",
    )
    sizes = sorted({one.n for one in found})
    for panel, method in zip(axes, methods, strict=True):
        panel.axhline(90, color="0.5", lw=1)
        panel.axhspan(84, 97, color="0.92", zorder=0)
        for place, quantity in enumerate(quantities):
            own, of_cells = (
                [one for one in some if (one.method, one.quantity) == (method, quantity)]
                for some in (found, cells)
            )
            if own:
                where = (sizes, 0.15 * (place - 1.5))
                _draw_quantity(panel, own, of_cells, *where, quantity, colors[quantity])
        panel.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        panel.set_ylim(0, 104)
    legend_of_all(figure, axes)
    return figure


def _draw_quantity(
    panel: "Axes",
    own: Sequence[Coverage],
    cells: Sequence[Coverage],
    sizes: Sequence[int],
    shift: float,
    label: str,
    color: str,
) -> None:
    """Draw cells of enough trials as dots, and all cells of a size together with an error bar."""
    places = [sizes.index(one.n) + shift for one in cells]
    panel.scatter(places, [100 * one.share for one in cells], s=10, alpha=0.4, color=color)
    for size in sizes:
        of_size = [one for one in own if one.n == size]
        trials, hits = sum(one.trials for one in of_size), sum(one.hits for one in of_size)
        if trials:
            share, ends = hits / trials, np.array(_exact(hits, trials))
            panel.errorbar(
                sizes.index(size) + shift,
                100 * share,
                yerr=100 * np.abs(ends - share)[:, None],
                fmt="o",
                ms=5,
                capsize=2,
                color=color,
                label=label if size == min(one.n for one in own) else None,
            )
