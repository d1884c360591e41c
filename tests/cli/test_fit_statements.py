"""`likewise fit` on one table and what is said of its rows: answers, groups, known classes."""

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.cli.pair_method import PairSummary
from likewise.datasets import make_gaussians
from likewise.io import load_model

from .conftest import Run, keep, write_files

FIT = ("fit", "rows.csv", "pairs.csv", "-o", "model.skops")
N_ANSWERS, N_WRONG = 400, 40


def write_answers(folder: Path) -> set[tuple[str, str]]:
    """Write answers to random questions, some of them wrong; return the wrong ones."""
    y = make_gaussians(300, separation=4.0, random_state=0)[1]
    rng = np.random.default_rng(0)
    lines, wrong = [], set()
    for number in range(N_ANSWERS):
        left, right = rng.choice(300, 2, replace=False)
        is_same = (y[left] == y[right]) != (number < N_WRONG)
        ids = f"r{left:03d}", f"r{right:03d}"
        if number < N_WRONG:
            wrong.add(ids)
        lines.append(f"{ids[0]},{ids[1]},{'same' if is_same else 'different'}")
    (folder / "pairs.csv").write_text("\n".join(["left,right,relation", *lines]) + "\n")
    return wrong


def write_known(folder: Path, n_rows: int = 8) -> None:
    """Write the classes of the first rows, by names of their own."""
    y = make_gaussians(300, separation=4.0, random_state=0)[1]
    lines = [f"r{i:03d},{'yes' if y[i] == 1 else 'no'}" for i in range(n_rows)]
    (folder / "known.csv").write_text("\n".join(["id,class", *lines]) + "\n")


@dataclass(frozen=True)
class Fitted:
    """A fit of answers with errors and known classes."""

    folder: Path
    summary: dict[str, Any]
    wrong: set[tuple[str, str]]
    rows: list[dict[str, str]]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    folder = tmp_path_factory.mktemp("fitted")
    write_files(folder)
    write_known(folder)
    wrong = write_answers(folder)
    files = {name: str(folder / name) for name in ("rows.csv", "pairs.csv", "known.csv", "own.csv")}
    options = ["--errors", "auto", "--known", files["known.csv"], "--rows", files["own.csv"]]
    model = str(folder / "model.skops")
    result = CliRunner().invoke(
        app, ["fit", files["rows.csv"], files["pairs.csv"], "-o", model, *options, "--json"]
    )
    assert result.exit_code == 0, (result.stderr, result.exception)
    rows = list(csv.DictReader(io.StringIO((folder / "own.csv").read_text())))
    return Fitted(folder, json.loads(result.stdout), wrong, rows)


@pytest.mark.slow
def test_wrong_answers_are_counted_and_the_first_suspects_named(fitted: Fitted) -> None:
    summary = fitted.summary
    assert (summary["pairing"], summary["pairing_test"]) == ("asked", None)
    low, high = summary["error_rate_interval"]
    assert low < N_WRONG / N_ANSWERS < high
    assert summary["error_rate"] == pytest.approx(N_WRONG / N_ANSWERS, abs=0.03)
    assert summary["suspect_count"] >= len(summary["suspects"]) == 20
    found = [tuple(suspect["ids"]) in fitted.wrong for suspect in summary["suspects"]]
    assert np.mean(found) > 0.9
    probabilities = [suspect["probability"] for suspect in summary["suspects"]]
    assert probabilities == sorted(probabilities, reverse=True)
    answers = dict.fromkeys(fitted.wrong)
    for line in (fitted.folder / "pairs.csv").read_text().splitlines()[1:]:
        left, right, relation = line.split(",")
        answers[left, right] = relation
    assert all(answers[tuple(s["ids"])] == s["relation"] for s in summary["suspects"])


@pytest.mark.slow
def test_the_summary_shows_errors_and_suspects(fitted: Fitted) -> None:
    lines = str(PairSummary(**fitted.summary)).splitlines()
    (wrong,) = (line for line in lines if line.startswith("wrong "))
    assert f"{fitted.summary['error_rate']:.1%} of the statements (95 % interval" in wrong
    place = next(k for k, line in enumerate(lines) if line.startswith("suspects "))
    assert "the first to check again:" in lines[place]
    first = fitted.summary["suspects"][0]
    assert f"{', '.join(first['ids'])}: {first['relation']} (wrong with pro" in lines[place + 1]
    assert any(line.startswith("pairing           asked") for line in lines)
    assert any(line.startswith("prior of yes      ") for line in lines)
    assert lines[-1].endswith("own.csv")


