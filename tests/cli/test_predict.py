"""`likewise predict`: from a saved model and a table to classes, by the names of the columns."""

import csv
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import skops.io

from tests.io.crafted import parts_of, zipped

from .conftest import Run, keep

FIT = ("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def columns_of(path: Path) -> dict[str, list[str]]:
    rows = rows_of(path.read_text())
    return {name: [row[name] for row in rows] for name in rows[0]}


def write(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def test_predictions_go_to_stdout_as_csv(model: Path, succeed: Run, truth: Any) -> None:
    result = succeed("predict", "model.skops", "rows.csv")
    rows = rows_of(result.stdout)
    assert list(rows[0]) == ["id", "prediction", "score"]
    assert [row["id"] for row in rows] == [f"r{i:03d}" for i in range(300)]
    found = np.array([int(row["prediction"]) for row in rows])
    assert (found == truth).mean() > 0.9
    assert ((np.array([float(row["score"]) for row in rows]) > 0) == (found == 1)).all()
    assert result.stderr == ""


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predictions_can_be_written_to_a_file(model: Path, succeed: Run, suffix: str) -> None:
    expected = rows_of(succeed("predict", "model.skops", "rows.csv").stdout)
    result = succeed("predict", "model.skops", "rows.csv", "-o", f"out.{suffix}")
    assert result.stdout == ""
    assert f"out.{suffix}" in result.stderr
    path = model.parent / f"out.{suffix}"
    if suffix == "csv":
        assert rows_of(path.read_text()) == expected
        return
    table = pa.parquet.read_table(path)
    assert table.column("id").to_pylist() == [row["id"] for row in expected]
    assert table.column("score").to_pylist() == [float(row["score"]) for row in expected]


def test_json_holds_the_predictions_or_says_where_they_are(model: Path, succeed: Run) -> None:
    shown = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    written = json.loads(
        succeed("predict", "model.skops", "rows.csv", "--json", "-o", "out.csv").stdout
    )
    assert shown["rows"] == written["rows"] == len(shown["predictions"]) == 300
    assert shown["positive_share"] == written["positive_share"]
    assert written["output"] == "out.csv"
    assert set(shown["predictions"][0]) == {"id", "prediction", "score"}


def test_a_model_of_the_pair_method_adds_the_probability_of_the_positive_class(
    folder: Path, succeed: Run, truth: Any
) -> None:
    keep(folder / "pairs.csv", 40)
    succeed("fit", "rows.csv", "pairs.csv", "-o", "model.skops")
    rows = rows_of(succeed("predict", "model.skops", "rows.csv").stdout)
    assert list(rows[0]) == ["id", "prediction", "score", "probability"]
    probabilities = np.array([float(row["probability"]) for row in rows])
    scores = np.array([float(row["score"]) for row in rows])
    found = np.array([int(row["prediction"]) for row in rows])
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-scores)))
    assert ((probabilities > 0.5) == (found == 1)).all()
    assert (found == truth).mean() > 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_more_classes_have_a_column_of_probabilities_each(succeed: Run) -> None:
    succeed("fit", "rows.csv", "pairs.csv", "--classes", "3", "-o", "model.skops")
    shown = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)
    names = ["probability_0", "probability_1", "probability_2"]
    assert list(shown["predictions"][0]) == ["id", "prediction", *names]
    probabilities = np.array([[row[name] for name in names] for row in shown["predictions"]])
    found = np.array([row["prediction"] for row in shown["predictions"]])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.argmax(axis=1) == found).all()
    shares = {str(label): (found == label).mean() for label in range(3)}
    assert shown["class_shares"] == pytest.approx(shares)
    assert "positive_share" not in shown


def test_parquet_in_gives_the_same_model_and_keeps_the_type_of_ids(
    folder: Path, succeed: Run
) -> None:
    rows = columns_of(folder / "rows.csv")
    numbers = [int(key[1:]) for key in rows["id"]]
    table = pa.table(
        {"id": numbers} | {n: [float(v) for v in rows[n]] for n in ("first", "second")}
    )
    pa.parquet.write_table(table, "rows.parquet")
    pairs = columns_of(folder / "pairs.csv")
    # As pandas leaves them when a column once had gaps: 7.0 means the row 7.
    as_floats = {side: [float(key[1:]) for key in pairs[side]] for side in ("left", "right")}
    pa.parquet.write_table(pa.table(as_floats), "pairs.parquet")
    from_csv = json.loads(succeed(*FIT, "--json").stdout)
    from_parquet = json.loads(
        succeed("fit", "rows.parquet", "pairs.parquet", *FIT[3:], "--json").stdout
    )
    assert from_parquet == from_csv
    succeed("predict", "model.skops", "rows.parquet", "-o", "out.parquet")
    assert pa.parquet.read_table("out.parquet").column("id").to_pylist() == numbers


