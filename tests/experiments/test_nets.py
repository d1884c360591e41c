"""The experiment of nets: its plan, its samples, and what it says of records; no net is trained."""

from pathlib import Path

import numpy as np
import pytest

from likewise.experiments import nets
from likewise.experiments.experiment import run
from likewise.experiments.nets import EXPERIMENT, METHODS, sections
from likewise.experiments.published import SPHEREPAIR_MNIST
from likewise.experiments.runner import Record


def record(method: str, trial: int, accuracy: float) -> Record:
    return {
        "experiment": "nets",
        "dataset": "mnist",
        "method": method,
        "trial": trial,
        "status": "ok",
        "accuracy": accuracy,
        "reason": None,
    }


def test_published_numbers_stand_beside_ours() -> None:
    records = [
        record("net-1000", 0, 0.96),
        record("net-1000", 1, 0.98),
        record("similar-1000", 0, 0.9),
    ]
    (section,) = sections(records)
    comparison, more = section.tables
    (row,) = comparison.rows
    texts = [cell.text for cell in row]
    assert texts[0] == "1,000"
    assert f"{SPHEREPAIR_MNIST['SpherePair', 1000]:.1f}" in texts
    assert texts[-1] == "97.0 (1.0)"
    assert more.rows[0][1].text == "90.0"


@pytest.mark.parametrize("method", METHODS)
def test_statements_are_as_many_as_asked_and_wrong_as_often(method: str) -> None:
    classes = np.random.default_rng(0).integers(10, size=5000)
    chosen = METHODS[method]
    said = nets._statements(chosen, classes, trial=3)
    assert sum(map(len, said.values())) == chosen.n
    wrong = [
        (classes[pairs[:, 0]] == classes[pairs[:, 1]]) != (kind == "similar")
        for kind, pairs in said.items()
    ]
    assert np.concatenate(wrong).mean() == pytest.approx(chosen.wrong, abs=0.02)
    assert set(said) == ({"similar"} if chosen.similar_only else {"similar", "dissimilar"})


def test_what_is_missing_is_said_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path))
    monkeypatch.setattr(nets, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs torch"):
        run(EXPERIMENT, EXPERIMENT.quick, tmp_path)
    monkeypatch.setattr(nets, "find_spec", lambda name: object())
    with pytest.raises(ValueError, match=r"mnist\.npz"):
        run(EXPERIMENT, EXPERIMENT.quick, tmp_path)
    with pytest.raises(ValueError, match="is about mnist"):
        run(EXPERIMENT, EXPERIMENT.quick.changed(datasets=["adult"]), tmp_path)


def test_all_experiments_together_leave_it_out(tmp_path: Path) -> None:
    from likewise.cli.reproduce import _plans_of_all, _Wishes

    wishes = _Wishes(tmp_path, True, None, None, None, {}, 1, False)
    assert "nets" not in [experiment.name for experiment, _ in _plans_of_all(wishes)]
    with pytest.raises(ValueError, match="No experiment has a method 'net-1000'"):
        _plans_of_all(_Wishes(tmp_path, True, None, None, ["net-1000"], {}, 1, False))
