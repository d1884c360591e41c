"""All experiments together: names, and that a first look is a part of the whole."""

import pytest

from likewise.cli.reproduce import ABOUT
from likewise.experiments.catalogue import EXPERIMENTS
from likewise.experiments.experiment import Experiment
from likewise.experiments.facts import facts_of
from likewise.experiments.runner import key_of

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


def test_facts_tell_trials_failures_and_versions() -> None:
    records = [
        {"experiment": "prior", "trial": 0, "status": "ok"},
        {"experiment": "prior", "trial": 4, "status": "failed"},
        {"experiment": "half", "trial": 1, "status": "ok"},
    ]
    facts = facts_of(records, "likewise reproduce --out there")
    assert facts["trials"] == "prior: 5, half: 2"
    assert facts["records"] == "3, of which 1 are failures"
    assert "scikit-learn" in facts["versions"]
    assert facts["to run it again"] == "likewise reproduce --out there"
