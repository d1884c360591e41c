"""Fewer candidates for learners, where it does not matter what exactly is learned."""

from collections.abc import Iterator

import pytest

from likewise.report import judgement
from likewise.scores import maps
from likewise.search import settings


@pytest.fixture(autouse=True, scope="package")
def few_candidates() -> Iterator[None]:
    """Let learners try one kernel width and two penalties by default.

    For a package of tests whose conftest imports it. What learners try without this is tested with
    the classifiers and the search.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "_WIDTHS", maps._WIDTHS[:1])
        patch.setattr(settings, "_ALPHAS", settings._ALPHAS[2::3])
        yield


@pytest.fixture(autouse=True, scope="package")
def few_draws() -> Iterator[None]:
    """Let reports draw 40 samples for their intervals, where how wide these are does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgement, "_N_DRAWS", 40)
        yield
