"""The paper's Figure 4: how far off estimated class priors are, as the sample grows.

Section 5.1 reads: "Different dataset sizes {200, 400, 800, 1600} are tested, where half of the data
are S pairs and the other half are U data." We take a datum to be a pair or a row, as the paper's
n_S and n_U do: size n means n / 2 similar pairs (so n rows) and n / 2 unlabeled rows. The prior of
class +1 is 0.7; the paper's figure shows two datasets, here all twelve can be run. Neither paper
says how features were scaled: both estimators standardise them. Beside the paper's KM1 and KM2
stands the estimator by pair moments, on the same samples.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import list_datasets, load, sample_su
from likewise.experiments.runner import Record, keep_records, key_of, read_records, run_trials
from likewise.io import replacing
from likewise.prior import KernelMeanPrior, PairMomentPrior, PriorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["METHODS", "PRIOR", "SIZES", "Cell", "plot", "run", "run_trial", "save_plot", "summary"]

NAME = "prior"
METHODS = ("km1", "km2", "pair_moments")
SIZES = (200, 400, 800, 1600)
PRIOR = 0.7
N_TRIALS = 100
QUICK: dict[str, Any] = {"datasets": ["banana", "waveform"], "sizes": (200, 400), "trials": 3}
"""Settings for a first look."""

_TITLES = {"km1": "KM1 (paper)", "km2": "KM2 (paper)", "pair_moments": "pair moments"}


@dataclass(frozen=True)
class Cell:
    """One point of the figure.

    Attributes
    ----------
    dataset, method : str
    n : int
    trials, failed : int
        Trials that gave a value, and that did not.
    error : float or None
        Mean absolute error over the trials that gave a value.
    standard_error : float or None
        Of that mean; None for a single trial.
    reason : str or None
        Why the first failed trial failed.
    """

    dataset: str
    n: int
    method: str
    trials: int
    failed: int
    error: float | None
    standard_error: float | None
    reason: str | None


def run_trial(dataset: str, n: int, method: str, trial: int) -> Record:
    """Draw one sample, estimate its prior, and say how far off the estimate is.

    Parameters
    ----------
    dataset : str
    n : int
        Half as many pairs and half as many unlabeled rows are drawn.
    method : {"km1", "km2", "pair_moments"}
    trial : int
        The seed: with `dataset` and `n` it fixes the sample, which is the same for every method.

    Returns
    -------
    dict
        ``experiment, dataset, n, method, trial, status`` ("ok" or "failed"), ``value``,
        ``interval``, ``error``, ``seconds`` (KM1 and KM2 come out of one computation, whose time
        both report), ``reason``; what there is not is None.
    """
    record: Record = {
        "experiment": NAME,
        "dataset": dataset,
        "n": n,
        "method": method,
        "trial": trial,
        "status": "ok",
        "value": None,
        "interval": None,
        "error": None,
        "seconds": None,
        "reason": None,
    }
    try:
        estimate, seconds = _ESTIMATORS[method](dataset, n, trial)
    except ValueError as error:
        return {**record, "status": "failed", "reason": " ".join(str(error).split())}
    interval = None if estimate.interval is None else [float(end) for end in estimate.interval]
    return {
        **record,
        "value": float(estimate.value),
        "interval": interval,
        "error": abs(float(estimate.value) - PRIOR),
        "seconds": seconds,
    }


def run(
    folder: Path,
    *,
    datasets: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = METHODS,
    trials: int = N_TRIALS,
    jobs: int = 1,
) -> tuple[int, Iterator[Record]]:
    """Run the trials whose records are not in the folder yet.

    Parameters
    ----------
    folder : Path
        Made if it is not there; records go to ``records.jsonl`` in it.
    datasets : names, optional
        By default all twelve.
    sizes : ints
    methods : names
    trials : int
        Number of trials of every dataset, size and method.
    jobs : int
        Number of processes; -1 is one for each core.

    Returns
    -------
    count : int
        How many trials are still to be run.
    records : iterator of dict
        Runs them: gives out each new record once it is in the file.
    """
    sources = {entry.name: entry.source for entry in list_datasets()}
    datasets = list(sources) if datasets is None else datasets
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise ValueError(
            f"There is no method {unknown[0]!r}; choose from {', '.join(METHODS)}, as a,b."
        )
    # A set that cannot be had is better missed now than at midnight, and before any download.
    for name in sorted(
        datasets, key=lambda name: sources.get(name) in {"folder", "cache", "OpenML"}
    ):
        load(name)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "records.jsonl"
    done = set(map(key_of, read_records(path)))
    groups = [
        [
            {"dataset": dataset, "n": n, "method": method, "trial": trial}
            for method in methods
            if (NAME, dataset, n, method, trial) not in done
        ]
        for trial in range(trials)
        for dataset in datasets
        for n in sizes
    ]
    groups = [group for group in groups if group]
    count = sum(map(len, groups))
    return count, keep_records(path, run_trials(run_trial, groups, jobs=jobs))


def summary(records: Sequence[Record]) -> list[Cell]:
    """Return mean errors, ordered by dataset, size and method.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Cell
    """
    found: dict[tuple[str, int, str], list[Record]] = {}
    for record in {key_of(record): record for record in records}.values():  # each trial once
        if record["experiment"] == NAME:
            found.setdefault((record["dataset"], record["n"], record["method"]), []).append(record)
    return [_cell(*key, found[key]) for key in sorted(found)]


def save_plot(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Draw the figure and save it as ``prior.png`` and ``prior.svg``.

    Parameters
    ----------
    folder : Path
    records : sequence of dict

    Returns
    -------
    list of Path
    """
    figure = plot(summary(records))
    paths = [folder / f"{NAME}.{suffix}" for suffix in ("png", "svg")]
    for path in paths:
        with replacing(path) as stream:
            figure.savefig(stream, format=path.suffix[1:], dpi=150)
    return paths


