"""Try what `make dist` built: each archive is installed in a clean environment and used.

Raises if an archive is missing, if the wheel is above 1 MB, or if a fit, a saved model or the
command line does not work as installed.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

LARGEST_WHEEL = 1_000_000
NEEDED = ("likewise/py.typed", "likewise/pages/report.css")
USE = """
import sys, tempfile, pathlib
import likewise as lw
assert "site-packages" in lw.__file__, lw.__file__
X, y = lw.datasets.make_gaussians(3000, separation=4, random_state=0)
sample = lw.datasets.sample_su(X, y, 100, 100, n_test=500, prior=0.7, random_state=0)
clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
assert clf.score(sample.X_test, sample.y_test) > 0.9
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.skops"
    lw.save(clf, path)
    assert (lw.load(path).predict(sample.X_test) == clf.predict(sample.X_test)).all()
lw.show_versions()
"""


def main(folder: Path) -> None:
    """Check the one wheel and the one sdist of a folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    size = wheel.stat().st_size
    if size >= LARGEST_WHEEL:
        raise SystemExit(f"{wheel.name} has {size:,} bytes; at most {LARGEST_WHEEL:,} are allowed.")
    missing = set(NEEDED) - set(zipfile.ZipFile(wheel).namelist())
    if missing:
        raise SystemExit(f"{wheel.name} lacks {', '.join(sorted(missing))}.")
    for archive in (wheel, sdist):
        with tempfile.TemporaryDirectory() as place:
            try_out(archive, Path(place))
        sys.stdout.write(f"{archive.name} ({archive.stat().st_size:,} bytes) works.\n")


def try_out(archive: Path, place: Path) -> None:
    """Install an archive in an environment of its own and use it there."""
    venv.create(place, with_pip=True)
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(scripts / "python")
    run([python, "-m", "pip", "install", "--quiet", f"{archive.resolve()}[cli]"], place)
    run([python, "-W", "error", "-c", USE], place)
    run([str(scripts / "likewise"), "--version"], place)


def run(command: list[str], place: Path) -> None:
    """Run a command where the repository is not in sight."""
    subprocess.run(command, cwd=place, check=True)  # noqa: S603 - archives of this repository


if __name__ == "__main__":
    main(Path(sys.argv[1]))
