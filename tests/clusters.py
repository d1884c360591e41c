"""A Dask cluster on this machine, with time enough where the machine is busy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["local_cluster"]

_SETTINGS = {
    # The profiler would look at every worker a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.comm.timeouts.connect": "600s",
    "distributed.comm.timeouts.tcp": "600s",
}


@contextmanager
def local_cluster(n_workers: int, **options: Any) -> Iterator[Any]:
    """Start workers of one thread each, and end them.

    Parameters
    ----------
    n_workers : int
    **options
        Further ones of `distributed.LocalCluster`.
    """
    distributed: Any = pytest.importorskip("distributed")
    settings: Any = pytest.importorskip("dask").config
    how = {"threads_per_worker": 1, "dashboard_address": ":0", **options}
    with (
        settings.set(_SETTINGS),
        distributed.LocalCluster(n_workers=n_workers, **how) as cluster,
    ):
        yield cluster
