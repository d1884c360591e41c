"""The built site: no warning, no broken link or formula, nothing from elsewhere, nothing cut."""

import urllib.parse
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import needs_chromium, start_chromium

pytestmark = pytest.mark.slow

WIDTHS = (360, 768, 1200)
NOT_PAGES = ("_static/", "_downloads/")

LOOK = """
const article = document.querySelector("article") || document.querySelector("main");
const scrolls = (element) => {
  for (let one = element.parentElement; one; one = one.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(one).overflowX)) return true;
    if (one === article) return false;
  }
  return false;
};
const cut = [];
for (const element of article.querySelectorAll("*")) {
  const box = element.getBoundingClientRect();
  if (box.width && box.height && box.right > window.innerWidth + 1 && !scrolls(element)) {
    cut.push(element.outerHTML.slice(0, 120));
  }
}
const squeezed = [...article.querySelectorAll("td, th")].filter((cell) => {
  const content = document.createRange();
  content.selectNodeContents(cell);
  return cell.innerText.trim().length > 2 && content.getBoundingClientRect().width < 14;
});
const formulas = [...article.querySelectorAll("math")];
const images = [...article.querySelectorAll("img")];
return {
  width: document.documentElement.scrollWidth,
  inner: window.innerWidth,
  words: article.innerText.trim().split(/\\s+/).length,
  cut: cut.slice(0, 3),
  squeezed: squeezed.slice(0, 3).map((cell) => cell.innerText),
  flat: formulas.filter((one) => !(one.getBoundingClientRect().height > 4)).length,
  wrong: article.querySelectorAll("merror, .problematic, .system-message").length,
  missing: images.filter((one) => one.complete && !one.naturalWidth).map((one) => one.src),
};
"""


BAD = ("cut", "squeezed", "flat", "wrong", "missing")


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in {"script", "img", "iframe", "source", "video"} and "src" in found:
            self.loads.append(found["src"])
        if tag == "link" and found.get("rel") in {"stylesheet", "preload", "icon"}:
            self.loads.append(found["href"])


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def pages_of(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.html"))
    return [one for one in found if not one.relative_to(site).as_posix().startswith(NOT_PAGES)]


def is_broken(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    goal = (page.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else page
    if not goal.exists():
        return True
    return bool(anchor) and goal.suffix == ".html" and anchor not in read(goal).anchors


def is_elsewhere(target: str) -> bool:
    return target.startswith(("http:", "https:", "//"))


def test_no_link_and_no_anchor_is_broken(site: Path) -> None:
    broken = [
        (page.relative_to(site).as_posix(), target)
        for page in pages_of(site)
        for target in (*read(page).links, *read(page).loads)
        if not is_elsewhere(target) and not target.startswith(("mailto:", "data:", "javascript:"))
        if is_broken(page, target)
    ]
    assert broken == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = {one for page in pages_of(site) for one in read(page).loads if is_elsewhere(one)}
    assert loaded == set()
    styles = [path.read_text(encoding="utf-8") for path in site.glob("_static/**/*.css")]
    assert styles
    assert not any("url(http" in style or "@import url(" in style for style in styles)


def test_tutorials_and_gallery_show_what_their_code_said_and_drew(site: Path) -> None:
    for path in (*site.glob("tutorials/tutorial_*.html"), *site.glob("gallery/plot_*.html")):
        assert any("sphx_glr" in one for one in read(path).loads), f"{path.name} has no picture"
    for path in site.glob("tutorials/tutorial_*.html"):
        assert "sphx-glr-script-out" in path.read_text(encoding="utf-8"), path.name


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    driver = start_chromium(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@needs_chromium
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_page_is_empty(site: Path, driver: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    problems = {}
    for page in pages_of(site):
        driver.get(page.as_uri())
        seen = driver.execute_script(LOOK)
        name = page.relative_to(site).as_posix()
        is_wide = seen["width"] > seen["inner"]
        is_empty = seen["words"] < 10 and page.name not in {"search.html", "genindex.html"}
        if is_wide or is_empty or any(seen[one] for one in BAD):
            problems[name] = seen
    assert problems == {}
