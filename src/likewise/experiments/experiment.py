"""What an experiment is: which trials it has, what one measures, and what is shown of the records.

The experiments themselves are one file each; this one must not know any of them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

from likewise.experiments.runner import (
    SETTINGS,
    Measure,
    Record,
    Records,
    Settings,
    forget,
    keep_records,
    key_of,
    read_records,
    run_trials,
)
from likewise.experiments.samples import check_pools
from likewise.pages.document import Section

__all__ = ["RECORDS", "UNSEEN", "Experiment", "Plan", "prepare_again", "run"]

RECORDS = "records.jsonl"
"""Name of the file of records in the folder of a run."""

UNSEEN = 2000
"""First trial, and so seed, of experiments that judge our own methods. Their samples are to be ones
that no choice was made on: whoever tries a change out takes trials below, and raises this number
before a final run once trials from here on have been looked at."""


@dataclass(frozen=True)
class Plan:
    """Which trials to run: every dataset with every method and setting, `trials` times.

    Attributes
    ----------
    datasets : tuple of str
    methods : collection of str
    trials : int
    settings : mapping of str to tuples
        What else is varied, such as ``{"n": (200, 400)}``.
    first : int
        Number of the first trial; each trial's number is its seed.
    """

    datasets: tuple[str, ...]
    methods: Collection[str]
    trials: int
    settings: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    first: int = 0

    def __post_init__(self) -> None:
        strange = [name for name in self.settings if name not in SETTINGS]
        if strange:
            raise ValueError(
                f"The setting {strange[0]!r} would not tell trials apart; name it in "
                "likewise.experiments.runner.SETTINGS."
            )

    def changed(
        self,
        *,
        datasets: Collection[str] | None = None,
        methods: Collection[str] | None = None,
        trials: int | None = None,
    ) -> Self:
        """Return the plan with what is given in the place of its own."""
        return replace(
            self,
            datasets=self.datasets if datasets is None else tuple(datasets),
            methods=self.methods if methods is None else tuple(methods),
            trials=self.trials if trials is None else trials,
        )

    def only(self, wanted: Mapping[str, Collection[float]]) -> Self:
        """Return the part of the plan with some values of its settings.

        Parameters
        ----------
        wanted : mapping of str to collections of numbers
            From settings to values; others are kept as they are.
        """
        for name, values in wanted.items():
            known = self.settings.get(name, ())
            for value in values:
                if value not in known:
                    choice = ", ".join(f"{name}={one:g}" for one in known)
                    settings = "these settings: " + (", ".join(self.settings) or "none")
                    raise ValueError(
                        f"The experiment does not have {name}={value:g}; "
                        f"it has {choice or settings}."
                    )
        kept = {
            name: tuple(value for value in values if value in wanted.get(name, values))
            for name, values in self.settings.items()
        }
        return replace(self, settings=kept)


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or of ours.

    Attributes
    ----------
    name : str
    title : str
        What it is about, and which figure or table of the paper it is.
    measure : callable
        Runs one trial: called with ``experiment, dataset, method, trial`` and the settings by
        name, it returns what it found. A function of these alone.
    outcome : str
        The field of a record whose mean is the result.
    full, quick : Plan
        The paper's, and part of it for a first look.
    methods : collection of str
        The names of methods that can be asked for.
    sections : callable
        Turns records of this experiment into sections of a report.
    together : tuple of tuples of str
        Methods that share a computation, and so run one after the other in one process.
    sampled : bool
        Whether trials draw samples; one that does not has no datasets or trials to choose.
    check : callable, optional
        Raises an error unless datasets, and what else trials need, can be had; by default that of
        the paper's datasets.
    by_name_only : bool
        Whether it runs only when it is asked for by name, not with all others.
    """

    name: str
    title: str
    measure: Measure
    outcome: str
    full: Plan
    quick: Plan
    methods: Collection[str]
    sections: Callable[[Sequence[Record]], list[Section]]
    together: tuple[tuple[str, ...], ...] = ()
    sampled: bool = True
    check: Callable[[AbstractSet[str]], None] | None = None
    by_name_only: bool = False

    def own(self, records: Sequence[Record]) -> list[Record]:
        """Return the records of this experiment, each trial once, in the order of their keys.

        Trials finish in any order; what is made of them must not depend on it.
        """
        mine = (record for record in records if record["experiment"] == self.name)
        found = {key_of(record): record for record in mine}
        return [found[key] for key in sorted(found, key=_with_gaps)]

    def trials(self, plan: Plan) -> list[Settings]:
        """Return the settings of all trials of a plan."""
        return [one for group in self.missing(plan, set()) for one in group]

    def missing(self, plan: Plan, done: AbstractSet[Any]) -> list[list[Settings]]:
        """Return the settings of the trials whose keys are not in `done`, in groups."""
        groups: list[list[Settings]] = [
            [
                {
                    "experiment": self.name,
                    "dataset": dataset,
                    "method": method,
                    "trial": trial,
                    **dict(zip(plan.settings, values, strict=True)),
                }
                for method in methods
            ]
            for trial in range(plan.first, plan.first + plan.trials)
            for dataset in plan.datasets
            for values in product(*plan.settings.values())
            for methods in self._groups_of(plan.methods)
        ]
        left = [[one for one in group if key_of(one) not in done] for group in groups]
        return [group for group in left if group]

    def _groups_of(self, methods: Collection[str]) -> list[list[str]]:
        home = {method: group for group in self.together for method in group}
        groups: dict[Any, list[str]] = {}
        for method in methods:
            groups.setdefault(home.get(method, method), []).append(method)
        return list(groups.values())


