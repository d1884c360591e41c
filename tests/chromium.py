"""Chromium as the tests start it, and what they ask of every page."""

import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs Chromium: apt-get install chromium chromium-driver"
)

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_LEAST_CONTRAST = """
const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) =>
  0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
const ground = (element) => {
  const color = parse(getComputedStyle(element).backgroundColor);
  return color[3] === 0 ? ground(element.parentElement) : color;
};
const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const ratios = [];
while (words.nextNode()) {
  const element = words.currentNode.parentElement;
  if (words.currentNode.textContent.trim() && COUNTS) {
    const pair = [parse(getComputedStyle(element).color), ground(element)].map(luminance);
    ratios.push((Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
  }
}
return [ratios.length, Math.min(...ratios)];
"""


def start_chromium(profile: Path) -> Any:
    """Start Chromium with what it says to its console and to the network kept.

    Parameters
    ----------
    profile : path of a new folder

    Returns
    -------
    selenium's driver
    """
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options, webdriver.ChromeService(DRIVER or ""))


def least_contrast(counts: str) -> str:
    """Return a script that counts the texts of a page and finds their least contrast.

    Parameters
    ----------
    counts : str
        Condition in JavaScript for the `element` of a text to be looked at.
    """
    return _LEAST_CONTRAST.replace("COUNTS", counts)
