"""Torch in tests: one thread for each worker, and no doctests of nets where it is absent."""

import sys
from importlib.util import find_spec

import pytest

collect_ignore_glob = (
    [] if find_spec("torch") and find_spec("skorch") else ["src/likewise/nets/*.py"]
)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Keep torch to one thread: tests run side by side, and more would wait for each other."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
