"""README and docs say what the committed records say, and which code made them."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from likewise.experiments.markdown import write_markdown
from likewise.experiments.reporting import TITLE, tell
from likewise.experiments.staleness import stale

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def make() -> ModuleType:
    path = ROOT / "docs" / "results" / "make.py"
    if not path.exists():
        pytest.skip("needs the repository: docs/results is not part of an installation")
    spec = importlib.util.spec_from_file_location("docs_results_make", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_and_page_are_made_of_the_records(make: ModuleType) -> None:
    for path, text in make.wanted().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not what make.py makes"


def test_tables_are_made_of_the_records(make: ModuleType, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    told = tell(make.read_records(), make.RUN)
    sections = [
        replace(one, pictures=tuple(replace(picture, draw=Figure) for picture in one.pictures))
        for one in told.said
    ]
    write_markdown(tmp_path / "tables.md", TITLE, sections, told.facts)
    wanted, found = (
        [
            line
            for line in (folder / "tables.md").read_text(encoding="utf-8").splitlines()
            if not line.startswith(("- versions of this report", "- machine of this report"))
        ]
        for folder in (tmp_path, ROOT / "docs" / "results")
    )
    assert found == wanted, "tables.md is not what docs/results/make.py makes"


def test_what_other_code_made_is_declared_and_so_shown_and_nothing_else_is(
    make: ModuleType,
) -> None:
    found = set(stale([*make.read_records(), *make.net_records()]))
    _, declared = make.declared()
    known = set(declared)
    assert not found - known, "made by other code; run again or docs/results/make.py --declare"
    assert not known - found, "no longer stale: docs/results/make.py --declare"


def test_a_record_of_other_code_is_named_under_the_table(make: ModuleType) -> None:
    records = [one for one in make.read_records() if one["experiment"] == "benchmark"]
    assert make.code_of(records) in make.headline(make.Results(records))
    date, known = make.declared()
    of_table = [one for one in known if one.experiment == "benchmark"]
    assert (f"(as of {date})" in make.code_of(records)) == bool(of_table)


def test_records_take_little_room(make: ModuleType) -> None:
    assert sum(path.stat().st_size for path in make.PACKED.iterdir()) < 3_000_000


def test_the_benchmark_is_complete_and_nothing_failed(make: ModuleType) -> None:
    from likewise.experiments.methods import METHODS

    records = [one for one in make.read_records() if one["experiment"] == "benchmark"]
    cells = {(one["dataset"], one["method"], one["trial"]) for one in records}
    assert len(cells) == len(records) == 12 * len(METHODS) * 20
    assert all(one["status"] == "ok" for one in records)


def test_a_changed_record_changes_what_is_said(make: ModuleType) -> None:
    records = make.read_records()
    before = make.headline(make.Results(records))
    for record in records:
        if record["method"] == "pair-likelihood" and record["dataset"] == "banana":
            record["accuracy"] = 0.5
    assert make.headline(make.Results(records)) != before
