"""What can be imported from the package itself."""

import inspect

import pytest

import likewise as lw

NAMES = [name for name in lw.__all__ if not inspect.ismodule(getattr(lw, name))]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    found = getattr(lw, name)
    assert name in dir(lw)
    assert found.__module__.startswith("likewise.")
    documented = inspect.getdoc(found) or ""
    is_bare_error = inspect.isclass(found) and issubclass(found, Exception)
    assert is_bare_error or ">>>" in documented, f"{name} has no example"


def test_the_version_is_a_release() -> None:
    assert lw.__version__.count(".") == 2
    assert "dev" not in lw.__version__