def test_ids_with_leading_zeros_commas_and_quotes_come_back_as_they_were(
    folder: Path, succeed: Run
) -> None:
    for name in ("rows.csv", "pairs.csv"):
        columns = columns_of(folder / name)
        ids = ["id"] if name == "rows.csv" else ["left", "right"]
        for column in ids:
            columns[column] = [
                {"r001": 'a,"b"', "r002": "1.0", "r003": "NA"}.get(key, key[1:])
                for key in columns[column]
            ]
        write(folder / name, columns)
    succeed(*FIT)
    rows = rows_of(succeed("predict", "model.skops", "rows.csv").stdout)
    assert [row["id"] for row in rows[:5]] == ["000", 'a,"b"', "1.0", "NA", "004"]


def test_columns_are_matched_by_name_and_others_are_left_aside(model: Path, succeed: Run) -> None:
    expected = succeed("predict", "model.skops", "rows.csv").stdout
    columns = columns_of(model.parent / "rows.csv")
    shuffled = {"second": columns["second"], "note": ["x"] * 300, "id": columns["id"]}
    write(model.parent / "shuffled.csv", shuffled | {"first": columns["first"]})
    result = succeed("predict", "model.skops", "shuffled.csv")
    assert result.stdout == expected
    assert result.stderr.splitlines() == [
        "likewise: columns that the model was not fitted on are left aside: 'note'."
    ]


def test_of_many_columns_left_aside_only_the_first_are_named(model: Path, succeed: Run) -> None:
    lines = (model.parent / "rows.csv").read_text().splitlines()[:4]
    names = ",".join(f"other{number}" for number in range(5000))
    wide = [f"{lines[0]},{names}", *(line + ",1" * 5000 for line in lines[1:])]
    (model.parent / "wide.csv").write_text("\n".join(wide) + "\n")
    (said,) = succeed("predict", "model.skops", "wide.csv").stderr.splitlines()
    assert "'other0', 'other1'" in said
    assert said.endswith("and 4992 more.")
    assert len(said) < 300


def test_of_a_table_that_is_refused_nothing_else_is_said(model: Path, refuse: Run) -> None:
    columns = columns_of(model.parent / "rows.csv")
    write(model.parent / "less.csv", {"id": columns["id"], "note": columns["first"]})
    said = refuse("predict", "model.skops", "less.csv")
    assert len(said.splitlines()) == 1
    assert "lacks 2 columns" in said


def add_text(folder: Path) -> dict[str, list[Any]]:
    """Add a column of numbers that are names, a word among them, and a column of booleans."""
    columns = columns_of(folder / "rows.csv")
    high = [float(value) > 0 for value in columns["first"]]
    full = {
        **columns,
        "shop": ["01" if above else "B" for above in high],
        "open": ["true" if above else "false" for above in high],
    }
    write(folder / "rows.csv", full)
    return full


def test_text_columns_are_categories_even_where_they_look_like_numbers(
    folder: Path, succeed: Run
) -> None:
    columns = add_text(folder)
    summary = json.loads(succeed(*FIT, "--json").stdout)
    assert summary["text_features"] == ["shop"]
    expected = rows_of(succeed("predict", "model.skops", "rows.csv").stdout)
    only = [i for i, shop in enumerate(columns["shop"]) if shop == "01"]
    write(folder / "some.csv", {name: [c[i] for i in only] for name, c in columns.items()})
    # All shops are "01" now, which alone would read as the number 1.
    found = rows_of(succeed("predict", "model.skops", "some.csv").stdout)
    assert found == [expected[i] for i in only]


def test_an_unseen_category_is_no_error_and_counts_for_nothing(folder: Path, succeed: Run) -> None:
    columns = add_text(folder)
    succeed(*FIT)
    for shop in ("C", "D"):
        write(folder / f"{shop}.csv", {**columns, "shop": [shop] * 300})
    unseen = [succeed("predict", "model.skops", f"{shop}.csv").stdout for shop in "CD"]
    assert unseen[0] == unseen[1]
    assert unseen[0] != succeed("predict", "model.skops", "rows.csv").stdout


