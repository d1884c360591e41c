"""`likewise report`: what it says of a model without labels, where it saves it, what it refuses."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import likewise as lw
from likewise.cli.report_page import suspects_section
from likewise.io import load_model

from .conftest import Run, keep

REPORT = ("report", "rows.csv", "pairs.csv")
OF_MODEL = (*REPORT, "--model", "model.skops")
NEW = (*OF_MODEL, "--new-pairs")


@pytest.mark.usefixtures("few")
def test_it_is_what_the_library_says_of_the_model(model: Path, succeed: Run) -> None:
    from likewise.io import read_inputs_of

    found = json.loads(succeed(*NEW, "--level", "0.9", "--seed", "5", "--json").stdout)
    saved = load_model(model)
    inputs = read_inputs_of(saved, Path("rows.csv"), Path("pairs.csv"))
    X, y = lw.pack(inputs.X, **inputs.statements)
    expected = lw.label_free_report(
        saved.estimator[-1],
        saved.estimator[:-1].transform(X),
        y,
        level=0.9,
        trained_on_same_pairs=False,
        random_state=5,
    ).to_dict()
    assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))
    assert (found["table"], found["pairs"]) == ("rows.csv", "pairs.csv")
    assert found["model"] == "model.skops"
    assert (found["rows"], found["similar_pairs"]) == (100, 30)


@pytest.mark.slow
def test_the_estimates_are_near_the_truth(model: Path, succeed: Run, truth: Any) -> None:
    found = json.loads(succeed(*OF_MODEL, "--json").stdout)
    assert found["cross_fitted"] is True
    rows = json.loads(succeed("predict", "model.skops", "rows.csv", "--json").stdout)["predictions"]
    accuracy = sum(row["prediction"] == label for row, label in zip(rows, truth, strict=True)) / 300
    assert found["accuracy"]["value"] == pytest.approx(accuracy, abs=0.05)
    assert found["prior"]["value"] == pytest.approx((truth == 1).mean(), abs=0.07)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_without_a_model_one_is_fitted_and_refitted(succeed: Run) -> None:
    found = json.loads(succeed(*REPORT, "--drop", "second", "--json").stdout)
    assert found["model"] is None
    assert found["cross_fitted"] is True
    assert found["features"] == ["first"]
    assert found["accuracy"]["value"] > 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_the_text_is_the_librarys_and_a_json_file_can_be_read_back(
    model: Path, succeed: Run
) -> None:
    result = succeed(*NEW, "-o", "report.json")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Without labels, from 30 pairs and 100 rows (held-out predictions")
    assert any("pairs formed at random" in line for line in lines)
    assert lines[-1] == "Report: report.json"
    assert result.stderr == ""
    saved = json.loads(Path("report.json").read_text())
    assert saved["output"] == "report.json"
    accuracy = saved["accuracy"]["value"]
    assert any(line.split()[:2] == ["accuracy", f"{accuracy:.3f}"] for line in lines)


class _Page(HTMLParser):
    """Gathers text, and the addresses that a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attributes if name in {"src", "data"}]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read_page(path: str) -> _Page:
    page = _Page()
    page.feed(Path(path).read_text(encoding="utf-8"))
    return page


