"""The files of the gallery and the tutorials run, are short, and draw something."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tests.docs.conftest import environment

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples").glob("plot_*.py"))
SLOW = {
    "plot_accuracy_by_pairs",
    "plot_asking",
    "plot_balanced_classes",
    "plot_class_dependent_pairing",
    "plot_class_prior",
    "plot_label_free_report",
    "plot_number_of_classes",
    "plot_text",
    "plot_three_classes",
}
TUTORIALS = sorted((ROOT / "docs" / "_tutorials").glob("*.py"))
LEAST = {
    "tutorial_1_survey": (r"features alone: +(\S+)", 0.85),
    "tutorial_2_boosting": (r"from pairs: (\S+);", 0.82),
    "tutorial_3_digits": (r"new images classified correctly: (\S+)", 0.85),
    "tutorial_4_asking": (r"rows of the table classified correctly: (\S+)", 0.9),
    "tutorial_5_big_table": (r"rows classified correctly: (\S+)", 0.85),
}
"""What a tutorial prints of its accuracy, and what it must be above."""


@pytest.fixture
def no_window() -> Iterator[None]:
    """Draw to memory, and close what was drawn."""
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


def test_the_gallery_has_at_least_twelve_files_of_fewer_than_forty_lines() -> None:
    assert len(GALLERY) >= 12
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in GALLERY}
    assert {name: length for name, length in lengths.items() if length >= 40} == {}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in SLOW else ())
        for path in GALLERY
    ],
)
@pytest.mark.usefixtures("no_window")
def test_a_file_of_the_gallery_draws_a_picture(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert any(axes.has_data() for figure in figures for axes in figure.axes)


def test_there_are_five_tutorials_and_each_has_a_goal() -> None:
    assert [path.stem for path in TUTORIALS] == sorted(LEAST)


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_reaches_what_it_promises(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", path],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pattern, least = LEAST[path.stem]
    found = re.search(pattern, done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) > least
