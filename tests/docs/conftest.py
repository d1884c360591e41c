"""The site, built once for all workers."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import likewise

ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "examples", "README.md", "CHANGELOG.md", "ARCHITECTURE.md")
MADE = ("gallery", "tutorials", "reference", "records", "records.jsonl")


def environment() -> dict[str, str]:
    """Return what a process needs to run examples: this very likewise, one thread, no window."""
    home = str(Path(likewise.__file__).parents[1])
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Build the site as `make docs` does, from a copy of its sources; return its folder."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "site"
    done = shared / "done"
    try:
        shared.mkdir()
    except FileExistsError:
        _wait_for(done)
    else:
        try:
            _build(shared)
        finally:
            done.touch()
    log = shared / "log.txt"
    assert not log.read_text(encoding="utf-8").strip(), log.read_text(encoding="utf-8")
    return shared / "html"


def _build(folder: Path) -> None:
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns(*MADE))
        else:
            shutil.copy(path, folder / name)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        done = subprocess.run(  # noqa: S603
            [*command, "docs", "html"],
            cwd=folder,
            env=environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            log.write(f"sphinx ended with exit code {done.returncode}\n")


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(1.0)
