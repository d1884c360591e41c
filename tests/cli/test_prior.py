"""`likewise prior`: what it estimates, what it says, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.cli.prior import _Result

from .conftest import Run

PRIOR = ("prior", "rows.csv", "pairs.csv")


def test_it_finds_the_share_of_the_majority_class(folder: Path, succeed: Run, truth: Any) -> None:
    found = json.loads(succeed(*PRIOR, "--json").stdout)
    low, high = found["interval"]
    assert low < (truth == 1).mean() < high
    assert low < found["prior"] < high
    assert (found["level"], found["method"], found["notes"]) == (0.95, "pair_likelihood", [])
    assert (found["rows"], found["similar_pairs"]) == (300, 120)
    assert found["features"] == ["first", "second"]


@pytest.mark.slow
def test_it_is_what_the_library_estimates_from_standardised_rows(
    folder: Path, succeed: Run
) -> None:
    rows = np.genfromtxt("rows.csv", delimiter=",", skip_header=1, usecols=(1, 2))
    pairs = np.genfromtxt("pairs.csv", delimiter=",", skip_header=1, dtype=str)
    numbers = np.array([[int(name[1:]) for name in pair] for pair in pairs])
    X, y = lw.pack(rows, similar=numbers)
    expected = lw.prior.estimate_prior((X - X.mean(0)) / X.std(0), y, level=0.8, random_state=3)
    found = json.loads(succeed(*PRIOR, "--json", "--seed", "3", "--level", "0.8").stdout)
    assert found["prior"] == pytest.approx(expected.value, rel=1e-6)
    assert found["interval"] == pytest.approx(expected.interval, rel=1e-6)
    assert found["level"] == 0.8


@pytest.mark.usefixtures("few")
def test_the_result_can_be_read(succeed: Run) -> None:
    found = json.loads(succeed(*PRIOR, "--json").stdout)
    first, *others = succeed(*PRIOR).stdout.splitlines()
    assert first.startswith(f"majority class    {found['prior']:.1%} of the rows (95 % interval ")
    names = ["method", "rows", "similar", "dissimilar", "columns"]
    assert [line.split()[0] for line in others][:5] == names
    assert [line for line in others[5:] if not line.startswith("note ")] == []


@pytest.mark.parametrize("method", ["km1", "km2"])
def test_the_methods_of_the_paper_have_no_interval_but_notes(
    folder: Path, succeed: Run, method: str
) -> None:
    result = succeed(*PRIOR, "--method", method, "--json")
    assert result.stderr == ""  # a bar is for terminals
    found = json.loads(result.stdout)
    assert found["interval"] is found["level"] is None
    assert found["method"] == method
    assert 0.5 <= found["prior"] <= 1
    assert "not consistent" in found["notes"][0]
    output = succeed(*PRIOR, "--method", method).stdout
    assert "this method has no interval" in output
    assert "note              not consistent" in output


def test_the_methods_of_the_paper_count_on_a_terminal(
    folder: Path, succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    class Bar:
        def __init__(self, **_: Any) -> None: ...
        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None: ...
        def add_task(self, doing: str, total: None) -> int:
            calls.append((doing, total))
            return 0

        def update(self, task: int, *, completed: int, total: int) -> None:
            calls.append((completed, total))

    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr("likewise.cli.terminal._on_terminal", lambda: True)
    succeed(*PRIOR, "--method", "km2")
    assert calls[0] == ("Estimating", None)
    assert calls[-1][0] == calls[-1][1]
    assert len(calls) > 3


@pytest.mark.slow
def test_text_columns_are_features_as_in_fit(folder: Path, succeed: Run) -> None:
    lines = (folder / "rows.csv").read_text().splitlines()
    words = ["high" if float(line.split(",")[1]) > 0 else "low" for line in lines[1:]]
    levels = [f"{line.split(',')[0]},{word}" for line, word in zip(lines[1:], words, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["id,level", *levels]))
    found = json.loads(succeed(*PRIOR, "--json").stdout)
    assert found["text_features"] == ["level"]
    assert 0.5 < found["prior"] < 0.9
    fitting = ("fit", "rows.csv", "pairs.csv", "--method", "su", "-o", "model.skops", "--json")
    fitted = json.loads(succeed(*fitting).stdout)
    assert found["prior"] == pytest.approx(fitted["prior"], rel=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("choice", [("--features", "second"), ("--drop", "first")])
def test_features_can_be_chosen_or_dropped(succeed: Run, choice: tuple[str, str]) -> None:
    assert json.loads(succeed(*PRIOR, *choice, "--json").stdout)["features"] == ["second"]


@pytest.mark.usefixtures("unrelated")
def test_pairs_without_a_signal_are_noted(succeed: Run) -> None:
    result = succeed(*PRIOR)
    assert "note              the pairs show no signal" in result.stdout


def test_pair_moments_can_be_asked_for(folder: Path, succeed: Run, truth: Any) -> None:
    found = json.loads(succeed(*PRIOR, "--method", "pair_moments", "--json").stdout)
    low, high = found["interval"]
    assert low < (truth == 1).mean() < high
    assert found["method"] == "pair_moments"


@pytest.mark.usefixtures("few")
def test_dissimilar_pairs_are_used_and_counted(succeed: Run, relate: Any) -> None:
    relate(10)
    found = json.loads(succeed(*PRIOR, "--json").stdout)
    assert (found["similar_pairs"], found["dissimilar_pairs"]) == (30, 10)


def test_a_method_of_similar_pairs_refuses_others(folder: Path, refuse: Run, relate: Any) -> None:
    relate(3)
    sentence = refuse(*PRIOR, "--method", "pair_moments")
    assert "the pairs hold 3 dissimilar ones: leave them out." in sentence


@pytest.mark.usefixtures("few")
def test_more_classes_have_a_share_each(succeed: Run, relate: Any) -> None:
    relate(10)
    options = ("--classes", "3", "--pairing", "asked", "--errors", "0.05")
    found = json.loads(succeed(*PRIOR, *options, "--json").stdout)
    assert sum(found["prior"]) == pytest.approx(1)
    assert found["prior"] == sorted(found["prior"], reverse=True)
    assert np.shape(found["interval"]) == (3, 2)
    assert str(_Result(**found)).startswith(
        f"class 0           {found['prior'][0]:.1%} of the rows"
    )


def test_contradictions_name_ids_and_the_way_out(folder: Path, refuse: Run) -> None:
    similar = (folder / "pairs.csv").read_text().splitlines()[1:]
    left, right = similar[0].split(",")
    lines = ["left,right,relation", *(f"{pair},same" for pair in similar)]
    (folder / "pairs.csv").write_text("\n".join([*lines, f"{right},{left},different"]))
    sentence = refuse(*PRIOR)
    for words in (repr(left), repr(right), "add --errors auto"):
        assert words in sentence


def test_groups_are_counted(folder: Path, succeed: Run) -> None:
    pairs = [line.split(",") for line in (folder / "pairs.csv").read_text().splitlines()[1:]]
    lines = [f"{name},{number}" for number, pair in enumerate(pairs) for name in pair]
    (folder / "pairs.csv").write_text("\n".join(["id,group", *lines]))
    output = succeed(*PRIOR).stdout
    assert "groups            120" in output
    assert "similar pairs" not in output


@pytest.mark.parametrize(
    "option", [("--classes", "3"), ("--pairing", "free"), ("--errors", "auto")]
)
def test_options_of_the_likelihood_are_refused_by_other_methods(
    folder: Path, refuse: Run, option: tuple[str, str]
) -> None:
    sentence = refuse("prior", "missing.csv", "missing.csv", "--method", "km1", *option)
    assert f"{option[0]} is an option of the method pair_likelihood" in sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--level", "1"], ["--level", "0.95"]),
        (["--level", "nan"], ["--level"]),
        (["--id", "key"], ["rows.csv", "'key'"]),
        (["--features", "third"], ["rows.csv", "'third'"]),
        (["--drop", "first", "--features", "second"], ["--features", "--drop"]),
    ],
)
def test_bad_options_are_named(
    folder: Path, refuse: Run, options: list[str], words: list[str]
) -> None:
    sentence = refuse(*PRIOR, *options)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ("left,right\nr001,x9\n", ["pairs.csv", "'x9'"]),
        ("left,right\nr001,r002\n", ["at least 10", "1 pair"]),
        ("left,right,relation\nr001,r002,different\n", ["at least 10", "1 pair", "--prior"]),
    ],
)
def test_bad_pairs_are_named(folder: Path, refuse: Run, pairs: str, words: list[str]) -> None:
    (folder / "pairs.csv").write_text(pairs)
    sentence = refuse(*PRIOR)
    for word in words:
        assert word in sentence


def test_an_unknown_method_is_wrong_usage(folder: Path, run: Run) -> None:
    result = run(*PRIOR, "--method", "guess")
    assert result.exit_code == 2
    assert "pair_likelihood" in result.stderr


@pytest.mark.slow
def test_the_number_of_classes_can_be_left_to_the_pairs(folder: Path, succeed: Run) -> None:
    found = json.loads(succeed(*PRIOR, "--classes", "auto", "--json").stdout)
    assert isinstance(found["prior"], float)  # two classes have one share


@pytest.mark.parametrize("number", ["1", "two", "2.5", "-3"])
def test_a_number_of_classes_that_cannot_be_is_refused(
    folder: Path, refuse: Run, number: str
) -> None:
    assert "--classes takes auto or a number from 2 on" in refuse(*PRIOR, f"--classes={number}")