def test_the_tables_own_rows_are_written_with_names_and_probabilities(
    fitted: Fitted, truth: Any
) -> None:
    assert list(fitted.rows[0]) == ["id", "class", "probability"]
    assert [row["id"] for row in fitted.rows] == [f"r{i:03d}" for i in range(300)]
    names = np.where(truth == 1, "yes", "no")
    assert np.mean([row["class"] == name for row, name in zip(fitted.rows, names, strict=True)]) > (
        0.97
    )
    probabilities = np.array([float(row["probability"]) for row in fitted.rows])
    assert ((probabilities >= 0.5) & (probabilities <= 1)).all()


def test_names_of_classes_come_through_fit_save_load_and_predict(
    fitted: Fitted, succeed: Run, truth: Any
) -> None:
    assert fitted.summary["classes"] == ["no", "yes"]
    assert fitted.summary["positive"] is None
    model = load_model(fitted.folder / "model.skops")
    assert model.positive_class == "yes"
    assert model.estimator.classes_.tolist() == ["no", "yes"]
    files = (str(fitted.folder / "model.skops"), str(fitted.folder / "rows.csv"))
    rows = list(csv.DictReader(io.StringIO(succeed("predict", *files).stdout)))
    assert list(rows[0]) == ["id", "prediction", "probability_no", "probability_yes"]
    names = np.where(truth == 1, "yes", "no")
    assert np.mean([row["prediction"] == name for row, name in zip(rows, names, strict=True)]) > 0.9
    for row in rows:
        assert float(row[f"probability_{row['prediction']}"]) >= 0.5
    summary = json.loads(succeed("predict", *files, "--json").stdout)
    assert set(summary["class_shares"]) == {"no", "yes"}


def test_the_model_file_holds_nothing_of_single_rows(fitted: Fitted) -> None:
    classifier = load_model(fitted.folder / "model.skops").estimator[-1]
    for name in ("labels_", "row_proba_", "suspects_", "wrong_proba_"):
        assert not hasattr(classifier, name)
    assert classifier.pair_information_.value == fitted.summary["nats_per_pair"]
    with zipfile.ZipFile(fitted.folder / "model.skops") as archive:
        arrays = [archive.read(name) for name in archive.namelist() if name.endswith(".npy")]
    if fitted.summary["chosen_features"] == "linear":
        sizes = [np.load(io.BytesIO(array)).size for array in arrays]
        assert max(sizes) < 20


def test_contradictions_name_the_ids_along_the_chain_and_the_way_out(
    folder: Path, refuse: Run
) -> None:
    (folder / "pairs.csv").write_text(
        "left,right,relation\nr001,r002,same\nr002,r003,must-link\nr001,r003,different\n"
    )
    sentence = refuse(*FIT)
    for word in ("'r001'", "'r002'", "'r003'", "contradict", "add --errors auto"):
        assert word in sentence
    assert "error_rate" not in sentence
    chain = refuse("prior", "rows.csv", "pairs.csv")  # too few pairs, or the same sentence
    assert "at least 10" in chain or "--errors auto" in chain


@pytest.mark.slow
def test_a_pair_may_be_stated_twice_and_both_ways_if_some_are_wrong(
    folder: Path, succeed: Run, relate: Any
) -> None:
    relate(30)
    path = folder / "pairs.csv"
    first = path.read_text().splitlines()[1].rpartition(",")[0]
    path.write_text(path.read_text() + f"{first},same\n{first},different\n")
    summary = json.loads(succeed(*FIT, "--errors", "0.05", "--json").stdout)
    assert (summary["similar_pairs"], summary["dissimilar_pairs"]) == (121, 31)
    assert (summary["error_rate"], summary["error_rate_interval"]) == (0.05, None)
    assert summary["suspects"][0]["ids"] == first.split(",")
    assert summary["suspects"][0]["relation"] == "different"
    assert "5.0% of the statements, as given" in str(PairSummary(**summary))


@pytest.mark.parametrize("errors", ["much", "0.5", "-0.1", "nan"])
def test_an_error_rate_that_cannot_be_is_refused_before_any_file_is_read(
    folder: Path, refuse: Run, errors: str
) -> None:
    sentence = refuse("fit", "missing.csv", "missing.csv", "-o", "m.skops", f"--errors={errors}")
    assert "--errors takes auto or a rate" in sentence


