"""Figure 4: what a trial records, that a run goes on where it stopped, and what is drawn."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from likewise.datasets import DatasetInfo, SUSample, make_gaussians, sample_su
from likewise.experiments import prior as experiment
from likewise.experiments.prior import plot, run, run_trial, save_plot, summary
from likewise.experiments.runner import Record, read_records
from likewise.prior import KernelMeanPrior, PairMomentPrior

mpl.use("Agg")

POOLS = {"large": 2000, "small": 150}


@pytest.fixture(autouse=True)
def pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put two generated pools in the place of the twelve."""

    def load(name: str, *, return_X_y: bool = True) -> Any:
        if name not in POOLS:
            raise FileNotFoundError(f"no {name}.npz in LIKEWISE_DATA (not set)")
        return make_gaussians(POOLS[name], separation=3.0, prior=0.5, random_state=0)

    infos = [DatasetInfo(name, rows, 2, 0.5, "folder") for name, rows in POOLS.items()]
    monkeypatch.setattr(experiment, "load", load)
    monkeypatch.setattr(experiment, "list_datasets", lambda: infos)
    experiment._pool.cache_clear()
    experiment._fit_kernel_mean.cache_clear()


def untimed(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.parametrize("method", ["km1", "km2", "pair_moments"])
def test_a_trial_depends_on_its_settings_alone(method: str) -> None:
    first = run_trial("large", 60, method, 0)
    np.random.default_rng(0).random(3)
    run_trial("large", 60, method, 1)
    again = run_trial("large", 60, method, 0)
    assert untimed(first) == untimed(again)
    assert first["status"] == "ok"
    assert first["error"] == pytest.approx(abs(first["value"] - 0.7))
    assert first["seconds"] > 0
    assert json.loads(json.dumps(first)) == first


@pytest.mark.parametrize("other", [{"n": 62}, {"trial": 1}])
def test_another_size_or_trial_is_another_sample(other: dict[str, int]) -> None:
    settings = {"dataset": "large", "n": 60, "trial": 0}
    X, _ = experiment._sample(**settings)  # type: ignore[arg-type]
    X_other, _ = experiment._sample(**{**settings, **other})  # type: ignore[arg-type]
    assert not np.array_equal(X[:10], X_other[:10])


def test_size_n_is_half_pairs_and_half_rows_drawn_at_the_prior_of_the_paper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []

    def sample(*args: Any, **kwargs: Any) -> SUSample:
        drawn.append(sample_su(*args, **kwargs))
        return drawn[-1]

    monkeypatch.setattr(experiment, "sample_su", sample)
    _, y = experiment._sample("large", 400, 0)
    assert np.count_nonzero(y == 0) == 200
    assert np.count_nonzero(y > 0) == 2 * 200
    assert drawn[0].prior == 0.7


def test_the_methods_estimate_from_the_same_sample() -> None:
    X, y = experiment._sample("large", 60, 3)
    kernel = KernelMeanPrior().fit(X, y).estimates_
    assert run_trial("large", 60, "km1", 3)["value"] == kernel["km1"].value
    assert run_trial("large", 60, "km2", 3)["value"] == kernel["km2"].value
    moments = PairMomentPrior(random_state=3).fit(X, y).estimate_
    found = run_trial("large", 60, "pair_moments", 3)
    assert found["value"] == moments.value
    assert found["interval"] == list(moments.interval or ())


def test_a_pool_that_is_too_small_is_a_failure_with_its_reason() -> None:
    found = run_trial("small", 400, "km1", 0)
    assert found["status"] == "failed"
    assert "the pool has" in found["reason"]
    assert found["value"] is found["error"] is found["seconds"] is None


def test_a_run_leaves_a_record_for_every_setting(tmp_path: Path) -> None:
    count, records = run(
        tmp_path / "new", sizes=(40, 60), methods=("km1", "pair_moments"), trials=2
    )
    assert count == 2 * 2 * 2 * 2
    found = list(records)
    assert len(found) == count
    assert read_records(tmp_path / "new" / "records.jsonl") == found


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"datasets": ["large"], "sizes": (40,), "trials": 3}
    _, records = run(tmp_path, **settings)
    for _ in range(4):
        next(records)
    records.close()  # type: ignore[attr-defined]
    path = tmp_path / "records.jsonl"
    path.write_text(path.read_text() + '{"experiment": "pri')  # as a crash would leave it
    count, records = run(tmp_path, **settings)
    assert count == 9 - 4
    assert len(list(records)) == 5
    kept = read_records(path)
    assert len({(r["method"], r["trial"]) for r in kept}) == len(kept) == 9
    assert run(tmp_path, **settings)[0] == 0


