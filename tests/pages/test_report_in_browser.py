"""The report in a browser: it sorts, fits a phone, is readable in the dark, and stays offline."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from likewise.pages.document import Cell, Picture, Section, Table
from likewise.pages.report import write_report
from tests.chromium import least_contrast, needs_chromium, start_chromium

pytestmark = needs_chromium

LEAST_CONTRAST = least_contrast('!element.closest("svg, script")')


class Browser:
    """Chromium at a width and in a colour scheme of our choice."""

    def __init__(self, profile: Path) -> None:
        self.driver = start_chromium(profile)

    def open(self, path: Path, *, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get(path.as_uri())

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def all(self, selector: str) -> list[WebElement]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def first_column(self) -> list[str]:
        script = "return [...document.querySelectorAll('#table-1-1 tbody th')]"
        return list(self.run(f"{script}.map((cell) => cell.textContent)"))

    def sort_states(self) -> list[str | None]:
        return [cell.get_attribute("aria-sort") for cell in self.all("#table-1-1 thead th")]

    def pixels(self, element: WebElement) -> NDArray[np.uint8]:
        return np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of the file, with a new profile."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.driver.quit()


def draw(width: float) -> Callable[[], Figure]:
    def picture() -> Figure:
        figure = Figure(figsize=(width, 3), layout="constrained")
        ax = figure.subplots()
        ax.plot([0, 1, 2], [2, 0, 1], label="a line")
        ax.legend()
        return figure

    return picture


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table to sort, a wide one to scroll, a small picture and a wide one."""
    small = (
        (Cell("ten"), Cell("10.0", value=10.0, bold=True), Cell("item 10")),
        (Cell("none"), Cell("failed", note="It did not converge."), Cell("item 3")),
        (Cell("nine"), Cell("9.5", value=9.5, paper="9.4"), Cell("item 2")),
        (Cell("less"), Cell("-5", value=-5.0), Cell("item 20")),
        (Cell("least"), Cell("-100", value=-100.0), Cell("item 1")),
    )
    header = tuple(f"method {number}" for number in range(13))
    wide = tuple(
        tuple(Cell(f"{row}{column}.3 (0.5)", value=row, paper="0.1 (0.2)") for column in range(13))
        for row in range(12)
    )
    sections = (
        Section("Small", ("Words.",), (Table("To sort", ("name", "number", "item"), small),)),
        Section("Wide", ("More words.",), (Table("To scroll", header, wide),)),
        Section(
            "Pictures", (), (), (Picture("A small one", draw(4)), Picture("A wide one", draw(12)))
        ),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, "A report", sections, {"trials": "100", "a long fact": "long" * 40})
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_console_is_silent_and_the_network_is_not_asked(
    browser: Browser, report: Path, scheme: str
) -> None:
    browser.driver.get("about:blank")  # Chromium's own first page ends, which loads this and that
    for log in ("browser", "performance"):
        browser.driver.get_log(log)  # what came before
    browser.open(report, scheme=scheme)
    assert browser.driver.get_log("browser") == []
    events = [
        json.loads(entry["message"])["message"] for entry in browser.driver.get_log("performance")
    ]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        # What Chromium's own first page still loads is not asked for by the report.
        and not event["params"]["documentURL"].startswith("chrome://")
    ]
    assert report.as_uri() in asked
    assert [url for url in asked if url != report.as_uri() and not url.startswith("data:")] == []


def test_a_script_smuggled_into_the_page_would_not_run(browser: Browser, report: Path) -> None:
    smuggled = report.with_name("smuggled.html")
    text = report.read_text(encoding="utf-8")
    smuggled.write_text(text.replace("<h1>", "<script>document.title = 'ran'</script><h1>"))
    browser.open(smuggled)
    assert browser.driver.title == "A report"