def _with_gaps(key: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """Make keys comparable: not every experiment has all settings."""
    return [(value is not None, value) for value in key]


def run(experiment: Experiment, plan: Plan, folder: Path, *, jobs: int = 1) -> tuple[int, Records]:
    """Run the trials whose records are not in the folder yet.

    Parameters
    ----------
    experiment : Experiment
    plan : Plan
    folder : Path
        Made if it is not there; records go to ``records.jsonl`` in it.
    jobs : int
        Number of processes; -1 is one for each core.

    Returns
    -------
    count : int
        How many trials are still to be run.
    records : generator of dict
        Runs them: gives out each new record once it is in the file.
    """
    _check_methods(experiment, plan)
    path = folder / RECORDS
    groups = experiment.missing(plan, set(map(key_of, read_records(path))))
    _check_datasets(experiment, {one["dataset"] for group in groups for one in group})
    folder.mkdir(parents=True, exist_ok=True)
    count = sum(map(len, groups))
    return count, keep_records(path, run_trials(experiment.measure, groups, jobs=jobs))


def prepare_again(experiment: Experiment, plan: Plan, folder: Path) -> None:
    """Forget the records of a plan's trials, so that `run` runs them anew.

    Nothing is forgotten of a plan that could not be run.

    Parameters
    ----------
    experiment : Experiment
    plan : Plan
    folder : Path
    """
    _check_methods(experiment, plan)
    _check_datasets(experiment, set(plan.datasets))
    forget(folder / RECORDS, set(map(key_of, experiment.trials(plan))))


def _check_methods(experiment: Experiment, plan: Plan) -> None:
    unknown = [name for name in plan.methods if name not in experiment.methods]
    if unknown:
        raise ValueError(
            f"The experiment {experiment.name!r} has no method {unknown[0]!r}; choose from "
            f"{', '.join(experiment.methods)}, as a,b."
        )


def _check_datasets(experiment: Experiment, names: AbstractSet[str]) -> None:
    """Raise an error for a set that cannot be had: better now than at midnight."""
    if experiment.check is not None:
        experiment.check(names)
        return
    if experiment.sampled:
        check_pools(names)
        return
    others = names - set(experiment.full.datasets)
    if others:
        raise ValueError(
            f"The experiment {experiment.name!r} needs no data, so not {min(others)!r} either."
        )
