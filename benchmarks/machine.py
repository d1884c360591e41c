"""The machine in general words: enough to compare numbers, nothing that tells whose it is."""

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info

__all__ = ["describe_machine", "n_cores"]

_LIBRARIES = ("likewise", "numpy", "scipy", "scikit-learn", "torch", "cvxopt", "clarabel")


def describe_machine() -> list[str]:
    """Return one line each on hardware, load, versions and linear algebra."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"{n_cores()} cores ({platform.machine()}), {memory:.0f} GiB of memory, "
        f"{platform.system()}",
        f"other work at the start: {os.getloadavg()[0]:.1f} processes running (load average of the "
        "last minute)",
        f"Python {platform.python_version()}, " + ", ".join(_versions()),
        "BLAS: " + ", ".join(_blas()),
    ]


def _versions() -> list[str]:
    """Return the versions of the libraries that are installed."""
    found = []
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return found


def n_cores() -> int:
    """Return the cores that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blas() -> list[str]:
    found = {
        f"{library['internal_api']} {library['version']} ({library['num_threads']} threads)"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return sorted(found) or ["unknown"]
