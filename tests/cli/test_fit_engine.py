"""`likewise fit --engine`: rows that stay in Parquet files, here or on a Dask cluster."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.cli.sources import EngineName, PassBar, learn_from_files, open_inputs
from likewise.cli.su_method import su_pipeline
from likewise.engines.parquet import ParquetEngine
from likewise.io import load_model, replacing
from tests.clusters import local_cluster

from .conftest import Run

FIT = ("fit", "rows", "pairs", "--engine", "parquet", "-o", "model.skops")
SU = (*FIT, "--method", "su", "--prior", "0.7")
BY_DASK = tuple(word.replace("parquet", "dask") for word in SU)


@pytest.fixture
def files(folder: Path) -> Path:
    """Write the rows and the pairs of the tables as folders of Parquet files."""
    rows, pairs = pd.read_csv("rows.csv"), pd.read_csv("pairs.csv")
    for name, frame in (("rows", rows), ("pairs", pairs)):
        (folder / name).mkdir()
        for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
            path = folder / name / f"part-{number}.parquet"
            frame.iloc[part].to_parquet(path, row_group_size=40, index=False)
    return folder


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a Dask scheduler with a worker, which is reached as if it were elsewhere."""
    with local_cluster(1, processes=False, protocol="tcp://") as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def expected(files: Path) -> Any:
    """The same fit on the same rows and pairs in memory: pairs of a source are fresh ones."""
    rows = pd.read_csv("rows.csv", index_col="id")
    pairs = pd.read_csv("pairs.csv").map(rows.index.get_loc).to_numpy()
    scaled = StandardScaler().fit_transform(rows.to_numpy())
    sides = scaled[pairs[:, 0]], scaled[pairs[:, 1]]
    return lw.SUClassifierCV(prior=0.7).fit(*lw.pack(scaled, similar=sides))


def wide(files: Path) -> None:
    """Give the pairs as columns left_* and right_* instead of ids."""
    rows, pairs = pd.read_csv("rows.csv", index_col="id"), pd.read_csv("pairs.csv")
    sides = [rows.loc[pairs[side]].add_prefix(f"{side}_") for side in ("left", "right")]
    table = pd.concat([side.reset_index(drop=True) for side in sides], axis=1)
    for path in (files / "pairs").iterdir():
        path.unlink()
    table.to_parquet(files / "pairs" / "wide.parquet", index=False)


@pytest.mark.parametrize("how", ["parquet", "dask", "cluster"])
@pytest.mark.parametrize("form", ["ids", "columns"])
def test_the_model_is_that_of_the_same_rows_in_memory(
    files: Path, succeed: Run, expected: Any, how: str, form: str, request: pytest.FixtureRequest
) -> None:
    if form == "columns":
        wide(files)
    options: tuple[str, ...] = SU if how == "parquet" else BY_DASK
    if how == "cluster":
        options = (*options, "--scheduler", request.getfixturevalue("scheduler"))
    result = succeed(*options, "--json")
    model = load_model("model.skops")
    found = model.estimator[-1]
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-8)
    assert (model.features.names, model.id_column) == (("first", "second"), "id")
    summary = json.loads(result.stdout)
    assert (summary["rows"], summary["similar_pairs"]) == (300, 120)
    assert summary["cv_risk"] == pytest.approx(-expected.best_score_, abs=1e-10)
    assert summary["alpha"] == expected.alpha_
    assert result.stderr == ""


def test_the_model_predicts_for_ordinary_tables(files: Path, succeed: Run, truth: Any) -> None:
    succeed(*SU)
    result = succeed("predict", "model.skops", "rows.csv", "--json")
    found = np.array([row["prediction"] for row in json.loads(result.stdout)["predictions"]])
    assert (found == truth).mean() > 0.9
    assert result.stderr == ""


def test_the_error_rate_is_as_certain_as_all_rows_make_it(
    files: Path, succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = json.loads(succeed(*SU, "--json").stdout)["cv_risk_standard_error"]
    monkeypatch.setattr("likewise.engines.files._SAMPLE", 100)
    some = json.loads(succeed(*SU, "--json").stdout)["cv_risk_standard_error"]
    assert some == pytest.approx(whole, rel=0.2)


def test_one_pair_is_enough_for_one_alpha(files: Path, succeed: Run) -> None:
    for path in (files / "pairs").iterdir():
        path.unlink()
    pd.DataFrame({"left": ["r001"], "right": ["r002"]}).to_parquet(files / "pairs" / "p.parquet")
    assert "unknown" in succeed(*SU, "--alpha", "0.1").stdout


@pytest.mark.parametrize("engine", ["parquet", "dask"])
def test_the_pair_method_learns_linear_scores(
    files: Path, succeed: Run, truth: Any, engine: str
) -> None:
    options = tuple(word.replace("parquet", engine) for word in FIT)
    summary = json.loads(succeed(*options, "--json").stdout)
    assert (summary["method"], summary["chosen_features"]) == ("pair", "linear")
    assert summary["prior_interval"][0] < (truth == 1).mean() < summary["prior_interval"][1]
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == truth).mean() > 0.95


