"""Chromium on the page, as a person with a keyboard uses it."""

import json
from pathlib import Path
from typing import Any

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.chromium import start_chromium


class Browser:
    """Chromium at a width and in a colour scheme of our choice."""

    def __init__(self, profile: Path) -> None:
        self.driver = start_chromium(profile)

    def open(
        self, address: str, *, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get(address)

    def begin(self, address: str, person: str = "Ann", **look: Any) -> None:
        """Open the page, give a name, and wait for the first question."""
        self.open(address, **look)
        field = self.the("#name")
        field.clear()
        field.send_keys(person + Keys.ENTER)
        self.wait_for("!document.getElementById('ask').hidden && !document.querySelector('#pair')"
                      ".hidden && document.querySelectorAll('#fields tr').length > 0")  # fmt: skip

    def the(self, selector: str) -> WebElement:
        found: WebElement = self.driver.find_element(By.CSS_SELECTOR, selector)
        return found

    def all(self, selector: str) -> list[WebElement]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector: str) -> str:
        words = self.run("return document.querySelector(arguments[0]).textContent", selector)
        return " ".join(str(words).split())

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, condition: str, seconds: float = 15) -> None:
        WebDriverWait(self.driver, seconds, poll_frequency=0.02).until(
            lambda driver: driver.execute_script(f"return Boolean({condition})"), condition
        )

    def wait_for_text(self, selector: str, words: str) -> None:
        self.wait_for(
            f"document.querySelector({json.dumps(selector)}).textContent.includes("
            f"{json.dumps(words)})"
        )

    def wait_for_another(self, left: str, right: str) -> None:
        """Wait for another pair than this one."""
        self.wait_for(
            f"document.getElementById('left-id').textContent !== {json.dumps(left)} || "
            f"document.getElementById('right-id').textContent !== {json.dumps(right)}"
        )

    def press(self, key: str) -> None:
        self.driver.switch_to.active_element.send_keys(key)

    def pair(self) -> tuple[str, str]:
        """Return the ids that are shown."""
        left, right = self.run(
            "return ['left-id', 'right-id'].map((id) => document.getElementById(id).textContent)"
        )
        return str(left), str(right)

    def console(self) -> list[Any]:
        """Return what the console said since it was last looked at."""
        return list(self.driver.get_log("browser"))

    def asked_for(self) -> list[str]:
        """Return the addresses that were asked for since this was last looked at."""
        events = [
            json.loads(one["message"])["message"] for one in self.driver.get_log("performance")
        ]
        return [
            str(event["params"]["request"]["url"])
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def names(self) -> list[tuple[str, str]]:
        """Return role and name of every control and landmark in the accessibility tree."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]
