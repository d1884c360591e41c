"""Torch in tests: one thread for each worker, and no doctests of nets where it is absent."""

from importlib.util import find_spec

import pytest

collect_ignore_glob = (
    [] if find_spec("torch") and find_spec("skorch") else ["src/likewise/nets/*.py"]
)


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Tests run side by side: more threads would wait for each other."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
