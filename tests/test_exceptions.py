"""Every warning of ours has a class of its own."""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise import exceptions


def _categories() -> dict[str, str]:
    """Return the class that each call of ``warnings.warn`` in the package names."""
    found = {}
    for path in Path(lw.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                category = ast.unparse(node.args[1]) if len(node.args) > 1 else "none"
                found[f"{path.name}:{node.lineno}"] = category
    return found


def test_every_warning_names_a_class_of_ours_or_of_scikit_learn() -> None:
    categories = _categories()
    assert categories
    for place, name in categories.items():
        category = ConvergenceWarning if name == "ConvergenceWarning" else vars(exceptions)[name]
        assert issubclass(category, UserWarning), place


def test_warnings_can_be_filtered_by_what_they_are_about() -> None:
    noise = np.random.default_rng(0).normal(size=(200, 3))
    X, y = lw.pack(noise[:100], similar=(noise[100:150], noise[150:]))
    with pytest.warns(exceptions.NoSignalWarning) as said:
        lw.PairClassifier(features="linear", random_state=0).fit(X, y)
    assert said[0].filename == __file__, "the warning does not point to the line that fits"
    assert issubclass(exceptions.NoSignalWarning, exceptions.LikewiseWarning)
    assert lw.NoSignalError is exceptions.NoSignalError
