"""The page of a label-free report on a phone and on a desk, in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.report.curves import calibration_curve, threshold_curve
from likewise.report.suggestions import suggest
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here
from tests.chromium import needs_chromium
from tests.pages.test_report_in_browser import Browser

pytestmark = needs_chromium

_TOO_WIDE = """
return [...document.querySelectorAll('.scroll')]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.getAttribute('aria-labelledby'));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report on rows with known log-odds."""
    odds = 2.0 * np.random.default_rng(0).standard_normal(400) + 1.0
    positive = 1.0 / (1.0 + np.exp(-odds))
    both, predicted = np.column_stack([1.0 - positive, positive]), (odds > 0).astype(np.intp)
    weights = np.full(400, 1.0 / 400)
    one = lw.Estimate(0.857, (0.812, 0.893))
    check = lw.Check(
        "members independent given the class", None, "there are too few pairs to tell."
    )
    report = lw.LabelFreeReport(
        accuracy=one,
        recall={-1: one, 1: one},
        prior=one,
        pair_agreement=one,
        true_positive_rate=one,
        false_positive_rate=one,
        level=0.95,
        cross_fitted=True,
        n_pairs=12_345,
        n_rows=400,
        checks=(check, check),
        probabilities=both,
        predictions=predicted,
        confusion=np.array([[0.2, 0.1], [0.05, 0.65]]),
        baseline=one,
        roc_auc=one,
        average_precision=one,
        curve=threshold_curve(odds, weights, positive),
        calibration=calibration_curve(both, weights, both, predicted),
        suggestions=suggest(0.857, (0.812, 0.893), 0.01, 0.88, 12_345),
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.to_html(path)
    return path


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_is_cut_or_scrolled_sideways(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run(_TOO_WIDE) == []
    assert browser.run("return document.querySelectorAll('svg').length") == 4
