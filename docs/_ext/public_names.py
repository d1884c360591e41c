"""The pages of the API reference: one per public name, made of ``__all__``.

Nothing is listed twice: a name that is added to ``__all__`` has its page at the next build. GROUPS
only says under which heading a name of the top level stands; others go under the last one.
"""

import importlib
import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from without_torch import import_nets

GROUPS = {
    "Statements": ("pack", "unpack", "WeakSample", "PairSource", "PairKFold"),
    "Classifiers": ("PairClassifier", "SUClassifier", "SUClassifierCV"),
    "How good is it?": (
        "label_free_report",
        "LabelFreeReport",
        "permutation_importance",
        "prior_sensitivity",
        "pair_log_likelihood",
        "pair_log_likelihood_scorer",
        "su_risk",
        "su_risk_scorer",
    ),
    "The class prior": (
        "estimate_prior",
        "PriorEstimate",
        "PairLikelihoodPrior",
        "PairMomentPrior",
        "KernelMeanPrior",
    ),
    "Asking people": ("Asker",),
    "Files and versions": ("save", "load", "show_versions"),
}
REST = "Results, errors and warnings"
SUBMODULES = {
    "nets": ("likewise.nets", "Nets"),
    "datasets": ("likewise.datasets", "Datasets"),
    "baselines": ("likewise.baselines", "Baselines"),
    "plots": ("likewise.plots", "Plots"),
    "asking": ("likewise.asking", "Asking"),
    "losses": ("likewise.su.losses", "Losses"),
    "risk": ("likewise.su.risk", "The SU risk"),
    "engines": ("likewise.engines", "Engines"),
    "exceptions": ("likewise.exceptions", "Warnings and errors"),
    "testing": ("likewise.testing", "Testing"),
}
"""Public submodules: file name, module, title. Those that do not exist are left out."""


def is_documented(value: Any) -> bool:
    """Say whether a name is a class or function of ours, and not a module, number or type alias."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    return str(getattr(value, "__module__", "")).startswith("likewise")


def names_of(module: str) -> list[str]:
    """Return the public classes and functions of a module."""
    home = importlib.import_module(module)
    return [name for name in home.__all__ if is_documented(getattr(home, name))]


def groups_of_top_level() -> dict[str, list[str]]:
    """Return the public names of ``likewise`` by heading."""
    names = names_of("likewise")
    groups = {title: [one for one in some if one in names] for title, some in GROUPS.items()}
    grouped = {name for some in groups.values() for name in some}
    rest = [name for name in names if name not in grouped]
    return groups | ({REST: rest} if rest else {})


def pages() -> dict[str, str]:
    """Return the reference's pages by file name, without those of single names."""
    made, listed = {}, []
    for file, (module, title) in SUBMODULES.items():
        try:
            home = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name == module:
                continue
            raise
        names = [name for name in names_of(module) if not _is_at_the_top(home, name)]
        listed.append(file)
        text = [
            _heading(f"{title}: ``{module}``", "="),
            inspect.getdoc(home) or "",
            _table(module, names),
        ]
        made[f"{file}.rst"] = "\n\n".join(text) + "\n"
    top = [
        _heading("API reference", "="),
        "Every public class and function, with an example that runs in the tests. Parameters that "
        "estimators share with scikit-learn mean what they mean there.",
        ".. code-block:: python\n\n   import likewise as lw",
    ]
    for title, names in groups_of_top_level().items():
        top += [_heading(title, "-"), _table("likewise", names)]
    top += [
        _heading("Submodules", "-"),
        ".. toctree::\n   :maxdepth: 1\n\n" + "\n".join(f"   {name}" for name in listed),
    ]
    made["index.rst"] = "\n\n".join(top) + "\n"
    return made


def _is_at_the_top(home: Any, name: str) -> bool:
    """Say whether ``likewise`` itself has the name, which then has its page there."""
    top = importlib.import_module("likewise")
    return name in top.__all__ and getattr(top, name) is getattr(home, name)


def _heading(title: str, line: str) -> str:
    return f"{title}\n{line * len(title)}"


def _table(module: str, names: list[str]) -> str:
    rows = "\n".join(f"   {name}" for name in names)
    options = "   :toctree: names\n   :nosignatures:"
    return f".. currentmodule:: {module}\n\n.. autosummary::\n{options}\n\n{rows}"


def _write(app: Sphinx, _config: object) -> None:
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    for stale in (folder / "names").glob("*.rst"):
        stale.unlink()  # autosummary writes those that are listed again
    import_nets()
    made = pages()
    for page in folder.glob("*.rst"):
        if page.name not in made:
            page.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _find(app: Sphinx) -> None:
    """Let autosummary see pages that were not there when the site was built before."""
    app.env.find_files(app.config, app.builder)


def _dash(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Write the two hyphens that napoleon puts before a description as a dash."""
    lines[:] = [line.replace("*) -- ", "*) – ") for line in lines]  # noqa: RUF001


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for files."""
    app.connect("config-inited", _write)
    app.connect("builder-inited", _find, priority=400)
    app.connect("autodoc-process-docstring", _dash, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
