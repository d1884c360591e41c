"""What made a record: version, commit, and a hash of the code that its numbers rest on.

A table says which modules that is, by experiment and method; a new method or baseline gets a line
here. Comments, docstrings and formatting do not count, so that words can change without a new run.
Nothing is imported: files are read.
"""

import ast
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import which
from typing import Any

import likewise
from likewise._version import __version__

__all__ = ["canonical", "code_of", "commit", "made_by", "modules_of"]

_ROOT = Path(likewise.__file__).parent

_ROWS = (
    *(f"engines/{name}.py" for name in ("arrays", "base", "kernels", "memory", "rows")),
    *(f"statements/{name}.py" for name in ("folds", "labels", "packing", "statements", "weights")),
)
_SAMPLES = (
    *(f"datasets/{name}.py" for name in ("generators", "loading", "pool", "sampling")),
    "experiments/samples.py",
    *_ROWS,
)
_LEARNER = ("beliefs", "scores", "search", *_ROWS)
_SCORED = (*_LEARNER, "prior/scores.py")
_PAIR_MOMENTS = (*_SCORED, "prior/latent_classes.py", "prior/pair_moments.py")
_PAIR_CLASSIFIER = (
    *_LEARNER,
    *(f"classifiers/{name}.py" for name in ("deciding", "pair", "reading")),
)
_KERNEL_MEAN = (
    *(f"prior/{name}.py" for name in ("distance_curve", "embedding", "kernel_mean")),
    *(f"prior/{name}.py" for name in ("mixture_proportion", "simplex")),
)
_SU = ("su", "classifiers/rows.py", "classifiers/su.py", *_ROWS)
_BASELINE = ("baselines/base.py", *_ROWS)

_CLASSIFIERS: dict[str, tuple[str, ...]] = {
    "su-squared": (*_SU, *_KERNEL_MEAN),
    "su-double-hinge": (*_SU, *_KERNEL_MEAN),
    "su-logistic": (*_SU, *_PAIR_MOMENTS),
    "pair-likelihood": _PAIR_CLASSIFIER,
    "labels": ("experiments/reference.py",),
    "km": (*_BASELINE, "baselines/kmeans.py"),
    "itml": (*_BASELINE, "baselines/itml.py", "baselines/kmeans.py"),
    "seraph": (*_BASELINE, "baselines/seraph.py", "baselines/kmeans.py"),
    "3smic": (*_BASELINE, "baselines/three_smic.py"),
    "dimc": (*_BASELINE, "baselines/dimc.py"),
    "imsat": (*_BASELINE, "baselines/imsat.py"),
    "pckmeans": (*_BASELINE, "baselines/assignment.py", "baselines/pckmeans.py"),
    "mpckmeans": (
        *_BASELINE,
        *(f"baselines/{name}.py" for name in ("assignment", "mpckmeans", "pckmeans")),
    ),
}
"""What the methods of likewise.experiments.methods rest on."""

_ANY = "*"
_MODULES: dict[str, Mapping[str, tuple[str, ...]]] = {
    "losses": {_ANY: ("su/losses.py", "su/risk.py")},
    "theory": {_ANY: _SU},
    "prior": {
        "km1": (*_KERNEL_MEAN, *_ROWS),
        "km2": (*_KERNEL_MEAN, *_ROWS),
        "pair_moments": _PAIR_MOMENTS,
        "pair_likelihood": (*_SCORED, "prior/pair_likelihood.py"),
    },
    "unlabeled": {_ANY: _SU},
    "benchmark": _CLASSIFIERS,
    "half": _CLASSIFIERS,
    "coverage": {
        _ANY: ("datasets/statements.py", "prior", "report", *_PAIR_CLASSIFIER),
    },
    "nets": {_ANY: ("beliefs", "nets", *_ROWS)},
}
"""Beside the part of its own file that a trial reaches: modules or folders, by experiment."""

_LISTED = ("benchmark", "half")
"""Experiments whose methods are entries of `METHODS` in methods.py."""
_NO_CODE = ("kind", "type_comment")
"""Fields of a syntax tree that say how something was written, not what."""


def made_by(experiment: str, method: str) -> dict[str, str | None]:
    """Return what a record says of the code that made it.

    Parameters
    ----------
    experiment, method : str

    Returns
    -------
    dict
        ``version`` of this library; ``commit``, see `commit`; ``code``, see `code_of`.
    """
    return {"version": __version__, "commit": commit(), "code": code_of(experiment, method)}


