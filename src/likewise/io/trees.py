"""Trees of gradient boosting from a file: followed only where every step stays inside them.

scikit-learn follows nodes without looking: a forged one could lead anywhere in memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["check_trees"]


def check_trees(path: Path, estimator: Any) -> None:
    """Raise unless the nodes of all trees lead to nodes, columns and categories that there are.

    Parameters
    ----------
    path : Path
        For the message.
    estimator : fitted estimator
    """
    for model in _boosted(estimator, set()):
        try:
            n_columns = int(model._bin_mapper.n_bins_non_missing_.size)
            sound = all(_is_sound(tree, n_columns) for trees in model._predictors for tree in trees)
        except (AttributeError, TypeError, ValueError, IndexError, KeyError):
            sound = False
        if not sound:
            raise ValueError(f"{path} is damaged: its trees do not hang together.")


def _boosted(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield every gradient boosting inside an object."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "_predictors"):
        yield value
        return
    if isinstance(value, list | tuple | set):
        inside: Any = value
    elif isinstance(value, dict):
        inside = value.values()
    else:
        inside = getattr(value, "__dict__", {}).values()
    for one in inside:
        yield from _boosted(one, seen)


def _is_sound(tree: Any, n_columns: int) -> bool:
    nodes = tree.nodes
    if not (isinstance(nodes, np.ndarray) and nodes.ndim == 1 and nodes.size):
        return False
    numbers = np.arange(nodes.size)
    inner = nodes["is_leaf"] == 0
    leads_on = all(
        np.all((nodes[side][inner] > numbers[inner]) & (nodes[side][inner] < nodes.size))
        for side in ("left", "right")
    )
    columns = nodes["feature_idx"][inner]
    splits = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    n_bitsets = min(_rows(tree.raw_left_cat_bitsets), _rows(tree.binned_left_cat_bitsets))
    return bool(
        leads_on
        and np.all((columns >= 0) & (columns < n_columns))
        and np.all((splits >= 0) & (splits < n_bitsets))
        and np.isfinite(nodes["value"]).all()
    )


def _rows(bitsets: Any) -> int:
    if not (isinstance(bitsets, np.ndarray) and bitsets.dtype == np.uint32):
        raise ValueError("not a table of bits")
    return bitsets.shape[0] if bitsets.ndim == 2 and bitsets.shape[1] == 8 else 0