def test_sets_that_are_missing_are_named_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no third\.npz in LIKEWISE_DATA"):
        run(tmp_path / "new", datasets=["large", "third"])
    assert not (tmp_path / "new").exists()


def test_an_unknown_method_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no method 'km3'; choose from km1, km2, pair_moments"):
        run(tmp_path, methods=["km1", "km3"])


def made_up(dataset: str, n: int, method: str, errors: list[float | None]) -> list[Record]:
    return [
        {
            "experiment": "prior",
            "dataset": dataset,
            "n": n,
            "method": method,
            "trial": trial,
            "status": "ok" if error is not None else "failed",
            "error": error,
            "reason": None if error is not None else "class +1: needs 9 rows, the pool has 8",
        }
        for trial, error in enumerate(errors)
    ]


def test_the_summary_is_mean_and_standard_error_of_what_did_not_fail() -> None:
    records = made_up("a", 200, "km1", [0.1, 0.3, None, 0.2]) + made_up("a", 400, "km1", [None])
    other = [{**record, "experiment": "another"} for record in made_up("a", 200, "km1", [9.0])]
    first, second = summary([*records, *other, *records])  # a trial twice counts once
    assert (first.trials, first.failed) == (3, 1)
    assert first.error == pytest.approx(0.2)
    assert first.standard_error == pytest.approx(0.1 / np.sqrt(3))
    assert (second.trials, second.failed, second.error) == (0, 1, None)
    assert second.reason == "class +1: needs 9 rows, the pool has 8"


def test_the_picture_has_a_panel_for_each_dataset_with_means_and_whiskers() -> None:
    records = [
        *made_up("a", 200, "km1", [0.1, 0.3]),
        *made_up("a", 400, "km1", [0.0, 0.2]),
        *made_up("b", 200, "pair_moments", [0.02, 0.04]),
        *made_up("b", 400, "pair_moments", [None, None]),
    ]
    figure = plot(summary(records))
    left, right = [panel for panel in figure.axes if panel.get_visible()]
    assert (left.get_title(), right.get_title()) == ("a", "b")
    (bars,) = left.containers
    line, _, (whiskers,) = bars.lines  # type: ignore[attr-defined]
    np.testing.assert_allclose(line.get_ydata().astype(float), [0.2, 0.1])
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
    np.testing.assert_allclose(ends, [[0.1, 0.3], [0.0, 0.2]], atol=1e-12)
    assert [text.get_text() for text in right.texts] == ["pool too\nsmall"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["KM1 (paper)", "pair moments"]


def test_pictures_are_saved_as_png_and_svg(tmp_path: Path) -> None:
    png, svg = save_plot(tmp_path, made_up("a", 200, "km1", [0.1]))
    assert (png.name, svg.name) == ("prior.png", "prior.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()


def test_without_records_there_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no records"):
        plot([])


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_pair_moments_are_nearer_than_the_methods_of_the_paper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    experiment._pool.cache_clear()
    errors = {
        method: np.mean([run_trial("waveform", 400, method, trial)["error"] for trial in range(5)])
        for method in experiment.METHODS
    }
    assert min(errors, key=lambda method: errors[method]) == "pair_moments"