def write_groups(folder: Path, truth: Any, *others: str) -> None:
    """Write forty groups of three alike rows each, formed at random."""
    rng = np.random.default_rng(0)
    left = {label: list(rng.permutation(np.flatnonzero(truth == label))) for label in (-1, 1)}
    lines = []
    for number in range(40):
        label = 1 if number % 6 else -1
        lines += [f"r{left[label].pop():03d},g{number}" for _ in range(3)]
    (folder / "pairs.csv").write_text("\n".join(["id,group", *lines, *others]) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pair", "su"])
def test_groups_are_learned_from(folder: Path, succeed: Run, truth: Any, method: str) -> None:
    write_groups(folder, truth)
    options = ("--prior", "0.7") if method == "su" else ("--pairing", "free")
    summary = json.loads(succeed(*FIT, "--method", method, *options, "--json").stdout)
    assert (summary["groups"], summary["similar_pairs"], summary["dissimilar_pairs"]) == (40, 0, 0)
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == truth).mean() > 0.9


def test_a_group_of_one_is_noted(folder: Path, succeed: Run, truth: Any) -> None:
    write_groups(folder, truth, "r299,alone", "r298,too", "r298,too")
    options = ("--method", "su", "--prior", "0.7", "--alpha", "0.1")
    result = succeed(*FIT, *options)
    (line,) = result.stderr.splitlines()
    assert line.endswith("2 groups with one id each say nothing: 'alone', 'too'.")
    assert "groups            40" in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,group\n", ["pairs.csv", "no groups"]),
        ("id,group\nr001,a\nr002,b\n", ["pairs.csv", "no group with two different ids"]),
        ("id,group\nr001,a\nr001,a\n", ["pairs.csv", "no group with two different ids"]),
        ("id,group\nr001,a\nx9,a\n", ["pairs.csv", "rows.csv", "'x9' (row 2)"]),
        ("id,group\nr001,a\nr002,\n", ["pairs.csv", "row 2", "the group is missing"]),
        ("id,gruop\nr001,a\nr002,a\n", ["pairs.csv", "'left', 'right'", "id and group"]),
    ],
)
def test_bad_groups_are_named(folder: Path, refuse: Run, text: str, words: list[str]) -> None:
    (folder / "pairs.csv").write_text(text)
    sentence = refuse(*FIT)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", [], ["known.csv", "empty"]),
        ("id,class\n", [], ["known.csv", "no rows"]),
        ("id,klass\nr001,a\n", [], ["known.csv", "'class'", "'klass'"]),
        ("id,class\nr001,a\nx9,b\n", [], ["known.csv", "rows.csv", "'x9' (row 2)"]),
        ("id,class\nr001,a\nr001,b\n", [], ["known.csv", "'r001'", "'a'", "'b'", "rows 1 and 2"]),
        ("id,class\nr001,\n", [], ["known.csv", "row 1", "the class is missing"]),
        (
            "id,class\nr001,a\nr002,b\nr003,c\n",
            [],
            ["3 classes ('a', 'b', 'c')", "to be 2", "--classes 3"],
        ),
        ("id,class\nr001,a\n", ["--positive", "minority"], ["--positive", "--known"]),
        ("id,class\nr001,a\n", ["-o", "known.csv"], ["overwrite the input known.csv"]),
        ("id,class\nr001,a\n", ["--rows", "known.csv"], ["overwrite the input known.csv"]),
    ],
)
def test_bad_known_classes_are_named(
    folder: Path, refuse: Run, text: str, options: list[str], words: list[str]
) -> None:
    (folder / "known.csv").write_text(text)
    sentence = refuse(*FIT, "--known", "known.csv", *options)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("rows.csv", ["overwrite the input rows.csv"]),
        ("own.txt", ["own.txt", ".csv"]),
        ("nowhere/own.csv", ["nowhere", "does not exist"]),
        ("both.csv", ["--rows and --output both name both.csv"]),
    ],
)
def test_a_bad_place_for_rows_is_refused(
    folder: Path, refuse: Run, rows: str, words: list[str]
) -> None:
    sentence = refuse("fit", "rows.csv", "pairs.csv", "-o", "both.csv", "--rows", rows)
    for word in words:
        assert word in sentence


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("ignore:The pairs show no signal")
def test_a_failure_while_rows_are_written_leaves_the_old_file(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder / "pairs.csv", 8)
    (folder / "own.csv").write_text("old")

    def stopped(*_: Any) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr("likewise.io.files.write_csv", stopped)
    assert run(*FIT, "--rows", "own.csv").exit_code == 2
    assert (folder / "own.csv").read_text() == "old"
    assert not list(folder.glob(".*.part"))