def answers(files: Path, truth: Any, error_rate: float = 0.0) -> None:
    """Write answers about random pairs, with a column relation, in place of the pairs."""
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(300, 2, replace=False) for _ in range(500)])
    same = (truth[pairs[:, 0]] == truth[pairs[:, 1]]) ^ (rng.random(500) < error_rate)
    frame = pd.DataFrame({"left": [f"r{i:03d}" for i in pairs[:, 0]]})
    frame["right"] = [f"r{i:03d}" for i in pairs[:, 1]]
    frame["relation"] = np.where(same, "same", "cannot-link")
    frame.to_csv(files / "answers.csv", index=False)
    for path in (files / "pairs").iterdir():
        path.unlink()
    for number, part in enumerate(np.array_split(np.arange(500), 2)):
        frame.iloc[part].to_parquet(files / "pairs" / f"part-{number}.parquet", index=False)


@pytest.mark.parametrize("engine", ["parquet", "dask"])
def test_answers_are_learned_from_as_they_are_in_memory(
    files: Path, succeed: Run, truth: Any, engine: str
) -> None:
    answers(files, truth, error_rate=0.1)
    options = ("--errors", "0.1", "--rows", "own.csv", "--json")
    by_engine = tuple(word.replace("parquet", engine) for word in FIT)
    found = json.loads(succeed(*by_engine, *options).stdout)
    own = pd.read_csv("own.csv")
    assert list(own["id"]) == [f"r{i:03d}" for i in range(300)]
    assert (own["class"] == truth).mean() > 0.97
    assert (found["pairing"], found["dissimilar_pairs"] > 100) == ("asked", True)
    assert found["suspects"][0]["ids"][0].startswith("r")
    assert found["error_rate"] == 0.1


def test_groups_and_known_rows_are_understood(files: Path, succeed: Run, truth: Any) -> None:
    groups = pd.DataFrame({"id": [f"r{i:03d}" for i in range(120)]})
    groups["group"] = np.arange(120) // 6 * 2 + (truth[:120] > 0)
    groups.to_parquet("groups.parquet", index=False)
    rows = [np.flatnonzero(truth == label)[0] for label in (-1, 1)]
    names = {rows[0]: "no", rows[1]: "yes"}
    known = "".join(f"r{row:03d},{name}\n" for row, name in names.items())
    Path("known.csv").write_text("id,class\n" + known)
    fit = ("fit", "rows", "groups.parquet", *FIT[3:], "--pairing", "random", "--json")
    summary = json.loads(succeed(*fit, "--known", "known.csv").stdout)
    assert summary["groups"] > 20
    assert summary["classes"] == ["no", "yes"]


def test_statements_need_ids(files: Path, refuse: Run) -> None:
    wide(files)
    for option in ("--errors 0.1", "--pairing asked", "--rows own.csv", "--known rows.csv"):
        sentence = refuse(*FIT, *option.split())
        assert option.split()[0] in sentence
        assert "name rows of TABLE by their ids" in sentence


def test_statements_that_cannot_be_are_named(files: Path, refuse: Run, truth: Any) -> None:
    for ids, words in (
        ((["r001"], ["nobody"]), "nobody"),
        ((["r001"], ["r001"]), "paired with itself"),
        ((["r001", "r001"], ["r002", "r002"]), "r001"),
    ):
        for path in (files / "pairs").iterdir():
            path.unlink()
        frame = pd.DataFrame({"left": ids[0], "right": ids[1]})
        frame["relation"] = ["same", "different"][: len(frame)]
        frame.to_parquet(files / "pairs" / "p.parquet", index=False)
        assert words in refuse(*FIT)


@pytest.mark.parametrize(
    ("choice", "left"), [(("--features", "second"), ["second"]), (("--drop", "second"), ["first"])]
)
def test_features_can_be_chosen_or_dropped(
    files: Path, succeed: Run, choice: tuple[str, str], left: list[str]
) -> None:
    assert json.loads(succeed(*SU, *choice, "--json").stdout)["features"] == left


