"""Fewer candidates for learners, and less work, where it does not matter what is learned."""

from collections.abc import Iterator

import pytest

from likewise.classifiers import pair
from likewise.report import details, judgement
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


@pytest.fixture(autouse=True, scope="module")
def few_draws() -> Iterator[None]:
    """Let reports draw 40 samples for their intervals, where how wide these are does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgement, "_N_REFITS", 40)
        yield


@pytest.fixture(autouse=True, scope="module")
def no_class_more() -> Iterator[None]:
    """Let neither fits nor reports look for one class more, which takes half of their time.

    For tests that import it. That they look is tested in `tests.classifiers.test_class_numbers` and
    `tests.report.test_details`.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (pair, details):
            patch.setattr(module, "look_for_more", lambda *given: None)
        yield
