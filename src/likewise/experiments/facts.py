"""What a report rests on, in words: commands, trials and seeds, versions, the kind of machine."""

import os
import platform
import shlex
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from likewise._version import __version__
from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.runner import SETTINGS, Record, Settings, key_of
from likewise.experiments.staleness import code_in_words, makers, stale
from likewise.experiments.statistics import group

__all__ = ["commands_of", "facts_of"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def facts_of(
    records: Sequence[Record], experiments: Mapping[str, Experiment], folder: Path
) -> dict[str, str]:
    """Return what a reader needs in order to judge records and make them again.

    Parameters
    ----------
    records : sequence of dict
        Each trial once.
    experiments : mapping of names to Experiment
    folder : Path
        Where the records are.

    Returns
    -------
    dict

    Examples
    --------
    >>> from pathlib import Path
    >>> from likewise.experiments.catalogue import EXPERIMENTS
    >>> from likewise.experiments.facts import facts_of
    >>> one = {"experiment": "prior", "dataset": "adult", "method": "km1", "trial": 2, "n": 200}
    >>> facts = facts_of([{**one, "status": "ok"}], EXPERIMENTS, Path("there"))
    >>> facts["to run it again"]
    'likewise reproduce prior --out there --quick --datasets adult --methods km1 --only n=200'
    >>> facts["trials"]
    'prior: 1 (seed 2)'
    """
    by_experiment = {name: own for (name,), own in group(records, "experiment").items()}
    failed = sum(record["status"] != "ok" for record in records)
    commands = [
        command
        for name, own in by_experiment.items()
        for command in commands_of(own, experiments[name], folder)
    ]
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    return {
        "to run it again": "; ".join(commands),
        "trials": ", ".join(f"{name}: {_trials(own)}" for name, own in by_experiment.items()),
        "seeds": "the number of a trial is its seed; all methods see the same samples",
        "records": f"{len(records):,}, of which {failed:,} are failures",
        "code": code_in_words(makers(records), stale(records)),
        "versions of this report": ", ".join(
            [f"likewise {__version__}", f"Python {platform.python_version()}", *libraries]
        ),
        "machine of this report": f"{platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores",
    }


def commands_of(records: Sequence[Record], experiment: Experiment, folder: Path) -> list[str]:
    """Return commands that make the records of an experiment again.

    Parameters
    ----------
    records : sequence of dict
    experiment : Experiment
    folder : Path

    Returns
    -------
    list of str
        One, or more if some methods were run on other sets, or some methods or settings more often
        than others.
    """
    start = ["likewise", "reproduce", experiment.name, "--out", str(folder)]
    plan = experiment.full
    found, full, quick = (
        set(map(key_of, some))
        for some in (records, experiment.trials(plan), experiment.trials(experiment.quick))
    )
    if found != full and found == quick:
        return [shlex.join([*start, "--quick"])]
    settings = _settings(records)
    is_part = settings < _settings(experiment.trials(plan))
    if settings <= _settings(experiment.trials(experiment.quick)) and is_part:
        start, plan = [*start, "--quick"], experiment.quick
    alike: dict[_Run, list[str]] = {}
    for (method,), own in group(records, "method").items():
        for run in _runs(own, plan):
            alike.setdefault(run, []).append(method)
    return [
        shlex.join([*start, *_options(plan, run, methods)])
        for run, methods in sorted(alike.items(), key=lambda one: bool(one[0].only))
    ]


class _Run(NamedTuple):
    """What one command runs of a method."""

    trials: int
    datasets: tuple[str, ...]
    only: tuple[str, ...] = ()


def _runs(records: Sequence[Record], plan: Plan) -> list[_Run]:
    """Return what makes the records of a method again: all cells, then some of them more often."""
    needed = {
        (dataset, tuple(values)): _needed(own, plan)
        for (dataset, *values), own in group(records, "dataset", *plan.settings).items()
    }
    datasets = tuple(sorted({dataset for dataset, _ in needed}))
    everywhere = len(needed) == len(datasets) * len(list(product(*plan.settings.values())))
    usual = 0
    if everywhere:
        usual = max(needed.values()) if _was_stopped(needed) else min(needed.values())
    more: dict[tuple[int, tuple[Any, ...]], list[str]] = {}
    for (dataset, values), trials in needed.items():
        if trials > usual:
            more.setdefault((trials, values), []).append(dataset)
    runs = [_Run(usual, datasets)] if everywhere else []
    for (trials, values), sets in more.items():
        only = tuple(f"{name}={value:g}" for name, value in zip(plan.settings, values, strict=True))
        runs.append(_Run(trials, tuple(sorted(sets)), only))
    return runs


def _was_stopped(needed: Mapping[tuple[str, tuple[Any, ...]], int]) -> bool:
    """Tell whether some settings have one trial more since a run did not come to its end."""
    most = max(needed.values())
    last = {values for (_, values), trials in needed.items() if trials == most}
    return len(last) > 1 and min(needed.values()) == most - 1


def _options(plan: Plan, run: _Run, methods: Collection[str]) -> list[str]:
    options = [] if run.trials == plan.trials else ["--trials", str(run.trials)]
    if set(run.datasets) != set(plan.datasets):
        options += ["--datasets", ",".join(run.datasets)]
    if set(methods) != set(plan.methods):
        options += ["--methods", ",".join(methods)]
    if run.only:
        options += ["--only", ",".join(run.only)]
    return options


def _settings(records: Sequence[Settings]) -> set[tuple[object, ...]]:
    return {tuple(record.get(name) for name in SETTINGS) for record in records}


def _needed(records: Sequence[Record], plan: Plan) -> int:
    """Return how many trials of a plan make the records again; of other seeds, as many."""
    last = max(int(record["trial"]) for record in records)
    return 1 + last - plan.first if last >= plan.first else _n_trials(records)


def _n_trials(records: Sequence[Record]) -> int:
    return len({record["trial"] for record in records})


def _trials(records: Sequence[Record]) -> str:
    """Return the number of trials with their seeds, and that of methods that have fewer."""
    counts = {method: _n_trials(own) for (method,), own in group(records, "method").items()}
    most = max(counts.values())
    seeds = sorted({int(record["trial"]) for record in records})
    ends = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    fewer = "".join(f"; {name}: {count}" for name, count in counts.items() if count < most)
    return f"{most} ({ends}{fewer})"
