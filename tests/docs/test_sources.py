"""What can be told of the site without building it: links, formulas, names, words."""

import doctest
import importlib
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ("gallery/", "tutorials/", "reference/")
"""Folders of docs/ that the build writes."""
PAGES = [
    *(
        path
        for path in DOCS.rglob("*.md")
        if not path.relative_to(DOCS).as_posix().startswith(MADE)
    ),
    *(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")),
]
WORDS = DOCS / "_style" / "words.txt"


@pytest.fixture(scope="module")
def public_names() -> ModuleType:
    pytest.importorskip("sphinx", reason="needs the extra docs")
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        return importlib.import_module("public_names")
    finally:
        sys.path.pop(0)


def text_of(path: Path) -> str:
    """Return a page without its code."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.strip().replace(" ", "-") for word in words}


def is_there(page: Path, target: str) -> bool:
    """Say whether a relative link leads somewhere, to a page that the build makes too."""
    name, _, anchor = urllib.parse.unquote(target).partition("#")
    goal = (page.parent / name).resolve() if name else page
    if DOCS in goal.parents and goal.relative_to(DOCS).as_posix().startswith(MADE):
        made = goal.relative_to(DOCS)
        if made.name == "index":
            return True
        stem = re.sub(r"^sphx_glr_(.*)_\d{3}$", r"\1", made.stem)
        source = {"gallery": ROOT / "examples", "tutorials": DOCS / "_tutorials"}[made.parts[0]]
        return (source / f"{stem}.py").exists()
    if not goal.exists() and not goal.with_suffix(".md").exists():
        return False
    return not anchor or anchor in anchors_of(goal)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    inside = [one for one in targets if not re.match(r"[a-z]+:", one)]
    assert [one for one in inside if not is_there(page, one)] == []


def test_tests_that_a_page_names_are_there() -> None:
    """Names after the first of a cell are of the file that was named before them."""
    named, missing = 0, []
    for line in (DOCS / "robustness.md").read_text(encoding="utf-8").splitlines():
        path = ""
        for file, name in re.findall(r"`(?:(tests/[\w/]+\.py)::)?(test_\w+)`", line):
            path = file or path
            named += 1
            if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8"):
                missing.append(f"{path}::{name}")
    assert missing == []
    assert named > 50


def test_formulas_can_be_typeset() -> None:
    math = pytest.importorskip("docutils.utils.math", reason="needs the extra docs")
    translate = importlib.import_module("docutils.utils.math.latex2mathml").tex2mathml
    count, broken = 0, []
    for page in PAGES:
        text = text_of(page)
        blocks = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
        lines = re.findall(r"\$([^$\n]+?)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL))
        for formula in [*blocks, *lines]:
            count += 1
            try:
                translate(formula)
            except math.MathError as error:
                broken.append((page.name, formula, str(error)))
    assert broken == []
    assert count > 100


MODULES = (
    "likewise",
    "baselines",
    "datasets",
    "plots",
    "asking",
    "losses",
    "risk",
    "engines",
    "exceptions",
    "testing",
    "nets",
)
"""What the reference has pages of; nets, which need torch, are the last."""


def home_of(module: str, public_names: ModuleType) -> ModuleType:
    if module == "nets":
        pytest.importorskip("torch")
        pytest.importorskip("skorch")
    submodules = public_names.SUBMODULES
    return importlib.import_module(submodules[module][0] if module in submodules else module)


def test_the_reference_has_all_public_modules(public_names: ModuleType) -> None:
    assert set(MODULES) == {"likewise", *public_names.SUBMODULES}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_page_in_the_reference(
    module: str, public_names: ModuleType
) -> None:
    home = home_of(module, public_names)
    pytest.importorskip("torch", reason="the pages of nets need torch")
    pytest.importorskip("skorch", reason="the pages of nets need skorch")
    pages = public_names.pages()
    listed = pages["index.rst"] + pages.get(f"{module}.rst", "")
    for name in home.__all__:
        value = getattr(home, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert f"\n   {name}\n" in listed, f"{name} is not in the reference"


def docstrings_of(module: str, public_names: ModuleType) -> dict[str, str]:
    """Return the docstrings of the public names of a module, and of the methods of classes."""
    home = home_of(module, public_names)
    found = {name: getattr(home, name) for name in public_names.names_of(home.__name__)}
    methods = {
        f"{name}.{method}": function
        for name, value in found.items()
        if inspect.isclass(value)
        for method, function in inspect.getmembers(value, inspect.isfunction)
        if not method.startswith("_") and function.__module__.startswith("likewise.")
    }
    return {name: inspect.getdoc(value) or "" for name, value in (found | methods).items()}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_summary_and_an_example(
    module: str, public_names: ModuleType
) -> None:
    home = home_of(module, public_names)
    names = public_names.names_of(home.__name__)
    assert names
    # For a class without a docstring, inspect.getdoc would return that of its base.
    texts = {name: inspect.cleandoc(getattr(home, name).__doc__ or "") for name in names}
    assert {name for name, text in texts.items() if not text} == set()
    assert {name for name, text in texts.items() if not runs(text)} == set()
    assert {name for name, text in docstrings_of(module, public_names).items() if not text} == set()


def runs(text: str) -> bool:
    """Say whether a docstring has an example that is run."""
    examples = doctest.DocTestParser().get_examples(text)
    return any(not one.options.get(doctest.SKIP) for one in examples)


def test_a_name_without_an_example_is_noticed() -> None:
    assert not runs("Return one.")
    assert not runs("Return one.\n\n>>> 1  # doctest: +SKIP\n1")
    assert runs("Return one.\n\n>>> 1\n1")


@pytest.mark.parametrize("module", MODULES)
def test_formulas_of_the_reference_are_typeset(module: str, public_names: ModuleType) -> None:
    for name, text in docstrings_of(module, public_names).items():
        plain = re.findall(r"^(?!\s*\.\. ).*::$", text, re.MULTILINE)
        assert plain == [] or name == "PairLoss", f"{name} has a formula in a code font: {plain}"


def test_docstrings_of_the_reference_use_our_words(
    public_names: ModuleType, tmp_path: Path
) -> None:
    codespell = shutil.which("codespell", path=str(Path(sys.executable).parent))
    if codespell is None:
        pytest.skip("needs codespell")
    with_torch = MODULES if importlib.util.find_spec("skorch") else MODULES[:-1]
    for module in with_torch:
        for name, text in docstrings_of(module, public_names).items():
            (tmp_path / f"{module}.{name}.txt").write_text(text, encoding="utf-8")
    command = [codespell, "-D", str(WORDS), "-D", "-", str(tmp_path)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stdout


def test_all_submodules_of_the_top_level_are_in_the_reference(public_names: ModuleType) -> None:
    import likewise

    modules = {name for name in likewise.__all__ if inspect.ismodule(getattr(likewise, name))}
    # All names of `likewise.prior` are names of `likewise` too.
    assert modules - {"prior"} <= public_names.SUBMODULES.keys()


@pytest.mark.parametrize("words", ["a rival method", "by chance", "radial features", "teh row"])
def test_words_that_we_do_not_use_are_found(words: str, tmp_path: Path) -> None:
    codespell = shutil.which("codespell", path=str(Path(sys.executable).parent))
    if codespell is None:
        pytest.skip("needs codespell")
    page = tmp_path / "page.md"
    page.write_text(words, encoding="utf-8")
    command = [codespell, "-D", str(WORDS), "-D", "-", str(page)]
    done = subprocess.run(command, check=False, cwd=tmp_path)  # noqa: S603
    assert done.returncode != 0


def test_the_readme_begins_with_the_words_of_the_field_and_how_to_install() -> None:
    start = (ROOT / "README.md").read_text(encoding="utf-8")[:2500]
    for words in ("weak supervision", "must-link", "cannot-link", "SU learning", "pip install"):
        assert words in start
    assert start.index("make demo") < start.index("make test")
