"""`likewise fit` by the pair method, its default: what it learns, says, warns of and refuses."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.cli.pair_method import PairSummary
from likewise.io import load_model

from .conftest import Run, keep, write_files

FIT = ("fit", "rows.csv", "pairs.csv", "-o", "model.skops")


@dataclass(frozen=True)
class Fitted:
    """What a fit of all pairs came to, as --json shows it, and its predictions."""

    path: Path
    summary: dict[str, Any]
    stderr: str
    predicted: Any


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """Fit once for all tests that compare with it."""
    folder = tmp_path_factory.mktemp("fitted")
    write_files(folder)
    rows, pairs, model = (str(folder / name) for name in ("rows.csv", "pairs.csv", "model.skops"))
    result = CliRunner().invoke(app, ["fit", rows, pairs, "-o", model, "--json"])
    assert result.exit_code == 0, (result.stderr, result.exception)
    answer = CliRunner().invoke(app, ["predict", model, rows, "--json"])
    return Fitted(Path(model), json.loads(result.stdout), result.stderr, _classes(answer))


def _classes(result: Any) -> Any:
    return np.array([row["prediction"] for row in json.loads(result.stdout)["predictions"]])


def predicted(succeed: Run) -> Any:
    """Return what model.skops predicts for rows.csv."""
    return _classes(succeed("predict", "model.skops", "rows.csv", "--json"))


def test_it_finds_the_classes_and_their_shares(fitted: Fitted, truth: Any) -> None:
    assert fitted.stderr == ""
    assert (fitted.predicted == truth).mean() > 0.95
    low, high = fitted.summary["prior_interval"]
    assert low < (truth == 1).mean() < high
    assert low < fitted.summary["prior"] < high
    assert fitted.summary["prior_level"] == 0.95
    shares = [(fitted.predicted == label).mean() for label in (-1, 1)]
    assert fitted.summary["predicted_shares"] == pytest.approx(shares)


def test_json_holds_what_the_classifier_keeps(fitted: Fitted) -> None:
    summary = fitted.summary
    classifier = load_model(fitted.path).estimator[-1]
    assert (summary["method"], summary["model"]) == ("pair", str(fitted.path))
    counts = [summary[name] for name in ("rows", "similar_pairs", "dissimilar_pairs")]
    assert counts == [300, 120, 0]
    assert summary["features"] == ["first", "second"]
    assert summary["text_features"] == summary["warnings"] == []
    assert summary["chosen_features"] == classifier.features_
    assert summary["alpha"] == classifier.alpha_
    assert (summary["classes"], summary["positive"]) == ([-1, 1], "majority")
    assert summary["prior"] == classifier.prior_
    assert summary["nats_per_pair"] == classifier.pair_information_.value > 0.3
    assert summary["nats_per_pair_standard_error"] == classifier.pair_information_.standard_error
    assert summary["has_signal"] is True
    assert summary["pairing"] == "random"
    assert summary["pairing_test"]["p_value"] == classifier.pairing_test_.p_value


@pytest.mark.slow
def test_the_summary_can_be_read(folder: Path, succeed: Run, fitted: Fitted) -> None:
    lines = dict(line.split("  ", 1) for line in succeed(*FIT).stdout.splitlines())
    values = {name: value.strip() for name, value in lines.items()}
    assert list(values) == [
        "rows",
        "similar pairs",
        "dissimilar pairs",
        "columns",
        "features",
        "penalty",
        "prior of +1",
        "information",
        "pairing",
        "predicted",
        "model",
    ]
    shown = fitted.summary
    assert values["rows"] == "300"
    is_sum = " + " in shown["chosen_features"]
    assert values["features"].startswith("a sum of scores: " if is_sum else ("radial", "linear"))
    assert values["penalty"] == ("each score its own" if is_sum else f"{shown['alpha']:.2g}")
    assert values["prior of +1"].startswith(f"{shown['prior']:.1%} (95 % interval ")
    assert values["prior of +1"].endswith("+1 is the majority class")
    assert values["information"].startswith(f"{shown['nats_per_pair']:.3f} ± ")
    assert values["pairing"].startswith("random; the pairs agree with random pairing (p = ")
    assert values["predicted"] == f"+1 for {shown['predicted_shares'][1]:.1%} of the rows"
    assert values["model"] == "model.skops"


@pytest.mark.slow
def test_the_minority_class_can_be_made_positive(
    folder: Path, succeed: Run, fitted: Fitted
) -> None:
    minority = json.loads(succeed(*FIT, "--positive", "minority", "--json").stdout)
    assert minority["prior"] == pytest.approx(1 - fitted.summary["prior"])
    assert minority["positive"] == "minority"
    assert (predicted(succeed) == -fitted.predicted).all()


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_the_seed_decides_all(succeed: Run) -> None:
    first, again, other = (succeed(*FIT, "--json", "--seed", seed).stdout for seed in "001")
    assert first == again != other


def test_dissimilar_pairs_are_learned_from(
    folder: Path, succeed: Run, relate: Any, fitted: Fitted
) -> None:
    relate(10)
    summary = json.loads(succeed(*FIT, "--json").stdout)
    assert (summary["similar_pairs"], summary["dissimilar_pairs"]) == (120, 10)
    assert summary["nats_per_pair"] != fitted.summary["nats_per_pair"]


def test_dissimilar_pairs_alone_are_enough(
    folder: Path, succeed: Run, relate: Any, truth: Any
) -> None:
    keep(folder / "pairs.csv", 0)
    relate(40)
    output = succeed(*FIT).stdout
    assert "pairing           asked: every answer counts" in output
    assert (predicted(succeed) == truth).mean() > 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_how_pairs_were_formed_can_be_told(succeed: Run) -> None:
    assert "pairing           free, not tested" in succeed(*FIT, "--pairing", "free").stdout
    assert load_model("model.skops").estimator[-1].pairing == "free"


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_more_classes_are_numbered_and_each_has_a_share(succeed: Run) -> None:
    summary = json.loads(succeed(*FIT, "--classes", "3", "--json").stdout)
    assert summary["classes"] == [0, 1, 2]
    assert summary["prior"][0] == max(summary["prior"])
    assert sum(summary["prior"]) == pytest.approx(1)
    assert np.shape(summary["prior_interval"]) == (3, 2)
    assert sum(summary["predicted_shares"]) == pytest.approx(1)
    shown = str(PairSummary(**summary))
    for label in range(3):
        assert f"prior of {label}        {summary['prior'][label]:.1%} (95 % interval" in shown


def test_random_pairing_that_is_kept_against_the_test_says_why(fitted: Fitted) -> None:
    test = {**fitted.summary["pairing_test"], "is_rejected": True}
    for pairing, is_told in (("random", True), ("free", False)):
        shown = str(PairSummary(**{**fitted.summary, "pairing": pairing, "pairing_test": test}))
        assert ("free shares explain held-out pairs no better" in shown) is is_told


@pytest.mark.slow
def test_units_of_a_column_do_not_matter(folder: Path, succeed: Run, fitted: Fitted) -> None:
    rows = [row.split(",") for row in (folder / "rows.csv").read_text().splitlines()[1:]]
    scaled = [f"{key},{1e6 * float(first) + 1e7},{second}" for key, first, second in rows]
    (folder / "rows.csv").write_text("\n".join(["id,first,second", *scaled]))
    succeed(*FIT)
    assert (predicted(succeed) == fitted.predicted).all()


@pytest.mark.slow
def test_a_constant_column_does_no_harm(folder: Path, succeed: Run, truth: Any) -> None:
    rows = (folder / "rows.csv").read_text().splitlines()
    constant = [f"{row},7" for row in rows[1:]]
    (folder / "rows.csv").write_text("\n".join([f"{rows[0]},constant", *constant]))
    assert succeed(*FIT).stderr == ""
    assert (predicted(succeed) == truth).mean() > 0.95


@pytest.mark.usefixtures("unrelated")
@pytest.mark.filterwarnings("always:The pairs show no signal")
def test_pairs_without_a_signal_are_one_line_of_warning(succeed: Run) -> None:
    result = succeed(*FIT, "--json")
    (line,) = result.stderr.splitlines()
    assert line.startswith("likewise: warning: The pairs show no signal")
    summary = json.loads(result.stdout)
    assert summary["has_signal"] is False
    assert summary["warnings"] == [line.removeprefix("likewise: warning: ")]
    assert set(predicted(succeed)) == {1}


@pytest.mark.slow
@pytest.mark.filterwarnings("always:Pairs were not formed at random")
def test_pairs_that_were_not_formed_at_random_are_told_with_the_option(
    folder: Path, succeed: Run, truth: Any
) -> None:
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(truth == label) for label in (-1, 1)]
    pairs = [rng.choice(rows[int(rng.random() < 0.3)], 2, False) for _ in range(60)]
    lines = [f"r{a:03d},r{b:03d}" for a, b in pairs]
    (folder / "pairs.csv").write_text("\n".join(["left,right", *lines]))
    result = succeed(*FIT, "--json")
    (line,) = result.stderr.splitlines()
    assert line.startswith("likewise: warning: Pairs were not formed at random")
    assert "fit with --pairing random if you know that pairs were formed at random" in line
    assert line.endswith("give --classes auto.")
    assert json.loads(result.stdout)["pairing"] == "free"
    assert (predicted(succeed) == truth).mean() > 0.95


@pytest.mark.filterwarnings("ignore:The pairs show no signal")
@pytest.mark.parametrize(("n_pairs", "n_folds"), [(2, 2), (6, 5)])
def test_few_pairs_make_as_many_folds(
    folder: Path, succeed: Run, n_pairs: int, n_folds: int
) -> None:
    keep(folder / "pairs.csv", n_pairs)
    succeed(*FIT)
    assert load_model("model.skops").estimator[-1].cv == n_folds


@pytest.mark.parametrize("relation", ["same", "different"])
def test_one_pair_is_too_few(folder: Path, refuse: Run, relation: str) -> None:
    (folder / "pairs.csv").write_text(f"left,right,relation\nr001,r002,{relation}\n")
    assert "at least two" in refuse(*FIT)


@pytest.mark.parametrize(
    "option", [("--loss", "squared"), ("--prior", "0.7"), ("--alpha", "0.1"), ("--prior", "0.5")]
)
def test_options_of_the_papers_method_are_refused_before_any_file_is_read(
    folder: Path, refuse: Run, option: tuple[str, str]
) -> None:
    sentence = refuse("fit", "missing.csv", "missing.csv", "-o", "model.skops", *option)
    assert sentence == f"likewise: {option[0]} is an option of the paper's method: add --method su."


@pytest.mark.parametrize("option", [("--classes", "1"), ("--pairing", "odd"), ("--method", "km")])
def test_values_that_cannot_be_are_wrong_usage(
    folder: Path, run: Run, option: tuple[str, str]
) -> None:
    result = run(*FIT, *option)
    assert result.exit_code == 2
    assert option[0] in result.stderr


# --- levels and weights ---------------------------------------------------------------------------


def weigh_rows(folder: Path, weights: Any) -> None:
    """Add a column of weights to rows.csv."""
    heading, *rows = (folder / "rows.csv").read_text().splitlines()
    lines = [f"{row},{weight}" for row, weight in zip(rows, weights, strict=True)]
    (folder / "rows.csv").write_text("\n".join([f"{heading},share", *lines]) + "\n")


@pytest.mark.slow
def test_intervals_have_the_level_asked_for(succeed: Run, folder: Path, fitted: Fitted) -> None:
    narrow = json.loads(succeed(*FIT, "--level", "0.5", "--json").stdout)
    assert narrow["prior_level"] == 0.5
    assert np.diff(narrow["prior_interval"]) < 0.6 * np.diff(fitted.summary["prior_interval"])
    assert "(50 % interval" in str(PairSummary(**narrow))


@pytest.mark.parametrize("method", [(), ("--method", "su")])
def test_a_column_of_weights_is_no_feature_and_changes_the_prior(
    succeed: Run, folder: Path, truth: Any, method: tuple[str, ...]
) -> None:
    first = [float(row.split(",")[1]) for row in (folder / "rows.csv").read_text().split()[1:]]
    weights = np.where(np.array(first) > 0, 1, 9)
    weigh_rows(folder, weights)
    options = ("--weight", "share", "--level", "0.99", "--json")
    found = json.loads(succeed(*FIT, *method, *options).stdout)
    assert found["features"] == ["first", "second"]
    assert found["prior_level"] == 0.99
    share = np.average(truth != 1, weights=weights)  # that class is now the larger one
    assert found["prior_interval"][0] < share < found["prior_interval"][1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--weight", "none"), "has no column 'none'"),
        (("--weight", "first", "--drop", "second"), "no column left"),
        (("--weight", "id"), "is the id column"),
        (("--weight", "first"), "negative weights"),
        (("--weight", "first", "--engine", "parquet"), "--weight is for rows in memory"),
        (("--level", "1.5"), "--level must lie between 0 and 1"),
        (("--method", "su", "--prior", "0.7", "--level", "0.9"), "--level is for the interval of"),
    ],
)
def test_levels_and_weights_that_cannot_be_are_refused(
    refuse: Run, options: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refuse(*FIT, *options)
