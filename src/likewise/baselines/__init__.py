"""The rivals of the paper's comparison, and two from constrained clustering, one file each.

They learn from the same weak labels as the classifiers, and predict -1 or +1, +1 being the larger
cluster.
"""

from likewise.baselines.dimc import DIMC
from likewise.baselines.imsat import IMSAT
from likewise.baselines.itml import ITML
from likewise.baselines.kmeans import KMeansBaseline
from likewise.baselines.mpckmeans import MPCKMeans
from likewise.baselines.pckmeans import PCKMeans
from likewise.baselines.seraph import SERAPH
from likewise.baselines.three_smic import ThreeSMIC

__all__ = [
    "DIMC",
    "IMSAT",
    "ITML",
    "SERAPH",
    "KMeansBaseline",
    "MPCKMeans",
    "PCKMeans",
    "ThreeSMIC",
]
