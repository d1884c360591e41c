"""Versions of everything that a bug report should name."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions"]

_PACKAGES = (
    "likewise",
    "numpy",
    "scipy",
    "scikit-learn",
    "skops",
    "joblib",
    "threadpoolctl",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "dask",
    "torch",
    "skorch",
)


def show_versions() -> None:
    """Print the versions of Python, the system and the libraries, for a bug report.

    Examples
    --------
    >>> import likewise as lw
    >>> lw.show_versions()
    python: ...
    """
    lines = {
        "python": sys.version.split()[0],
        "system": platform.platform(),
        **{name: _version(name) for name in _PACKAGES},
    }
    print("\n".join(f"{name}: {value}" for name, value in lines.items()))  # noqa: T201


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
