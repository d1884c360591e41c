"""What could explain the paper's double-hinge column, as a table; `benchmarks` measures it.

Each line changes one thing against our own column, on the same samples.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from likewise.experiments.published import TABLE_4

__all__ = ["explained", "likeness", "tried"]

_METHOD = "su-double-hinge"
_NEAR = 3.0
"""Points within which an accuracy counts as near the paper's; a few trials leave about one."""


def likeness(accuracies: Mapping[str, float]) -> dict[str, float]:
    """Say how like the paper's column accuracies by dataset are.

    Parameters
    ----------
    accuracies : mapping of str to float
        In percent.

    Returns
    -------
    dict
        ``mean`` of the accuracies, ``apart``: root of the mean squared difference,
        ``correlation`` over datasets, ``near``: number of datasets within three points.
    """
    names = sorted(accuracies)
    ours = np.array([accuracies[name] for name in names])
    printed = np.array([_printed(name) for name in names])
    return {
        "mean": float(ours.mean()),
        "apart": float(np.sqrt(np.mean((ours - printed) ** 2))),
        "correlation": float(np.corrcoef(ours, printed)[0, 1]),
        "near": int(np.sum(np.abs(ours - printed) <= _NEAR)),
    }


def explained(path: Path) -> str:
    """Say what comes nearest to the paper's column, with the table of all that was tried.

    Parameters
    ----------
    path : Path
        As ``python -m benchmarks.double_hinge_column`` writes it.

    Returns
    -------
    str
        Markdown; that we do not know, as long as nothing was measured.
    """
    if not path.exists():
        return "We do not know how that column was computed."
    content = json.loads(path.read_text(encoding="utf-8"))
    found = {name: likeness(means) for name, means in _means(content).items()}
    own, *changes = found
    nearest = min(changes, key=lambda name: found[name]["apart"])
    near, ours = (f"{found[name]['apart']:.1f}" for name in (nearest, own))
    accuracies = [100 * np.array(of_set[nearest]) for of_set in content["accuracies"].values()]
    chance = float(np.sqrt(np.mean([one.var(ddof=1) / one.size for one in accuracies])))
    return (
        f"Of all that was tried, {nearest} comes nearest to it: {near} points apart (root mean "
        f"square over sets), where our own column is {ours} apart. These are {content['trials']} "
        f"trials each, whose mean is {chance:.1f} apart from that of many by chance. For the "
        "unbounded program, the solver's slacks grow without end and no constraint "
        "holds the weights; they end near a multiple of a weighted difference of the mean pair "
        "member and the mean row, almost whatever the penalty.\n\n" + tried(content)
    )


def tried(content: Mapping[str, Any]) -> str:
    """Return the table of what was tried, as Markdown.

    Parameters
    ----------
    content : mapping

    Returns
    -------
    str
    """
    found = _means(content)
    names = sorted(content["accuracies"])
    mean = float(np.mean([_printed(name) for name in names]))
    lines = [
        "| changed against our column | mean | points apart from the paper's, root mean square | "
        f"correlation over sets | sets within {_NEAR:g} points |",
        "| --- | ---: | ---: | ---: | ---: |",
        f"| *the paper's column* | *{mean:.1f}* | | | |",
    ]
    for change, means in found.items():
        like = likeness(means)
        lines.append(
            f"| {change} | {like['mean']:.1f} | {like['apart']:.1f} | {like['correlation']:.2f} | "
            f"{like['near']} of {len(names)} |"
        )
    return "\n".join(lines)


def _means(content: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return mean accuracies in percent, by change and dataset."""
    by_dataset: Mapping[str, Mapping[str, Sequence[float]]] = content["accuracies"]
    changes = next(iter(by_dataset.values()))
    return {
        change: {name: 100 * float(np.mean(own[change])) for name, own in by_dataset.items()}
        for change in changes
    }


def _printed(dataset: str) -> float:
    cell = TABLE_4[dataset, _METHOD]
    if cell is None:
        raise ValueError(f"The paper has no number of {_METHOD} on {dataset}.")
    return cell.accuracy