def test_the_pair_method_takes_text_columns_beside_numbers(
    folder: Path, succeed: Run, truth: Any
) -> None:
    keep(folder / "pairs.csv", 40)
    columns = add_text(folder)
    fitting = ("fit", "rows.csv", "pairs.csv", "-o", "model.skops")
    assert json.loads(succeed(*fitting, "--json").stdout)["text_features"] == ["shop"]
    rows = rows_of(succeed("predict", "model.skops", "rows.csv").stdout)
    assert (np.array([int(row["prediction"]) for row in rows]) == truth).mean() > 0.9
    for shop in ("C", "D"):
        write(folder / f"{shop}.csv", {**columns, "shop": [shop] * 300})
    unseen = [succeed("predict", "model.skops", f"{shop}.csv").stdout for shop in "CD"]
    assert unseen[0] == unseen[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"first": None}, ["rows.csv", "1 column", "'first'"]),
        ({"first": None, "second": None}, ["rows.csv", "2 columns", "'first', 'second'"]),
        ({"id": None}, ["rows.csv", "id column 'id'", "'first'"]),
        ({"first": "tall"}, ["rows.csv", "'first'", "'r002'", "'tall'"]),
        ({"first": ""}, ["rows.csv", "'first'", "'r002'", "missing"]),
        ({"first": "inf"}, ["rows.csv", "'first'", "'r002'", "infinite"]),
        ({"id": "r001"}, ["rows.csv", "'r001'", "more than once"]),
    ],
)
def test_a_table_that_does_not_fit_the_model_is_refused(
    model: Path, refuse: Run, change: dict[str, str | None], words: list[str]
) -> None:
    columns = columns_of(model.parent / "rows.csv")
    for name, value in change.items():
        if value is None:
            del columns[name]
        else:
            columns[name][2] = value
    columns = columns or {"other": ["1"]}
    write(model.parent / "rows.csv", columns)
    sentence = refuse("predict", "model.skops", "rows.csv", "-o", "out.csv")
    for word in words:
        assert word in sentence


def test_a_table_without_rows_is_refused(model: Path, refuse: Run) -> None:
    (model.parent / "rows.csv").write_text("id,first,second\n")
    assert "no rows" in refuse("predict", "model.skops", "rows.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"truncated", ["cut short"]),
        (pickle.dumps({"format": "likewise-model"}), ["pickle"]),
        (skops.io.dumps({"format": "something else"}), ["not a model that likewise saved"]),
    ],
)
def test_a_file_that_is_no_model_is_refused(
    model: Path, refuse: Run, content: bytes, words: list[str]
) -> None:
    model.write_bytes(model.read_bytes()[:-50] if content == b"truncated" else content)
    sentence = refuse("predict", "model.skops", "rows.csv", "-o", "out.csv")
    for word in ["model.skops", *words]:
        assert word in sentence


def test_a_model_without_its_weights_is_refused(model: Path, refuse: Run) -> None:
    parts = parts_of(model.read_bytes())
    parts["model.json"] = parts["model.json"].replace(b'"coef_"', b'"coefs_"')
    model.write_bytes(zipped(parts))
    sentence = refuse("predict", "model.skops", "rows.csv", "-o", "out.csv")
    assert "model.skops is damaged" in sentence
    assert "fit the model again" in sentence


@pytest.mark.parametrize(
    ("output", "words"),
    [("out.txt", ["out.txt", ".csv"]), ("nowhere/out.csv", ["nowhere", "does not exist"])],
)
def test_a_bad_output_is_refused(model: Path, refuse: Run, output: str, words: list[str]) -> None:
    sentence = refuse("predict", "model.skops", "rows.csv", "-o", output)
    for word in words:
        assert word in sentence


def test_a_missing_model_is_named(folder: Path, refuse: Run) -> None:
    assert "nothing.skops: No such file" in refuse("predict", "nothing.skops", "rows.csv")


def test_scores_that_overflow_are_refused_by_row(model: Path, refuse: Run) -> None:
    parts = parts_of(model.read_bytes())
    tree = json.loads(parts["model.json"])
    classifier = tree["estimator"]["object"][1]["steps"][-1]["tuple"][1]["object"][1]
    stream = io.BytesIO()
    np.save(stream, np.array([[1e200, -1e200]]))
    parts[f"arrays/{classifier['coef_']['array']}.npy"] = stream.getvalue()
    model.write_bytes(zipped(parts))
    names = Path("rows.csv").read_text().splitlines()[0].split(",")
    cells = ["1" if name == "id" else "1e139" for name in names]
    Path("new.csv").write_text(",".join(names) + "\n" + ",".join(cells) + "\n")
    found = refuse("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert "model.skops gives the row with id '1' of new.csv a score that is no finite" in found
    assert not Path("out.csv").exists()
