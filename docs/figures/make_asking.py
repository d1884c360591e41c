"""Take the pictures of docs/asking.md: ``python docs/figures/make_asking.py``, with Chromium.

A simulated person answers by true classes; the browser is that of the tests.
"""

import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.asking.browser import Browser  # noqa: E402
from tests.asking.serving import Running, open_session  # noqa: E402

from likewise.asking import Asker  # noqa: E402
from likewise.asking.session import Session  # noqa: E402

SHOWN = ["radius", "texture", "perimeter", "area", "smoothness", "concavity"]


def cells_table(folder: Path) -> tuple[Path, Any, Any]:
    """Write a table of numbers; return its path, its features and classes."""
    data = load_breast_cancer()
    names = [name.removeprefix("mean ") for name in data.feature_names[:10]]
    columns = [names.index(name) for name in SHOWN]
    X = data.data[:, columns]
    lines = [f"s{i:03d}," + ",".join(f"{x:.4g}" for x in row) for i, row in enumerate(X)]
    path = folder / "samples.csv"
    path.write_text("\n".join(["id," + ",".join(SHOWN), *lines]) + "\n")
    return path, X, data.target


def digits_table(folder: Path) -> tuple[Path, Any, Any]:
    """Write a table of images of threes and eights; return its path, features and classes."""
    data = load_digits()
    chosen = np.flatnonzero(np.isin(data.target, [3, 8]))
    (folder / "scans").mkdir()
    lines = []
    for number, row in enumerate(chosen):
        pixels = (255 - 255 * data.images[row] / 16).astype(np.uint8)
        scan = Image.fromarray(pixels).resize((160, 160), Image.Resampling.BICUBIC)
        scan.save(folder / "scans" / f"{number:03d}.png")
        ink = data.data[row].sum()
        lines.append(f"d{number:03d},{ink:g},scans/{number:03d}.png")
    path = folder / "scans.csv"
    path.write_text("\n".join(["id,ink,scan", *lines]) + "\n")
    return path, data.data[chosen], data.target[chosen]


def answer(session: Session, classes: Any, person: str, count: int, wrong: float = 0.0) -> None:
    """Answer questions by true classes, a share of them wrongly, a few with "unsure"."""
    rng = np.random.default_rng(count)
    rows = {name: row for row, name in enumerate(session.records.table.keys.to_pylist())}
    for number in range(count):
        (question,) = session.questions(person, 1)
        left, right = question["left"], question["right"]
        alike = (classes[rows[left]] == classes[rows[right]]) != (rng.random() < wrong)
        relation = "unsure" if number % 25 == 24 else "same" if alike else "different"
        session.answer(person, left, right, relation)
        if number % 40 == 39:
            with suppress(ValueError):  # after few answers, a fold may hold none of them
                session.asker.wait(60)


def take(browser: Browser, name: str, height: int) -> None:
    """Save what is seen, with few colors."""
    time.sleep(1.5)
    path = HERE / f"{name}.png"
    browser.driver.save_screenshot(str(path))
    picture = Image.open(path).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(height, picture.height)))
    picture.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = Browser(folder / "profile")
        try:
            table, X, classes = cells_table(folder)
            answers = folder / "samples.answers.sqlite"
            session = open_session(
                table,
                answers,
                overlap=0.1,
                make_asker=lambda a: Asker(X, answers=a, random_state=0),
            )
            with Running(session, "samples.csv: same or different?") as running:
                answer(session, classes, "Ben", 60, wrong=0.05)
                answer(session, classes, "Ann", 120)
                browser.begin(running.door.address, "Ann", width=1200, height=1000)
                take(browser, "asking", 1000)
            table, X, classes = digits_table(folder)
            answers = folder / "scans.answers.sqlite"
            session = open_session(
                table,
                answers,
                image="scan",
                make_asker=lambda a: Asker(X, answers=a, random_state=0),
            )
            with Running(session, "Same digit?") as running:
                answer(session, classes, "Ann", 40)
                look: dict[str, Any] = {"width": 360, "height": 640, "scheme": "dark"}
                browser.begin(running.door.address, "Ann", **look)
                take(browser, "asking-phone", 640)
        finally:
            browser.driver.quit()


if __name__ == "__main__":
    main()
