"""Packed records: the same but for digits that no table shows, in a tenth of the room."""

from pathlib import Path

import numpy as np
import pytest

from likewise.experiments.compact import pack_records, replaced, unpack_records
from likewise.experiments.runner import Record


def record(experiment: str, trial: int, **more: object) -> Record:
    own = {"experiment": experiment, "dataset": "adult", "method": "km", "trial": trial}
    return {**own, "status": "ok", **more}


def test_what_is_packed_comes_back(tmp_path: Path) -> None:
    records = [
        record("half", 1000, accuracy=0.875, notes=["one\ntwo", "ü"], reason=None),
        record("half", 1001, terms=[1 / 3, 2], nested={"value": 2 / 3}),
        record("prior", 0, interval=None),
    ]
    pack_records(tmp_path / "new", records)
    found = unpack_records(tmp_path / "new")
    assert found[0] == records[0]
    assert found[2] == records[2]
    assert found[1]["terms"] == [pytest.approx(1 / 3, rel=1e-9), 2]
    assert found[1]["nested"]["value"] == pytest.approx(2 / 3, rel=1e-9)


def test_packing_one_experiment_leaves_the_others(tmp_path: Path) -> None:
    pack_records(tmp_path, [record("half", 0), record("prior", 0)])
    pack_records(tmp_path, [record("half", 1)])
    assert [(one["experiment"], one["trial"]) for one in unpack_records(tmp_path)] == [
        ("half", 1),
        ("prior", 0),
    ]


def test_packed_records_take_little_room(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    records = [record("half", trial, accuracy=float(rng.random())) for trial in range(1000)]
    pack_records(tmp_path, records)
    assert (tmp_path / "half.jsonl.xz").stat().st_size < 10 * 1000


def test_new_records_take_the_place_of_old_ones_of_their_method() -> None:
    old = [record("half", trial) for trial in (0, 1)]
    other = [{**one, "method": "labels"} for one in old]
    new = [record("half", 1000, accuracy=0.5), record("half", 1000, accuracy=0.6)]
    assert replaced([*old, *other], new) == [*other, new[1]]
