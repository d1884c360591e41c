"""Plans and runs: what is missing is run, nothing else, and the number of jobs changes nothing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from likewise.experiments import experiment as module
from likewise.experiments.experiment import (
    RECORDS,
    UNSEEN,
    Experiment,
    Plan,
    prepare_again,
    run,
)
from likewise.experiments.runner import Record, key_of, read_records
from likewise.experiments.theory import EXPERIMENT as THEORY
from likewise.pages.document import Section

PLAN = Plan(("gaussians",), ("a", "b", "c"), 2, {"n": (10, 20)})


def measure(method: str, trial: int, n: int, **_: Any) -> Record:
    if method == "c":
        raise ValueError("c never works")
    return {"accuracy": trial + n / 100}


def measure_all(**_: Any) -> Record:
    return {"accuracy": 1.0}


def no_sections(records: Sequence[Record]) -> list[Section]:
    return []


def toy(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {
        "name": "toy",
        "title": "A toy",
        "measure": measure,
        "outcome": "accuracy",
        "full": PLAN,
        "quick": PLAN,
        "methods": ("a", "b", "c", "d"),
        "sections": no_sections,
    }
    return Experiment(**{**settings, **changes})


def untimed(records: Sequence[Record]) -> list[Record]:
    return [{k: v for k, v in one.items() if k != "seconds"} for one in records]


def test_a_run_leaves_a_record_for_every_setting_failures_included(tmp_path: Path) -> None:
    count, records = run(toy(), PLAN, tmp_path / "new")
    found = list(records)
    assert len(found) == count == 3 * 2 * 2
    assert read_records(tmp_path / "new" / RECORDS) == found
    assert sum(one["status"] == "failed" for one in found) == 4
    assert len({key_of(one) for one in found}) == count


def test_trials_are_run_again_when_their_records_are_forgotten(tmp_path: Path) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    failed = PLAN.changed(methods=["c"], trials=1)
    prepare_again(toy(), failed, tmp_path)
    count, records = run(toy(measure=measure_all), PLAN, tmp_path)
    assert [(one["method"], one["trial"], one["status"]) for one in records] == 2 * [("c", 0, "ok")]
    assert count == 2
    assert len(read_records(tmp_path / RECORDS)) == 3 * 2 * 2


@pytest.mark.parametrize("change", [{"methods": ["a", "x"]}, {"datasets": ["gaussians", "x"]}])
def test_nothing_is_forgotten_for_a_plan_that_cannot_be_run(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    with pytest.raises(ValueError, match="'x'"):
        prepare_again(toy(), PLAN.changed(**change), tmp_path)
    assert len(read_records(tmp_path / RECORDS)) == 3 * 2 * 2


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    _, records = run(toy(), PLAN, tmp_path)
    for _ in range(5):
        next(records)
    records.close()
    path = tmp_path / RECORDS
    path.write_text(path.read_text() + '{"experiment": "to')  # as a crash would leave it
    count, records = run(toy(), PLAN, tmp_path)
    assert count == 12 - 5
    assert len(list(records)) == 7
    kept = read_records(path)
    assert len({key_of(one) for one in kept}) == len(kept) == 12
    assert run(toy(), PLAN, tmp_path)[0] == 0


def test_trials_are_counted_from_the_first_of_the_plan() -> None:
    plan = replace(PLAN, first=UNSEEN, trials=2)
    assert {one["trial"] for one in toy().trials(plan)} == {UNSEEN, UNSEEN + 1}
    assert plan.changed(trials=1).first == UNSEEN


def test_an_added_method_runs_only_its_own_trials(tmp_path: Path) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    count, records = run(toy(), PLAN.changed(methods=("a", "b", "c", "d")), tmp_path)
    assert count == 4
    assert {one["method"] for one in records} == {"d"}


def test_more_trials_add_to_those_there_are(tmp_path: Path) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    count, records = run(toy(), PLAN.changed(trials=3), tmp_path)
    assert count == 6
    assert {one["trial"] for one in records} == {2}


def test_another_experiment_in_the_same_folder_is_another(tmp_path: Path) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    assert run(toy(name="other"), PLAN, tmp_path)[0] == 12


def test_methods_that_share_a_computation_are_in_one_group() -> None:
    groups = toy(together=(("c", "a"),)).missing(PLAN, set())
    assert [[one["method"] for one in group] for group in groups[:2]] == [["a", "c"], ["b"]]
    assert all(len({(one["n"], one["trial"]) for one in group}) == 1 for group in groups)


def test_records_of_an_experiment_come_in_one_order_each_trial_once(tmp_path: Path) -> None:
    found = list(run(toy(), PLAN, tmp_path)[1])
    other = [{**found[0], "experiment": "other"}]
    assert toy().own([*reversed(found), *other, *found[:3]]) == toy().own(found)
    assert len(toy().own(found)) == 12


def test_an_unknown_method_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'toy' has no method 'e'; choose from a, b, c, d, as a,b"):
        run(toy(), PLAN.changed(methods=("a", "e")), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_sets_that_cannot_be_had_are_named_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    plan = PLAN.changed(datasets=("adult", "gaussians", "w8a"))
    with pytest.raises(FileNotFoundError, match=r"no w8a\.npz in LIKEWISE_DATA"):
        run(toy(), plan, tmp_path / "new")  # adult could be downloaded, but in vain
    assert not (tmp_path / "new").exists()


def test_an_experiment_without_data_refuses_datasets(tmp_path: Path) -> None:
    plan = PLAN.changed(datasets=("adult",))
    with pytest.raises(ValueError, match="needs no data, so not 'adult'"):
        run(toy(sampled=False), plan, tmp_path / "new")


def test_a_setting_that_the_key_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="'width' would not tell trials apart"):
        Plan(("gaussians",), ("a",), 1, {"width": (1, 2)})


@pytest.mark.slow
def test_one_job_and_two_leave_the_same_records(tmp_path: Path) -> None:
    plan = Plan(("gaussians",), THEORY.methods, 2, {"n": (20, 40)})
    for jobs in (1, 2):
        list(run(THEORY, plan, tmp_path / str(jobs), jobs=jobs)[1])
    one, two = (THEORY.own(read_records(tmp_path / jobs / RECORDS)) for jobs in ("1", "2"))
    assert len(one) == 3 * 2 * 2
    assert untimed(one) == untimed(two)


def test_nothing_is_loaded_where_nothing_is_to_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(run(toy(), PLAN, tmp_path)[1])
    asked: list[str] = []
    monkeypatch.setattr(module, "check_pools", asked.extend)
    run(toy(), PLAN, tmp_path)
    assert asked == []
