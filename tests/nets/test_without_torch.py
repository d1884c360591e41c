"""What is said of nets where torch is absent."""

import subprocess
import sys

import pytest

_BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(name)

import numpy, scipy.stats, sklearn.base
sys.meta_path.insert(0, Blocked())
import likewise
likewise.PairClassifier
try:
    import likewise.nets
except ImportError as error:
    print(error)
"""


def test_the_other_tests_of_nets_run() -> None:
    for name in ("torch", "skorch"):
        pytest.importorskip(
            name, reason=f"all tests of nets need {name}: pip install 'likewise[torch]'"
        )


def test_the_library_works_without_torch_and_says_what_nets_need() -> None:
    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", _BLOCKED], check=True, capture_output=True, text=True
    )
    assert "pip install 'likewise[torch]'" in done.stdout
