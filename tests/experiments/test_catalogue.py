"""All experiments together: names, and that a first look is a part of the whole."""

from pathlib import Path
from typing import Any

import pytest

from likewise.cli.reproduce import ABOUT
from likewise.experiments.catalogue import EXPERIMENTS
from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.facts import commands_of, facts_of
from likewise.experiments.half import PRIORS
from likewise.experiments.runner import Record, key_of

everyone = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


def test_the_command_line_knows_every_experiment() -> None:
    assert list(ABOUT) == list(EXPERIMENTS)


@everyone
def test_a_first_look_is_part_of_the_whole(experiment: Experiment) -> None:
    """So a run with --quick is never in vain: the whole goes on from it."""
    quick, full = (
        {key_of(one) for group in experiment.missing(plan, set()) for one in group}
        for plan in (experiment.quick, experiment.full)
    )
    assert quick <= full
    assert quick


@everyone
def test_every_trial_is_another_and_its_method_known(experiment: Experiment) -> None:
    trials = [one for group in experiment.missing(experiment.full, set()) for one in group]
    assert len({key_of(one) for one in trials}) == len(trials)
    assert {one["method"] for one in trials} <= set(experiment.methods)


def record(experiment: str, method: str, trial: int, **others: Any) -> Record:
    return {
        "experiment": experiment,
        "dataset": "waveform",
        "method": method,
        "trial": trial,
        "status": "ok",
        **others,
    }


def test_facts_tell_trials_failures_and_versions() -> None:
    records = [
        record("prior", "km1", 0, n=200),
        record("prior", "km1", 4, n=200, status="failed", version="0.0.1"),
        *(
            record("half", "labels", trial, prior=prior, version="0.0.1")
            for prior in PRIORS
            for trial in (1000, 1001)
        ),
        record("half", "km", 1000, prior=0.5, version="0.0.1"),
    ]
    facts = facts_of(records, EXPERIMENTS, Path("there"))
    assert facts["trials"] == "prior: 2 (seeds 0 to 4), half: 2 (seeds 1000 to 1001; km: 1)"
    assert facts["records"] == "9, of which 1 are failures"
    assert facts["code"] == (
        "made with earlier code: prior (km1), before records said what made them; "
        "half (all methods), prior (km1), by likewise 0.0.1"
    )
    assert "scikit-learn" in facts["versions of this report"]
    assert facts["to run it again"] == (
        "likewise reproduce prior --out there --quick --trials 5 --datasets waveform "
        "--methods km1 --only n=200; "
        "likewise reproduce half --out there --trials 2 --methods labels; "
        "likewise reproduce half --out there --trials 1 --methods km --only prior=0.5"
    )


def ran(name: str, plan: Plan, **changes: Any) -> list[Record]:
    """Return records of a plan, with other methods, datasets, trials or settings."""
    part = plan.only({key: changes.pop(key) for key in list(changes) if key in plan.settings})
    return [dict(one) for one in EXPERIMENTS[name].trials(part.changed(**changes))]


PRIOR, COVERAGE = EXPERIMENTS["prior"], EXPERIMENTS["coverage"]
ONE = {"datasets": ["gaussians"], "methods": ["km1"]}


@pytest.mark.parametrize(
    ("name", "records", "options"),
    [
        (
            "theory",
            ran("theory", EXPERIMENTS["theory"].full, n=[100], trials=3),
            ["--trials 3 --only n=100"],
        ),
        (
            "coverage",
            ran("coverage", COVERAGE.full, n=[300], prior=[0.7], trials=4, methods=["met"]),
            ["--trials 4 --methods met --only n=300,prior=0.7"],
        ),
        (
            "prior",
            ran("prior", PRIOR.full, trials=2, **ONE)
            + ran("prior", PRIOR.full, trials=2, n=[400], datasets=["gaussians"], methods=["km2"]),
            [
                "--trials 2 --datasets gaussians --methods km1",
                "--trials 2 --datasets gaussians --methods km2 --only n=400",
            ],
        ),
        (
            "prior",
            ran("prior", PRIOR.full, trials=1, **ONE)
            + ran("prior", PRIOR.full, trials=2, n=[1600], **ONE),
            [
                "--trials 1 --datasets gaussians --methods km1",
                "--trials 2 --datasets gaussians --methods km1 --only n=1600",
            ],
        ),
        (
            "prior",
            ran("prior", PRIOR.full, trials=4, **ONE)
            + ran("prior", PRIOR.full, trials=5, n=[200, 400], **ONE),
            ["--trials 5 --datasets gaussians --methods km1"],  # a run that was stopped
        ),
    ],
)
def test_commands_run_what_was_run(name: str, records: list[Record], options: list[str]) -> None:
    start = f"likewise reproduce {name} --out there"
    found = commands_of(records, EXPERIMENTS[name], Path("there"))
    assert found == [f"{start} {one}" for one in options]


@everyone
@pytest.mark.parametrize("option", [[], ["--quick"]])
def test_the_command_for_a_whole_plan_needs_no_more_than_its_name(
    experiment: Experiment, option: list[str]
) -> None:
    plan = experiment.quick if option else experiment.full
    records = [dict(one) for group in experiment.missing(plan, set()) for one in group]
    (command,) = commands_of(records, experiment, Path("there"))
    same = experiment.missing(experiment.quick, set()) == experiment.missing(experiment.full, set())
    wanted = ["likewise", "reproduce", experiment.name, "--out", "there"]
    assert command.split() == wanted + ([] if same else option)
