"""A folder with a table, pairs of its rows and a fitted model, and ways to run the commands."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.datasets import make_gaussians
from tests.candidates import few_candidates, few_draws, no_class_more  # noqa: F401 - used by all

Run = Callable[..., Any]


def write_files(folder: Path, n_rows: int = 300, n_pairs: int = 120) -> None:
    """Write rows.csv and pairs.csv."""
    X, y = make_gaussians(300, separation=4.0, random_state=0)
    X, y = X[:n_rows], y[:n_rows]
    rows = [f"r{i:03d},{a!r},{b!r}" for i, (a, b) in enumerate(X.tolist())]
    (folder / "rows.csv").write_text("\n".join(["id,first,second", *rows]) + "\n")
    rng = np.random.default_rng(0)
    pairs = []
    for positive in rng.random(n_pairs) < 0.7**2 / (0.7**2 + 0.3**2):
        left, right = rng.choice(np.flatnonzero((y == 1) == positive), 2, replace=False)
        pairs.append(f"r{left:03d},r{right:03d}")
    (folder / "pairs.csv").write_text("\n".join(["left,right", *pairs]) + "\n")


def paths_with(root: Path) -> dict[str, str]:
    """Return the variable by which a process of its own finds the tests too."""
    others = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{root}{os.pathsep}{others}" if others else str(root)}


def keep(path: Path, n_lines: int) -> None:
    """Cut a file off after its heading and so many lines."""
    path.write_text("".join(path.read_text().splitlines(keepends=True)[: n_lines + 1]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make it the working folder, with rows.csv and pairs.csv in it."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def few(folder: Path) -> None:
    """Write fewer rows and pairs, where the numbers do not matter but the time does."""
    write_files(folder, n_rows=100, n_pairs=30)


@pytest.fixture
def truth() -> Any:
    """Return the classes of the rows of rows.csv."""
    return make_gaussians(300, separation=4.0, random_state=0)[1]


@pytest.fixture
def run() -> Run:
    """Run a command and return what came of it."""

    def runner(*arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments))

    return runner


@pytest.fixture
def succeed(run: Run) -> Run:
    """Run a command that must end well."""

    def runner(*arguments: str) -> Any:
        result = run(*arguments)
        assert result.exit_code == 0, (result.stderr, result.exception)
        return result

    return runner


@pytest.fixture
def refuse(run: Run, folder: Path) -> Run:
    """Run a command that must be refused in one sentence, leaving no file behind; return that."""

    def runner(*arguments: str) -> str:
        before = sorted(folder.rglob("*"))
        result = run(*arguments)
        assert result.exit_code == 2, (result.exit_code, result.stderr, result.exception)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("likewise: ")
        assert "Traceback" not in result.stderr
        assert result.stdout == ""
        assert sorted(folder.rglob("*")) == before
        return str(lines[0])

    return runner


@pytest.fixture
def model(folder: Path, succeed: Run) -> Path:
    """Fit rows.csv and pairs.csv by the paper's method, which is the quicker one."""
    succeed("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops")
    return folder / "model.skops"


@pytest.fixture
def relate(folder: Path, truth: Any) -> Callable[[int], None]:
    """Give every pair of pairs.csv its relation, and add so many dissimilar ones."""

    def writer(n_dissimilar: int) -> None:
        similar = (folder / "pairs.csv").read_text().splitlines()[1:]
        positive, negative = np.flatnonzero(truth == 1), np.flatnonzero(truth == -1)
        different = zip(positive[:n_dissimilar], negative[:n_dissimilar], strict=True)
        lines = [f"{pair},must-link" for pair in similar]
        lines += [f"r{a:03d},r{b:03d},cannot_link" for a, b in different]
        (folder / "pairs.csv").write_text("\n".join(["left,right,relation", *lines]) + "\n")

    return writer


@pytest.fixture
def unrelated(folder: Path) -> None:
    """Replace the pairs by rows put together blindly."""
    rng = np.random.default_rng(0)
    pairs = [f"r{a:03d},r{b:03d}" for a, b in (rng.choice(300, 2, False) for _ in range(40))]
    (folder / "pairs.csv").write_text("\n".join(["left,right", *pairs]))