@cache
def commit() -> str | None:
    """Return the commit of the checkout that this code runs from, if it does.

    Returns
    -------
    str or None
        Twelve digits, with ``-dirty`` behind them if files were changed since.
    """
    checkout, git = _ROOT.parent.parent, which("git")
    is_checkout = checkout / "src" / "likewise" == _ROOT and (checkout / ".git").exists()
    if git is None or not is_checkout:
        return None
    command = [git, "-C", str(checkout), "describe", "--always", "--abbrev=12", "--exclude=*"]
    done = subprocess.run([*command, "--dirty"], capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or None


@cache
def code_of(experiment: str, method: str) -> str | None:
    """Return a hash of the code that a trial's numbers rest on.

    Parameters
    ----------
    experiment, method : str

    Returns
    -------
    str or None
        Sixteen digits; None for an experiment or a method that the table does not know, such as one
        that was added from outside.

    Examples
    --------
    >>> from likewise.experiments.provenance import code_of
    >>> len(code_of("benchmark", "km")), code_of("benchmark", "a new one")
    (16, None)
    """
    modules = modules_of(experiment, method)
    if modules is None:
        return None
    own = _tree(_ROOT / "experiments" / f"{experiment}.py")
    parts = _reached(own, _definitions(own)["measure"])
    if experiment in _LISTED:
        listed = _tree(_ROOT / "experiments" / "methods.py")
        parts += _reached(listed, _entry(listed, method))
    parts += [f"{path.relative_to(_ROOT).as_posix()}: {_whole(path)}" for path in _files(modules)]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def modules_of(experiment: str, method: str) -> tuple[str, ...] | None:
    """Return the modules and folders that count for a method, beside the experiment's own file.

    Parameters
    ----------
    experiment, method : str

    Returns
    -------
    tuple of str or None
        Paths in the package; None for what the table does not know.
    """
    known = _MODULES.get(experiment, {})
    own = known.get(method, known.get(_ANY))
    if own is None:
        return None
    trial = ("experiments/classification.py",) if experiment in _LISTED else ()
    return (*own, *_SAMPLES, *trial)


def canonical(node: Any) -> str:
    """Write a syntax tree down without comments, docstrings, formatting and positions.

    Parameters
    ----------
    node : ast.AST, or what one holds

    Returns
    -------
    str
        The same for every Python release that reads the same tree: empty fields are left out.
    """
    if isinstance(node, list):
        return f"[{','.join(canonical(one) for one in node if not _is_docstring(one))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={canonical(value)}"
        for name, value in ast.iter_fields(node)
        if value is not None and value != [] and name not in _NO_CODE
    ]
    return f"{type(node).__name__}({','.join(fields)})"


def _is_docstring(node: Any) -> bool:
    """Tell whether a statement is a text that stands alone."""
    is_value = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_value and isinstance(node.value.value, str)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _whole(path: Path) -> str:
    return canonical(_tree(path))


def _files(modules: tuple[str, ...]) -> list[Path]:
    """Return the files of modules and folders, each once and in order."""
    found = set()
    for name in modules:
        path = _ROOT / name
        found |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return sorted(found)


def _entry(tree: ast.Module, method: str) -> ast.expr:
    """Return what a method's name stands for in `METHODS`."""
    listed = _definitions(tree)["METHODS"]
    assert isinstance(listed, ast.AnnAssign)  # noqa: S101 - of our own file
    assert isinstance(listed.value, ast.Dict)  # noqa: S101
    names = [key.value if isinstance(key, ast.Constant) else None for key in listed.value.keys]
    return listed.value.values[names.index(method)]


def _reached(tree: ast.Module, start: ast.AST) -> list[str]:
    """Write down a part of a module and the definitions of the module that it rests on."""
    definitions = _definitions(tree)
    found: dict[str, str] = {"": canonical(start)}
    left = list(_names(start))
    while left:
        name = left.pop()
        if name in found or name not in definitions:
            continue
        found[name] = _canonical_of(definitions[name], name)
        left += _names(definitions[name])
    return [f"{name}: {found[name]}" for name in sorted(found)]


def _canonical_of(definition: ast.stmt, name: str) -> str:
    """Write down a definition; of an import, only what concerns the name."""
    if not isinstance(definition, ast.Import | ast.ImportFrom):
        return canonical(definition)
    origin = definition.module if isinstance(definition, ast.ImportFrom) else None
    return f"{origin} {next(canonical(one) for one in definition.names if _bound(one) == name)}"


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the statements at the top of a module by the names that they define."""
    found: dict[str, ast.stmt] = {}
    for statement in tree.body:
        match statement:
            case ast.FunctionDef() | ast.ClassDef():
                found[statement.name] = statement
            case ast.Import() | ast.ImportFrom():
                found |= dict.fromkeys(map(_bound, statement.names), statement)
            case ast.Assign() | ast.AnnAssign() | ast.If():
                stored = (one for one in ast.walk(statement) if isinstance(one, ast.Name))
                names = (one.id for one in stored if isinstance(one.ctx, ast.Store))
                found |= dict.fromkeys(names, statement)
    return found


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]