@pytest.mark.parametrize("engine", ["parquet", "dask"])
class TestFaults:
    """A file that cannot be read is named, with exit code 2."""

    @pytest.fixture
    def fit(self, engine: str) -> tuple[str, ...]:
        return SU if engine == "parquet" else BY_DASK

    def test_a_file_that_is_not_parquet(
        self, files: Path, refuse: Run, fit: tuple[str, ...]
    ) -> None:
        (files / "rows" / "part-1.parquet").write_bytes(b"PAR1 but not really")
        assert "rows/part-1.parquet" in refuse(*fit)

    def test_a_file_whose_rows_are_damaged(
        self, files: Path, refuse: Run, fit: tuple[str, ...]
    ) -> None:
        path = files / "rows" / "part-2.parquet"
        content = bytearray(path.read_bytes())
        content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
        path.write_bytes(content)
        assert "rows/part-2.parquet" in refuse(*fit)

    def test_files_that_are_missing_or_empty(
        self, files: Path, refuse: Run, fit: tuple[str, ...]
    ) -> None:
        assert "no Parquet file nowhere" in refuse("fit", "nowhere", *fit[2:])
        (files / "nothing").mkdir()
        assert "nothing" in refuse("fit", "nothing", *fit[2:])

    def test_ids_that_are_not_there(self, files: Path, refuse: Run, fit: tuple[str, ...]) -> None:
        strange = pd.DataFrame({"left": ["r001"], "right": ["nobody"]})
        strange.to_parquet(files / "pairs" / "part-0.parquet", index=False)
        assert "nobody" in refuse(*fit)

    def test_a_value_that_is_missing(self, files: Path, refuse: Run, fit: tuple[str, ...]) -> None:
        path = files / "rows" / "part-1.parquet"
        frame = pd.read_parquet(path)
        frame.loc[7, "second"] = np.nan
        frame.to_parquet(path, index=False)
        assert "column 'second', row with id 'r107': the value is missing" in refuse(*fit)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--id", "key"], ["rows", "'key'"]),
        (["--features", "third"], ["rows", "'third'"]),
        (["--drop", "first,second"], ["no column left"]),
        (["--drop", "first", "--features", "second"], ["--features", "--drop"]),
        (["--scheduler", "tcp://localhost:1"], ["--scheduler", "--engine dask"]),
    ],
)
def test_bad_options_are_named(
    files: Path, refuse: Run, options: list[str], words: list[str]
) -> None:
    sentence = refuse(*SU, *options)
    for word in words:
        assert word in sentence


def test_what_only_tables_in_memory_can_do_is_refused_with_the_reason(
    files: Path, refuse: Run
) -> None:
    assert "--engine dask" in refuse(*SU[:3], *SU[5:], "--scheduler", "tcp://localhost:1")
    related = pd.read_csv("pairs.csv").assign(relation="same")
    related.to_parquet("related.parquet", index=False)
    assert "'relation'" in refuse("fit", "rows", "related.parquet", *SU[3:])
    pd.read_csv("rows.csv").assign(colour="red").to_parquet("text.parquet", index=False)
    assert "--drop colour" in refuse("fit", "text.parquet", *SU[2:])


def test_the_paper_s_method_refuses_groups(files: Path, refuse: Run) -> None:
    pd.DataFrame({"id": ["r001", "r002"], "group": [1, 1]}).to_parquet("groups.parquet")
    assert "groups.parquet is a file of groups" in refuse("fit", "rows", "groups.parquet", *SU[3:])


class TestInterrupts:
    """Stopping a fit leaves the old model, and nothing half-written."""

    @pytest.fixture
    def before(self, files: Path, succeed: Run) -> dict[Path, bytes]:
        succeed(*SU)
        return self.content(files)

    @staticmethod
    def content(folder: Path) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def test_in_the_middle_of_a_pass(
        self, files: Path, run: Run, before: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        passes, sum_over = [], ParquetEngine._sum_over

        def stopped(engine: ParquetEngine, *arguments: Any) -> Any:
            passes.append(1)
            if len(passes) == 4:
                raise KeyboardInterrupt
            return sum_over(engine, *arguments)

        monkeypatch.setattr(ParquetEngine, "_sum_over", stopped)
        assert run(*SU).exit_code == 130
        assert self.content(files) == before

    def test_while_the_model_is_written(
        self, files: Path, run: Run, before: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        @contextmanager
        def stopped(path: Any) -> Iterator[Any]:
            with replacing(path) as stream:
                stream.write(b"the first half")
                raise KeyboardInterrupt
            yield

        monkeypatch.setattr("likewise.io.models.replacing", stopped)
        assert run(*SU).exit_code == 130
        assert self.content(files) == before


def test_a_pass_is_rows_and_pairs_together() -> None:
    shown: list[tuple[int, int, int]] = []
    bar = PassBar(lambda *numbers: shown.append(numbers))
    for part, done in (("unlabeled", 60), ("unlabeled", 100), ("similar", 20), ("unlabeled", 60)):
        bar(part, done, {"unlabeled": 100, "similar": 20}[part])  # type: ignore[arg-type]
    assert shown == [(1, 60, 100), (1, 100, 100), (1, 120, 120), (2, 60, 120)]


class Terminal(io.StringIO):
    """A stream that shows what is written to it at once."""

    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_a_terminal_shows_passes(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with open_inputs(
        Path("rows"),
        Path("pairs"),
        engine=EngineName.PARQUET,
        scheduler=None,
        id_column=None,
        keep=None,
        drop=(),
    ) as inputs:
        pipeline = su_pipeline(
            inputs, seed=0, loss="squared", alphas=[1e-4], prior=0.7, positive="majority"
        )
        learn_from_files(pipeline, inputs)
    # The first for the moments of columns, two to learn; the bar is drawn when the last is over.
    assert "Pass 3" in terminal.getvalue()
