"""What made a record: words do not count, every number of the code does."""

import ast
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import likewise
from likewise.experiments import provenance
from likewise.experiments.catalogue import EXPERIMENTS
from likewise.experiments.provenance import canonical, code_of, commit, made_by, modules_of

PACKAGE = Path(likewise.__file__).parent
PATHS = {"experiments", "io", "pages"}
"""Folders that may be imported without counting: words, files and pages."""
HARMLESS: dict[str, set[str]] = {
    "classifiers": {"any_model", "rows", "saying", "scoring"},
    "datasets": {"arguments", "catalogue", "openml"},
    "engines": {"finite", "source", "tensors"},
    "prior": {"base", "pair_likelihood"},  # SUClassifier imports its default, not used here
    "search": {"settings"},  # what nets check their arguments with
    "statements": {"answers", "known", "named"},
    "su": {"losses", "objective", "rewrites", "risk", "scorers"},  # what a report compares with
}
"""Modules that may be: checks of arguments, and what is not used with rows in memory."""

Change = Callable[[str, str, str], None]


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Change]:
    """Return how to change a file of a copy of the package."""
    copy = tmp_path / "likewise"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "_ROOT", copy)
    forget()

    def replace(name: str, old: str, new: str) -> None:
        text = (copy / name).read_text(encoding="utf-8")
        assert old in text
        (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        forget()

    yield replace
    forget()


def forget() -> None:
    for remembered in (provenance.code_of, provenance._tree, provenance._whole, provenance.commit):
        remembered.cache_clear()


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ('"""About."""\nx = {1: 2.5}\n', True),
        ("# why\nx  =  {\n    1: 2.5,\n}\n'''what x is'''", True),
        ("x = {1: 2.6}", False),
        ("x = {1: 2.5}; y = 0", False),
        ("x = {1: None}", False),
    ],
)
def test_only_what_the_code_does_counts(text: str, is_same: bool) -> None:
    found = canonical(ast.parse(text))
    assert (found == canonical(ast.parse("x = {1: 2.5}"))) == is_same


def test_a_docstring_of_a_function_does_not_count() -> None:
    one, two = (canonical(ast.parse(f"def f():\n    '{word}'\n    return 1")) for word in "ab")
    assert one == two != canonical(ast.parse("def f():\n    return 2"))


def test_every_method_of_every_experiment_is_in_the_table() -> None:
    for name, experiment in EXPERIMENTS.items():
        for method in experiment.methods:
            assert re.fullmatch("[0-9a-f]{16}", code_of(name, method) or ""), (name, method)


def test_what_came_from_outside_has_no_known_code() -> None:
    assert code_of("benchmark", "a method of a user") is None
    assert code_of("an experiment of a user", "km") is None


def test_the_modules_of_a_method_are_there_and_import_nothing_else_that_counts() -> None:
    for name, experiment in EXPERIMENTS.items():
        for method in experiment.methods:
            listed = modules_of(name, method)
            assert listed is not None
            assert all((PACKAGE / one).exists() for one in listed), listed
            files = set(provenance._files(listed))
            left = {
                one.relative_to(PACKAGE)
                for path in files
                if path.parent.name != "experiments"
                for one in _imported(path) - files
            }
            assert not {str(one) for one in left if not _is_harmless(one)}, (name, method)


@cache
def _imported(path: Path) -> set[Path]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("likewise"):
            stem = PACKAGE.joinpath(*(node.module or "").split(".")[1:])
            candidates = [stem, *(stem / one.name for one in node.names)]
            found |= {one.with_suffix(".py") for one in candidates}
    return {one for one in found if one.exists()}


def _is_harmless(path: Path) -> bool:
    folder = path.parts[0]
    if len(path.parts) == 1:  # such as exceptions.py and plots.py
        return True
    return folder in PATHS or path.stem in HARMLESS.get(folder, set())


def test_a_change_of_the_learner_makes_other_code_of_what_learns_by_it(change: Change) -> None:
    before = {name: code_of("benchmark", name) for name in ("pair-likelihood", "su-logistic", "km")}
    change("search/learn.py", "_ODDS = 20.0", "_ODDS = 21.0")
    after = {name: code_of("benchmark", name) for name in before}
    assert [before[name] == after[name] for name in before] == [False, False, True]


def test_another_comment_in_the_learner_makes_the_same_code(change: Change) -> None:
    before = code_of("benchmark", "pair-likelihood")
    change("search/learn.py", "_ODDS = 20.0", "_ODDS = 20.0  # as said above")
    assert code_of("benchmark", "pair-likelihood") == before


def test_a_method_rests_on_its_own_part_of_the_list_of_methods(change: Change) -> None:
    before = {name: code_of("half", name) for name in ("3smic", "dimc", "labels")}
    change("experiments/methods.py", "ThreeSMIC().fit", "ThreeSMIC(gamma=2.0).fit")
    assert [code_of("half", name) == before[name] for name in before] == [False, True, True]


def test_a_trial_rests_on_what_it_calls_in_its_file_but_not_on_tables(change: Change) -> None:
    before = code_of("prior", "km1")
    change("experiments/prior.py", "digits=3", "digits=2")
    assert code_of("prior", "km1") == before
    change("experiments/prior.py", "PRIOR = 0.7", "PRIOR = 0.8")
    assert code_of("prior", "km1") != before


def test_what_runs_from_no_checkout_has_no_commit(change: Change) -> None:
    change("exceptions.py", "\n", "\n\n")
    assert commit() is None
    assert made_by("losses", "squared")["commit"] is None


def test_what_runs_from_a_checkout_names_its_commit() -> None:
    if not (PACKAGE.parent.parent / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a checkout and git")
    forget()
    assert re.fullmatch("[0-9a-f]{12,}(-dirty)?", commit() or "")
