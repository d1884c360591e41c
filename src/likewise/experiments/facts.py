"""What a report rests on, in words: trials and seeds, versions, the kind of machine."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version

from likewise._version import __version__
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group

__all__ = ["facts_of"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def facts_of(records: Sequence[Record], command: str) -> dict[str, str]:
    """Return what a reader needs in order to judge records and make them again.

    Parameters
    ----------
    records : sequence of dict
    command : str
        What makes the same records again.

    Returns
    -------
    dict

    Examples
    --------
    >>> from likewise.experiments.facts import facts_of
    >>> record = {"experiment": "prior", "trial": 2, "status": "ok"}
    >>> facts_of([record], "likewise reproduce prior --out there")["trials"]
    'prior: 3'
    """
    trials = {
        name: 1 + max(record["trial"] for record in own)
        for (name,), own in group(records, "experiment").items()
    }
    failed = sum(record["status"] != "ok" for record in records)
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    return {
        "to run it again": command,
        "trials": ", ".join(f"{name}: {count}" for name, count in trials.items()),
        "seeds": "the number of a trial, from 0, is its seed; all methods see the same samples",
        "records": f"{len(records):,}, of which {failed:,} are failures",
        "versions": ", ".join(
            [f"likewise {__version__}", f"Python {platform.python_version()}", *libraries]
        ),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
