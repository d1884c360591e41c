"""Trees of gradient boosting from a file: followed only where every step stays inside them.

scikit-learn follows nodes without looking: a forged one could lead anywhere in memory.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["hang_together"]

_DEEPEST = 1000
_LARGEST_VALUE = 1e100
"""Of a leaf: sums over many trees stay finite."""


def hang_together(trees: Mapping[str, Any], n_columns: int) -> bool:
    """Tell whether the nodes of all trees lead to later nodes of their tree, by columns there are.

    No way to a leaf is long, and no leaf has a value that sums of many cannot have.

    Parameters
    ----------
    trees : dict of arrays
        ``sizes``: the number of nodes of every tree, each at least one; by the names of their
        fields, the nodes of all trees, one tree after another.
    n_columns : int
        Number of columns of the rows that the trees are for.
    """
    sizes = trees["sizes"].ravel()
    n_nodes = trees["value"].size
    # Each is looked at first: the sum of forged sizes could run over.
    if sizes.size == 0 or sizes.max() > n_nodes or sizes.sum() != n_nodes:
        return False
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    place = np.arange(n_nodes) - first
    inner = trees["is_leaf"] == 0
    depth = trees["depth"].astype(np.int64)
    if depth.max() > _DEEPEST or depth[place == 0].any():
        return False
    for side in ("left", "right"):
        goal = trees[side].astype(np.int64)[inner]
        if not np.all((goal > place[inner]) & (goal < size[inner])):
            return False
        if not np.all(depth[goal + first[inner]] == depth[inner] + 1):
            return False
    columns = trees["feature_idx"][inner]
    return bool(
        np.all((columns >= 0) & (columns < n_columns))
        and bool(np.all(np.abs(trees["value"]) <= _LARGEST_VALUE))
        and not np.isnan(trees["num_threshold"]).any()
    )
