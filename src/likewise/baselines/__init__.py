"""The baselines of the paper's comparison, and two from constrained clustering, one file each.

They learn from the same weak labels as the classifiers, of fresh pairs or of one table and
statements about its rows, and predict -1 or +1, +1 being the larger cluster. What they make of
statements that two rows differ:

========================  ============================================================
`PCKMeans`, `MPCKMeans`   learn from them: cannot-links
`ITML`, `SERAPH`, `DIMC`  learn from them
`ThreeSMIC`, `IMSAT`      ignore them beside similar pairs, refuse to learn from them alone
`KMeansBaseline`          uses no statements at all
========================  ============================================================

``n_ignored_`` counts the statements that a method had no use for.
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
