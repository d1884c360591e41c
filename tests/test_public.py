"""What can be imported from the package itself."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise import baselines, datasets, engines, plots, testing

NAMES = [name for name in lw.__all__ if not inspect.ismodule(getattr(lw, name))]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    found = getattr(lw, name)
    assert name in dir(lw)
    assert found.__module__.startswith("likewise.")
    documented = inspect.getdoc(found) or ""
    assert ">>>" in documented, f"{name} has no example"


def test_nets_are_an_attribute_where_torch_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(lw, "nets", raising=False)
    if find_spec("torch") and find_spec("skorch"):
        assert lw.nets is import_module("likewise.nets")
        monkeypatch.delattr(lw, "nets")
    monkeypatch.delitem(sys.modules, "likewise.nets", raising=False)
    monkeypatch.setitem(sys.modules, "skorch", None)
    assert not hasattr(lw, "nets")
    with pytest.raises(AttributeError, match=r"pip install 'likewise\[torch\]'"):
        _ = lw.nets


def test_the_version_is_a_release() -> None:
    assert lw.__version__.count(".") == 2
    assert "dev" not in lw.__version__


def test_the_citation_and_the_changelog_name_the_version() -> None:
    root = Path(__file__).parents[1]
    assert f"\nversion: {lw.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {lw.__version__}\n" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


# --- arguments by name --------------------------------------------------------------------------

SEVERAL = {
    "pack": {"similar", "dissimilar"},
    "PairSource": {"similar", "dissimilar"},
    "PairKFold.get_n_splits": {"X", "y", "groups"},
}
"""What may be given by position all the same: rows of every kind, and scikit-learn's own."""


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, class and method that somebody calls with options.

    Results, which are data classes, and errors are made by the library.
    """
    modules = [
        lw,
        lw.asking,
        baselines,
        datasets,
        engines,
        plots,
        lw.prior,
        lw.risk,
        lw.losses,
        testing,
    ]
    if find_spec("torch") and find_spec("skorch"):
        modules.append(import_module("likewise.nets"))
    for module in modules:
        for name in module.__all__:
            found = getattr(module, name)
            is_data = is_dataclass(found) and name != "PairSource"
            is_data |= inspect.isclass(found) and issubclass(found, BaseException)
            if callable(found) and not is_data:
                yield name, found
            if inspect.isclass(found):
                for method, function in inspect.getmembers(found, inspect.isfunction):
                    if not method.startswith("_") and function.__module__.startswith("likewise."):
                        yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "found"), dict(public_callables()).items())
def test_all_options_but_the_first_are_keywords(name: str, found: Callable[..., Any]) -> None:
    try:
        parameters = inspect.signature(found).parameters.values()
    except ValueError:  # a type without a signature, such as an enumeration
        return
    by_position = {
        one.name
        for one in parameters
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is not one.empty
    }
    assert len(by_position) <= 1 or by_position == SEVERAL.get(name), by_position
    if "n_classes" in by_position:
        assert by_position == {"n_classes"}