@pytest.mark.usefixtures("few")
def test_an_html_file_has_tables_and_pictures_in_itself(model: Path, succeed: Run) -> None:
    found = json.loads(succeed(*NEW, "-o", "report.html", "--json").stdout)
    page = read_page("report.html")
    text = " ".join(page.text)
    assert page.tags.count("svg") == 4
    assert page.tags.count("table") == 5
    assert page.loaded == []
    assert f"{found['accuracy']['value']:.1%}" in text
    for words in ("rows.csv", "pairs.csv", "model.skops", "false-positive rate", "95 %"):
        assert words in text
    for check in found["checks"]:
        assert check["name"] in text
        assert check["text"] in text


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_without_matplotlib_the_page_says_so(
    model: Path, succeed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    succeed(*NEW, "-o", "report.html")
    page = read_page("report.html")
    assert "svg" not in page.tags
    assert "likewise[plots]" in " ".join(page.text)


def test_text_columns_are_read_as_the_model_reads_them(folder: Path, succeed: Run) -> None:
    lines = (folder / "rows.csv").read_text().splitlines()
    shops = ["shop", *("01" if float(line.split(",")[1]) > 0 else "B" for line in lines[1:])]
    keep(folder / "pairs.csv", 40)
    joined = [f"{line},{shop}" for line, shop in zip(lines, shops, strict=True)]
    (folder / "rows.csv").write_text("\n".join(joined))
    succeed("fit", "rows.csv", "pairs.csv", "-o", "model.skops")
    found = json.loads(succeed(*NEW, "--json").stdout)
    assert found["text_features"] == ["shop"]
    assert found["accuracy"]["value"] > 0.9


def test_pairs_without_a_signal_are_told_in_one_sentence(
    model: Path, refuse: Run, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("unrelated")  # after the fit
    assert "The pairs show no signal" in refuse(*NEW, "-o", "report.html")


@pytest.mark.slow
@pytest.mark.usefixtures("unrelated")
@pytest.mark.filterwarnings("always:The pairs show no signal")
def test_a_fit_that_warns_of_it_says_it_once(refuse: Run) -> None:
    assert "its accuracy cannot be told" in refuse(*REPORT)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_more_than_two_classes_have_a_recall_each(succeed: Run) -> None:
    succeed("fit", "rows.csv", "pairs.csv", "--classes", "3", "-o", "model.skops")
    found = json.loads(succeed(*NEW, "-o", "report.html", "--json").stdout)
    assert list(found["recall"]) == ["0", "1", "2"]
    text = " ".join(read_page("report.html").text)
    for label in range(3):
        assert f"recall of {label}" in text
        assert f"prior of {label}" in text


def test_the_page_lists_suspects() -> None:
    suspects = [{"ids": ["r001", "r002"], "relation": "different", "probability": 0.987}]
    section = suspects_section(1234, suspects)
    assert section.paragraphs[0].startswith("1,234 statements are more likely wrong than others")
    (row,) = section.tables[0].rows
    assert [cell.text for cell in row] == ["r001, r002", "different", "0.99"]


@pytest.mark.slow
def test_a_report_that_fits_lists_the_statements_that_may_be_wrong(
    folder: Path, succeed: Run, relate: Any
) -> None:
    relate(60)
    path = folder / "pairs.csv"
    first = path.read_text().splitlines()[1].rpartition(",")[0]
    path.write_text(path.read_text() + f"{first},different\n")
    found = json.loads(succeed(*REPORT, "--errors", "auto", "-o", "r.html", "--json").stdout)
    assert found["suspects"][0]["ids"] == first.split(",")
    assert found["suspect_count"] >= len(found["suspects"])
    text = " ".join(read_page("r.html").text)
    assert "Statements that may be wrong" in text
    assert first.replace(",", ", ") in text


def test_few_pairs_are_refused(model: Path, refuse: Run) -> None:
    keep(model.parent / "pairs.csv", 9)
    assert "9 statements" in refuse(*OF_MODEL)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--level", "1"], ["--level", "0.95"]),
        (["--new-pairs"], ["--new-pairs", "--model"]),
        (["-o", "report.txt"], ["report.txt", ".html", ".json"]),
        (["-o", "nowhere/report.html"], ["nowhere", "does not exist"]),
        (["--model", "nothing.skops"], ["nothing.skops: No such file"]),
        (["--model", "m.skops", "--drop", "first"], ["--model", "--drop"]),
        (["--model", "m.skops", "--id", "id"], ["--model", "--id"]),
        (["--model", "m.skops", "--errors", "auto"], ["--model", "--errors"]),
        (["--model", "m.skops", "--pairing", "asked"], ["--model", "--pairing"]),
        (["--model", "m.skops", "--classes", "3"], ["--model", "--classes"]),
        (["--errors", "1"], ["--errors takes auto or a rate"]),
    ],
)
def test_bad_options_are_named(
    folder: Path, refuse: Run, options: list[str], words: list[str]
) -> None:
    sentence = refuse(*REPORT, *options)
    for word in words:
        assert word in sentence


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_a_classifier_that_was_saved_without_a_pipeline_is_judged_too(
    model: Path, succeed: Run
) -> None:
    from likewise.io import read_inputs_of

    saved = load_model(model)
    inputs = read_inputs_of(saved, Path("rows.csv"), Path("pairs.csv"))
    X, y = lw.pack(pd.DataFrame(inputs.X, columns=["first", "second"]), **inputs.statements)
    lw.save(lw.SUClassifier(prior=0.7, alpha=0.1).fit(X, y), model)
    found = json.loads(succeed(*NEW, "--json").stdout)
    assert found["accuracy"]["value"] > 0.8
