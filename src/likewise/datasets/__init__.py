"""Data to learn from: generators, the benchmarks of the paper, and samplers.

Everything here hands out ordinary labeled tables or draws weak samples from them; nothing here
knows of losses, solvers or classifiers.
"""

from likewise.datasets.generators import make_gaussians, make_waveform
from likewise.datasets.loading import DatasetInfo, list_datasets, load
from likewise.datasets.sampling import SUSample, sample_su
from likewise.datasets.statements import StatementSample, sample_statements

__all__ = [
    "DatasetInfo",
    "SUSample",
    "StatementSample",
    "list_datasets",
    "load",
    "make_gaussians",
    "make_waveform",
    "sample_statements",
    "sample_su",
]
