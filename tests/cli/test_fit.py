"""`likewise fit --method su`: what it learns, what it says, and what any fit refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likewise.io import load_model

from .conftest import Run, keep

FIT = ("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops")


def edit(path: Path, line: int, text: str) -> None:
    """Replace one line of a file."""
    lines = path.read_text().splitlines()
    lines[line] = text
    path.write_text("\n".join(lines) + "\n")


def test_fit_saves_a_model_and_says_how_good_it_is(folder: Path, succeed: Run) -> None:
    output = succeed(*FIT).stdout
    for words in ("300", "120", "model.skops", "±", "squared", "0.7, as given"):
        assert words in output
    assert (folder / "model.skops").stat().st_size > 0


def test_json_is_one_object_with_the_figures_of_the_fit(folder: Path, succeed: Run) -> None:
    summary = json.loads(succeed(*FIT, "--json").stdout)
    assert summary["rows"] == 300
    assert (summary["method"], summary["loss"]) == ("su", "squared")
    assert (summary["similar_pairs"], summary["dissimilar_pairs"]) == (120, 0)
    assert summary["features"] == ["first", "second"]
    assert summary["text_features"] == summary["warnings"] == []
    assert summary["alpha"] in (1e-1, 1e-4, 1e-7)
    assert summary["cv_risk_standard_error"] > 0
    assert 0.5 < summary["positive_share"] < 0.9
    assert summary["model"] == "model.skops"


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
def test_every_loss_finds_the_classes(folder: Path, succeed: Run, truth: Any, loss: str) -> None:
    succeed(*FIT, "--loss", loss)
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == truth).mean() > 0.9


def test_alphas_may_be_listed_or_repeated(folder: Path, succeed: Run) -> None:
    succeed(*FIT, "--alpha", "0.5,0.25", "--alpha", "0.125")
    assert load_model("model.skops").estimator[-1].alphas == (0.5, 0.25, 0.125)


def test_the_seed_decides_the_folds(folder: Path, succeed: Run) -> None:
    first, again, other = (
        json.loads(succeed(*FIT, "--json", "--seed", seed).stdout)["cv_risk"] for seed in "001"
    )
    assert first == again != other


@pytest.mark.parametrize("choice", [("--features", "second"), ("--drop", "first")])
def test_features_can_be_chosen_or_dropped(
    folder: Path, succeed: Run, choice: tuple[str, str]
) -> None:
    assert json.loads(succeed(*FIT, *choice, "--json").stdout)["features"] == ["second"]


def test_another_id_column_can_be_named(folder: Path, succeed: Run) -> None:
    edit(folder / "rows.csv", 0, "first,name,second")
    rows = (folder / "rows.csv").read_text().splitlines()
    moved = [",".join([b, a, c]) for a, b, c in (row.split(",") for row in rows[1:])]
    (folder / "rows.csv").write_text("\n".join([rows[0], *moved]) + "\n")
    summary = json.loads(succeed(*FIT, "--id", "name", "--json").stdout)
    assert summary["features"] == ["first", "second"]


def test_a_line_break_between_features_separates_them(folder: Path, succeed: Run) -> None:
    found = json.loads(succeed(*FIT, "--features", "second\nfirst\n", "--json").stdout)
    assert found["features"] == ["second", "first"]


@pytest.mark.filterwarnings("ignore:The pairs show no signal")
@pytest.mark.parametrize("how", [(), ("--method", "su", "--prior", "0.7", "--alpha", "0.1")])
def test_constant_columns_and_a_dissimilar_pair_give_numbers(
    folder: Path, succeed: Run, how: tuple[str, ...]
) -> None:
    (folder / "rows.csv").write_text("id,a,b\n" + "".join(f"r{k},1.5,0\n" for k in range(12)))
    (folder / "pairs.csv").write_text("left,right,relation\nr0,r1,same\nr2,r3,different\n")
    said = succeed("fit", "rows.csv", "pairs.csv", "-o", "model.skops", *how).stdout
    assert "prior of +1" in said
    assert "nan" not in said
    predicted = succeed("predict", "model.skops", "rows.csv").stdout.splitlines()[1:]
    assert np.isfinite([float(row.rpartition(",")[2]) for row in predicted]).all()


def test_a_constant_feature_does_no_harm(folder: Path, succeed: Run) -> None:
    rows = (folder / "rows.csv").read_text().splitlines()
    (folder / "rows.csv").write_text(
        "\n".join(f"{row},7" for row in rows).replace("second,7", "second,constant")
    )
    output = succeed(*FIT, "--json")
    assert json.loads(output.stdout)["features"] == ["first", "second", "constant"]
    assert output.stderr == ""


def test_a_table_of_text_only_can_be_learned_from(folder: Path, succeed: Run) -> None:
    rows = [row.split(",") for row in (folder / "rows.csv").read_text().splitlines()[1:]]
    words = [f"{row[0]},{'high' if float(row[1]) > 0 else 'low'}" for row in rows]
    (folder / "rows.csv").write_text("\n".join(["id,level", *words]))
    assert json.loads(succeed(*FIT, "--json").stdout)["text_features"] == ["level"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("r004,nan,0.5", ["rows.csv", "'first'", "'r004'", "missing"]),
        ("r004,,0.5", ["rows.csv", "'first'", "'r004'", "missing"]),
        ("r004,inf,0.5", ["rows.csv", "'first'", "'r004'", "infinite"]),
        ("r004,1.0,-inf", ["rows.csv", "'second'", "'r004'", "infinite"]),
        ("r001,1.0,0.5", ["rows.csv", "'r001'", "more than once"]),
        (",1.0,0.5", ["rows.csv", "row 5", "'id'", "missing"]),
        ("r004,1.0", ["rows.csv", "well-formed", "Expected 3 columns, got 2"]),
    ],
)
def test_a_bad_row_is_named(folder: Path, refuse: Run, line: str, words: list[str]) -> None:
    edit(folder / "rows.csv", 5, line)
    sentence = refuse(*FIT)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ("left,right\nr001,r001\n", ["pairs.csv", "row 1", "'r001'", "itself"]),
        ("left,right\n", ["pairs.csv", "no pairs"]),
        ("", ["pairs.csv", "empty"]),
        ("left,right\nr001,r002\nr001,x9\n", ["pairs.csv", "rows.csv", "1 id", "'x9'", "row 2"]),
        ("left,rihgt\nr001,r002\n", ["pairs.csv", "'right'", "'rihgt'"]),
        ("left,right,relation\nr001,r002,maybe\n", ["pairs.csv", "row 1", "'maybe'"]),
        (
            "left,right,relation\nr001,r002,same\nr002,r001,different\n",
            ["'r001'", "'r002'", "contradict", "leave out --method su", "--errors auto"],
        ),
        ("left,right,relation\nr001,r002,different\n", ["several alphas", "--alpha"]),
        ("left,right\nr001,r002\n", ["several alphas", "at least two pairs", "--alpha"]),
    ],
)
def test_bad_pairs_are_named(folder: Path, refuse: Run, pairs: str, words: list[str]) -> None:
    (folder / "pairs.csv").write_text(pairs)
    sentence = refuse(*FIT)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize(("n_pairs", "n_folds"), [(2, 2), (4, 4), (5, 5), (7, 5)])
def test_few_pairs_make_as_many_folds(
    folder: Path, succeed: Run, n_pairs: int, n_folds: int, loss: str
) -> None:
    keep(folder / "pairs.csv", n_pairs)
    result = succeed(*FIT, "--loss", loss, "--json")
    assert result.stderr == ""
    assert json.loads(result.stdout)["similar_pairs"] == n_pairs
    assert load_model("model.skops").estimator[-1].cv.n_splits == n_folds


def test_every_fold_holds_a_pair_even_where_pairs_are_repeated(folder: Path, succeed: Run) -> None:
    keep(folder / "rows.csv", 7)
    (folder / "pairs.csv").write_text("left,right\n" + "r000,r001\nr002,r003\nr004,r005\n" * 3)
    succeed(*FIT)
    assert load_model("model.skops").estimator[-1].cv.n_splits == 3


def test_a_chain_of_few_rows_is_too_little_to_validate_with(folder: Path, refuse: Run) -> None:
    keep(folder / "rows.csv", 3)
    (folder / "pairs.csv").write_text("left,right\n" + "r000,r001\nr001,r002\n" * 3)
    assert "hang together" in refuse(*FIT)


def test_one_pair_is_enough_for_one_alpha(folder: Path, succeed: Run) -> None:
    keep(folder / "pairs.csv", 1)
    assert "unknown" in succeed(*FIT, "--alpha", "0.1").stdout
    summary = json.loads(succeed(*FIT, "--alpha", "0.1", "--json").stdout)
    assert summary["alpha"] == 0.1
    assert summary["cv_risk"] is None
    assert summary["cv_risk_standard_error"] is None
    assert json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)["rows"] == 300


def test_an_index_that_pandas_saved_is_no_feature(folder: Path, succeed: Run) -> None:
    frame = pd.read_csv("rows.csv")
    linked = pd.read_csv("pairs.csv").to_numpy().ravel()
    frame[frame["id"].isin(linked)].to_parquet("some.parquet")
    summary = json.loads(succeed("fit", "some.parquet", *FIT[2:], "--json").stdout)
    assert summary["rows"] < 300
    assert summary["features"] == ["first", "second"]
    asked = ("--features", "first,__index_level_0__", "--json")
    summary = json.loads(succeed("fit", "some.parquet", *FIT[2:], *asked).stdout)
    assert summary["features"] == ["first", "__index_level_0__"]


def test_dissimilar_pairs_are_learned_from_too(
    folder: Path, succeed: Run, relate: Any, truth: Any
) -> None:
    relate(40)
    summary = json.loads(succeed(*FIT, "--json").stdout)
    assert (summary["similar_pairs"], summary["dissimilar_pairs"]) == (120, 40)
    classifier = load_model("model.skops").estimator[-1]
    assert 0 < classifier.su_share_ < 1
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == truth).mean() > 0.9


@pytest.mark.parametrize(("rewrite", "share"), [("su", 1.0), ("du", 0.0), ("sd", 0.5)])
def test_the_kinds_of_pairs_can_be_chosen(
    folder: Path, succeed: Run, relate: Any, rewrite: str, share: float
) -> None:
    relate(20)
    succeed(*FIT, "--rewrite", rewrite)
    assert load_model("model.skops").estimator[-1].su_share_ == share


@pytest.mark.parametrize(
    "option",
    [
        ("--classes", "2"),
        ("--pairing", "free"),
        ("--errors", "auto"),
        ("--known", "known.csv"),
        ("--rows", "own.csv"),
    ],
)
def test_options_of_the_pair_method_are_refused(
    folder: Path, refuse: Run, option: tuple[str, str]
) -> None:
    assert f"{option[0]} is an option of the pair method" in refuse(*FIT, *option)


@pytest.mark.parametrize("prior", ["0.5", "0", "1", "-0.1", "nan"])
def test_an_impossible_prior_is_refused_before_any_file_is_read(
    folder: Path, refuse: Run, prior: str
) -> None:
    sentence = refuse("fit", "missing.csv", "missing.csv", *FIT[3:], f"--prior={prior}")
    assert "--prior" in sentence


ESTIMATED = ("fit", "rows.csv", "pairs.csv", "--method", "su", "-o", "model.skops")


def test_without_a_prior_it_is_estimated_with_an_interval(
    folder: Path, succeed: Run, truth: Any
) -> None:
    summary = json.loads(succeed(*ESTIMATED, "--json").stdout)
    low, high = summary["prior_interval"]
    assert low < (truth == 1).mean() < high
    assert low < summary["prior"] < high
    assert (summary["prior_method"], summary["prior_level"]) == ("pair_likelihood", 0.95)
    assert summary["positive"] == "majority"
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == truth).mean() > 0.9


def test_a_given_prior_has_no_interval(folder: Path, succeed: Run) -> None:
    summary = json.loads(succeed(*FIT, "--json").stdout)
    assert (summary["prior"], summary["prior_method"]) == (0.7, "given")
    assert summary["prior_interval"] is summary["prior_level"] is summary["positive"] is None


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("ignore:The estimated prior is uncertain")
@pytest.mark.parametrize("positive", ["majority", "minority"])
def test_the_summary_says_that_the_prior_was_estimated(succeed: Run, positive: str) -> None:
    output = succeed(*ESTIMATED, "--positive", positive).stdout
    (line,) = [line for line in output.splitlines() if line.startswith("prior of +1")]
    for words in ("estimated", "95 % interval", f"+1 is the {positive} class"):
        assert words in line


@pytest.mark.slow
def test_the_minority_class_can_be_made_positive(folder: Path, succeed: Run, truth: Any) -> None:
    majority = json.loads(succeed(*ESTIMATED, "--json").stdout)
    minority = json.loads(succeed(*ESTIMATED, "--positive", "minority", "--json").stdout)
    assert minority["prior"] == pytest.approx(1 - majority["prior"])
    low, high = majority["prior_interval"]
    assert minority["prior_interval"] == pytest.approx([1 - high, 1 - low])
    assert minority["positive"] == "minority"
    predictions = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    found = np.array([row["prediction"] for row in predictions["predictions"]])
    assert (found == -truth).mean() > 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("ignore:The estimated prior is uncertain")
def test_the_seed_decides_the_estimated_prior(succeed: Run) -> None:
    first, again, other = (
        json.loads(succeed(*ESTIMATED, "--json", "--seed", seed).stdout)["prior"] for seed in "001"
    )
    assert first == again != other


@pytest.mark.filterwarnings("always:The estimated prior is uncertain")
def test_an_uncertain_prior_is_one_line_of_warning_and_a_note(
    folder: Path, succeed: Run, truth: Any
) -> None:
    lines = (folder / "rows.csv").read_text().splitlines()
    balanced = [np.flatnonzero(truth == label)[:80] for label in (-1, 1)]
    kept = [lines[1 + row] for rows in balanced for row in rows]
    (folder / "rows.csv").write_text("\n".join([lines[0], *kept]))
    pairs = [f"r{a:03d},r{b:03d}" for rows in balanced for a, b in rows.reshape(-1, 2)]
    (folder / "pairs.csv").write_text("\n".join(["left,right", *pairs]))
    result = succeed(*ESTIMATED, "--json")
    (line,) = result.stderr.splitlines()
    assert line.startswith("likewise: warning: The estimated prior is uncertain")
    assert "give --prior if you know it, or leave out --method su" in line
    summary = json.loads(result.stdout)
    assert summary["warnings"] == [line.removeprefix("likewise: warning: ")]
    assert summary["prior_interval"][0] == 0.5
    assert summary["prior_notes"] == ["the interval reaches one half"]


def test_a_given_prior_says_itself_which_class_is_positive(folder: Path, refuse: Run) -> None:
    sentence = refuse(*FIT, "--positive", "minority")
    assert "--prior" in sentence
    assert "--positive" in sentence


def test_too_few_pairs_to_estimate_from_are_named_with_the_option(
    folder: Path, refuse: Run
) -> None:
    keep(folder / "pairs.csv", 4)
    sentence = refuse(*ESTIMATED)
    assert "4 pairs" in sentence
    assert "say it with --method su --prior" in sentence


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("id,first\n", ["rows.csv", "no rows"]),
        ("", ["rows.csv", "empty"]),
        ("id\n1\n2\n", ["rows.csv", "no column"]),
        ("id,a,a\n1,2,3\n", ["rows.csv", "more than one column", "'a'"]),
        (
            "id,day\n1,2024-01-01\n2,2024-01-02\n",
            ["rows.csv", "'day'", "date", "leave the column out"],
        ),
    ],
)
def test_a_bad_table_is_named(folder: Path, refuse: Run, table: str, words: list[str]) -> None:
    (folder / "rows.csv").write_text(table)
    sentence = refuse(*FIT)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--id", "key"], ["rows.csv", "'key'", "'first'"]),
        (["--features", "first,third"], ["rows.csv", "'third'"]),
        (["--features", "id"], ["'id'", "id column"]),
        (["--drop", "third"], ["rows.csv", "'third'"]),
        (["--drop", "first,second"], ["rows.csv", "no column left"]),
        (["--drop", "first", "--features", "second"], ["--features", "--drop"]),
        (["--alpha", "much"], ["--alpha", "'much'"]),
        (["--alpha", "-1"], ["alphas", "positive"]),
        (["-o", "nowhere/model.skops"], ["nowhere", "does not exist"]),
        (["-o", "."], ["folder"]),
    ],
)
def test_bad_options_are_named(
    folder: Path, refuse: Run, options: list[str], words: list[str]
) -> None:
    sentence = refuse(*FIT, *options)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("files", [("missing.csv", "pairs.csv"), ("rows.csv", "missing.csv")])
def test_a_missing_file_is_named(folder: Path, refuse: Run, files: tuple[str, str]) -> None:
    sentence = refuse("fit", *files, *FIT[3:])
    assert "missing.csv: No such file" in sentence


def test_an_old_model_survives_a_failed_fit(model: Path, run: Run) -> None:
    before = model.read_bytes()
    (model.parent / "pairs.csv").write_text("left,right\n")
    assert run(*FIT).exit_code == 2
    assert model.read_bytes() == before