def plot(cells: Sequence[Cell]) -> "Figure":
    """Draw mean absolute errors with one standard error against n, a panel for each dataset.

    Parameters
    ----------
    cells : sequence of Cell

    Returns
    -------
    matplotlib Figure
        Its own, not pyplot's: no window opens, and there is nothing to close.
    """
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    if not datasets:
        raise ValueError("There are no records to draw.")
    columns = min(4, len(datasets))
    rows = -(-len(datasets) // columns)
    figure = Figure(figsize=(max(3.1 * columns, 6.2), 2.7 * rows + 0.7), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    sizes = sorted({cell.n for cell in cells})
    for panel, dataset in zip(panels, datasets, strict=False):
        _draw_panel(panel, [cell for cell in cells if cell.dataset == dataset], sizes)
        panel.set_title(dataset)
    for panel in panels[len(datasets) :]:
        panel.set_visible(False)
    panels[0].set_ylim(bottom=0.0)
    for position, panel in enumerate(panels[: len(datasets)]):
        if position + columns >= len(datasets):  # nothing below it
            panel.tick_params(labelbottom=True)
            panel.set_xlabel("n")
    figure.suptitle(
        f"Class prior {PRIOR:g} estimated from n/2 similar pairs and n/2 unlabeled rows",
        fontsize="medium",
    )
    figure.supylabel("mean absolute error (whiskers: one s.e.)", fontsize="medium")
    drawn: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        drawn.update(zip(labels, handles, strict=True))
    figure.legend(
        drawn.values(), drawn, loc="outside lower center", ncols=len(drawn), frameon=False
    )
    return figure


def _draw_panel(ax: "Axes", cells: Sequence[Cell], sizes: Sequence[int]) -> None:
    from likewise.plots import BLUE, GREEN, GREY, VERMILION

    styles = {"km1": (BLUE, "s", -1), "km2": (VERMILION, "D", 0), "pair_moments": (GREEN, "o", 1)}
    for method, (color, marker, side) in styles.items():
        own = [cell for cell in cells if cell.method == method]
        if not own:
            continue
        good = [cell for cell in own if cell.error is not None]
        ax.errorbar(
            [cell.n * 1.03**side for cell in good],  # beside each other, lest whiskers cover
            [cell.error or 0.0 for cell in good],
            yerr=[cell.standard_error or 0.0 for cell in good],
            color=color,
            marker=marker,
            markersize=5,
            lw=1.8,
            capsize=3,
            label=_TITLES[method],
        )
    for n in sizes:
        here = [cell for cell in cells if cell.n == n]
        if here and all(cell.error is None for cell in here):
            ax.annotate(
                "pool too\nsmall" if "pool" in (here[0].reason or "") else "failed",
                (n, 0.5),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="center",
                color=GREY,
                fontsize="small",
            )
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    if len(sizes) > 1:
        ax.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)
    ax.grid(axis="y", alpha=0.3)


def _cell(dataset: str, n: int, method: str, records: Sequence[Record]) -> Cell:
    errors = np.array([record["error"] for record in records if record["status"] == "ok"])
    reasons = [record["reason"] for record in records if record["status"] != "ok"]
    spread = errors.std(ddof=1) / np.sqrt(errors.size) if errors.size > 1 else None
    return Cell(
        dataset=dataset,
        n=n,
        method=method,
        trials=int(errors.size),
        failed=len(reasons),
        error=float(errors.mean()) if errors.size else None,
        standard_error=None if spread is None else float(spread),
        reason=reasons[0] if reasons else None,
    )


@lru_cache(maxsize=2)
def _pool(dataset: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    return load(dataset, return_X_y=True)


def _sample(dataset: str, n: int, trial: int) -> tuple[Any, NDArray[np.int64]]:
    rng = np.random.default_rng([crc32(dataset.encode()), n, trial])
    sample = sample_su(*_pool(dataset), n // 2, n - n // 2, prior=PRIOR, random_state=rng)
    return sample.pack()


@lru_cache(maxsize=1)
def _fit_kernel_mean(dataset: str, n: int, trial: int) -> tuple[Any, float]:
    """Estimate by KM1 and KM2; remembered, since their trials come one after the other."""
    X, y = _sample(dataset, n, trial)
    start = perf_counter()
    fitted = KernelMeanPrior().fit(X, y)
    return fitted.estimates_, perf_counter() - start


def _km1(dataset: str, n: int, trial: int) -> tuple[PriorEstimate, float]:
    estimates, seconds = _fit_kernel_mean(dataset, n, trial)
    return estimates["km1"], seconds


def _km2(dataset: str, n: int, trial: int) -> tuple[PriorEstimate, float]:
    estimates, seconds = _fit_kernel_mean(dataset, n, trial)
    return estimates["km2"], seconds


def _pair_moments(dataset: str, n: int, trial: int) -> tuple[PriorEstimate, float]:
    X, y = _sample(dataset, n, trial)
    start = perf_counter()
    with warnings.catch_warnings():  # the record tells what came out
        warnings.simplefilter("ignore")
        fitted = PairMomentPrior(random_state=trial).fit(X, y)
    return fitted.estimate_, perf_counter() - start


_ESTIMATORS: dict[str, Callable[[str, int, int], tuple[PriorEstimate, float]]] = {
    "km1": _km1,
    "km2": _km2,
    "pair_moments": _pair_moments,
}
