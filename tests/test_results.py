"""README and docs say what the committed records say."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

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