def test_a_click_sorts_numbers_as_numbers_and_a_third_brings_the_first_order_back(
    browser: Browser, report: Path
) -> None:
    browser.open(report)
    assert browser.first_column() == ["ten", "none", "nine", "less", "least"]
    assert browser.sort_states() == ["none"] * 3
    button = browser.all("#table-1-1 thead button")[1]
    button.click()
    assert browser.first_column() == ["least", "less", "nine", "ten", "none"]
    assert browser.sort_states() == ["none", "ascending", "none"]
    button.click()
    assert browser.first_column() == [
        "ten",
        "nine",
        "less",
        "least",
        "none",
    ]  # without a number: last
    assert browser.sort_states() == ["none", "descending", "none"]
    button.click()
    assert browser.first_column() == ["ten", "none", "nine", "less", "least"]
    assert browser.sort_states() == ["none"] * 3


def test_the_keyboard_sorts_words_with_numbers_in_them(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.all("#table-1-1 thead button")[1].click()
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.first_column() == ["least", "nine", "none", "ten", "less"]
    assert browser.sort_states() == ["none", "none", "ascending"]


def test_sorting_is_promised_only_where_scripts_run(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert [hint.is_displayed() for hint in browser.all(".sorting")] == [True]
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(report)
        assert [hint.is_displayed() for hint in browser.all(".sorting")] == [False]
        assert browser.all("thead button") == []
        assert len(browser.all("#table-1-1 tbody tr")) == 5
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_pictures_have_a_size_and_a_name(browser: Browser, report: Path) -> None:
    browser.open(report)
    small, wide = browser.all("figure.picture svg")
    assert (small.accessible_name, wide.accessible_name) == ("A small one", "A wide one")
    assert (small.aria_role, wide.aria_role) == ("image", "image")
    assert small.size["width"] == pytest.approx(4 * 96, abs=1)
    assert small.size["height"] == pytest.approx(3 * 96, abs=1)
    assert wide.size["width"] == 70 * 16  # the page's column
    assert len(np.unique(browser.pixels(small).reshape(-1, 3), axis=0)) > 10


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_the_page_is_no_wider_than_the_screen(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width=width)
    shown, needed = browser.run("return [innerWidth, document.documentElement.scrollWidth]")
    assert shown == width
    assert needed <= width


def test_on_a_phone_wide_things_scroll_and_the_first_column_stays(
    browser: Browser, report: Path
) -> None:
    browser.open(report, width=360)
    left = "document.querySelector('#table-2-1 tbody {}').getBoundingClientRect().left"
    before = browser.run(f"return [{left.format('th')}, {left.format('td')}]")
    browser.run("document.querySelector('#table-2-1 .scroll').scrollLeft = 200")
    after = browser.run(f"return [{left.format('th')}, {left.format('td')}]")
    assert after == [before[0], before[1] - 200]
    text = browser.run("return document.querySelectorAll('svg')[1].getBoundingClientRect().width")
    assert text > 600  # not squeezed until its words cannot be read


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_stand_out_from_their_ground(browser: Browser, report: Path, scheme: str) -> None:
    browser.open(report, scheme=scheme)
    count, least = browser.run(LEAST_CONTRAST)
    assert count > 300
    assert least >= 4.5  # WCAG 2, level AA


@pytest.mark.parametrize(("scheme", "low", "high"), [("light", 250, 255), ("dark", 0, 40)])
def test_page_and_pictures_follow_the_colour_scheme(
    browser: Browser, report: Path, scheme: str, low: int, high: int
) -> None:
    browser.open(report, scheme=scheme)
    color = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    ground = np.array([int(part) for part in color.strip("rgb()").split(",")])
    assert ((low <= ground) & (ground <= high)).all()
    pixels = browser.pixels(browser.all("#picture-3-1 svg")[0]).astype(int)
    np.testing.assert_array_equal(np.median(pixels, axis=(0, 1)), ground)
    assert np.abs(pixels - ground).max() > 200  # axes and words, from one end to the other
