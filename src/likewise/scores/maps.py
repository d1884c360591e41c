"""What a score is linear in: the columns, RBF features of them, or a transformer's.

Maps side by side are a map too: a score that is a sum over several is linear in all of them.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion

from likewise._types import FloatArray
from likewise.engines.arrays import to_numpy
from likewise.engines.rows import is_sparse
from likewise.scores.design import Design
from likewise.scores.features import RadialFeatures, column_scale

__all__ = ["SPARSE", "FeatureMap", "feature_maps", "named_maps"]

SPARSE = "linear sparse"
"""The standardized columns, of which few may count: each has a deviation of its own."""
_WIDTHS = (0.9, 0.5)
"""Kernel widths, in units of the typical distance of two rows."""
_FEWEST_TO_REDUCE = 2
"""With more columns, a kernel of their principal components is tried too."""
_MOST_KERNEL_FEATURES = 2000
"""Sparse tables with more columns are not made dense for a kernel."""


@dataclass(frozen=True)
class FeatureMap:
    """What a score is linear in: the standardized columns, or a transformer's.

    Attributes
    ----------
    name : str
    transformer : fitted transformer, or None for the columns themselves
    mean, scale : arrays of shape (n_map_features,)
    """

    name: str
    transformer: Any
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, name: str, transformer: Any, rows: Any) -> tuple["FeatureMap", Design]:
        """Fit a map to rows and return it with the rows' design."""
        if transformer is None:
            mean, scale = column_scale(rows)
        else:
            rows = _transformed(transformer, transformer.fit_transform, rows)
            radial = isinstance(transformer, RadialFeatures)
            mean, scale = _unscaled(rows) if radial else column_scale(rows)
        return cls(name, transformer, mean, scale), Design(rows, mean, scale)

    @classmethod
    def side_by_side(cls, maps: Sequence["FeatureMap"]) -> "FeatureMap":
        """Return the map that puts the features of others next to each other."""
        parts = [
            (one.name, "passthrough" if one.transformer is None else one.transformer)
            for one in maps
        ]
        return cls(
            " + ".join(one.name for one in maps),
            FeatureUnion(parts),
            np.concatenate([one.mean for one in maps]),
            np.concatenate([one.scale for one in maps]),
        )

    def design(self, rows: Any) -> Design:
        """Return other rows as the score sees them."""
        if self.transformer is not None:
            rows = _transformed(self.transformer, self.transformer.transform, rows)
        return Design(rows, self.mean, self.scale)

    def standardise(self, rows: Any) -> Any:
        """Return dense rows of any library as the score sees them, centered and scaled."""
        if self.transformer is None:
            return Design(rows, self.mean, self.scale).standardise(rows)
        return self.design(to_numpy(rows)).dense()


def _unscaled(rows: Any) -> tuple[FloatArray, FloatArray]:
    return np.zeros(rows.shape[1]), np.ones(rows.shape[1])


def _transformed(transformer: Any, transform: Callable[[Any], Any], rows: Any) -> Any:
    # Arrays, whatever users want to see of their own transformers; classifiers are left alone.
    own = hasattr(transformer, "set_output")
    with config_context(transform_output="default") if own else nullcontext():
        found = transform(rows)
    return found.tocsr() if is_sparse(found) else np.asarray(found, dtype=np.float64)


def feature_maps(
    features: Any,
    n_columns: int,
    random_state: np.random.RandomState,
    *,
    is_sparse_table: bool = False,
    all_kinds: bool = False,
) -> list[tuple[str, Any]]:
    """Return the names and transformers, not fitted, that a choice of features stands for.

    Parameters
    ----------
    features : {"auto", "linear", "rbf"} or transformer
    n_columns : int
        Number of columns of the table.
    random_state : RandomState
    is_sparse_table : bool
        Whether the table is sparse.
    all_kinds : bool
        Whether to return those too that are not worth a trial on such a table.
    """
    linear: tuple[str, Any] = ("linear", None)
    if isinstance(features, str):
        seed = random_state.randint(2**31 - 1)
        kernels = [
            (f"rbf {width:g}", RadialFeatures(width, random_state=seed)) for width in _WIDTHS
        ]
        if all_kinds or n_columns > _FEWEST_TO_REDUCE:
            reduced = RadialFeatures(_WIDTHS[0], principal=True, random_state=seed)
            kernels.append((f"rbf {_WIDTHS[0]:g} pc", reduced))
        is_wide = is_sparse_table and n_columns > _MOST_KERNEL_FEATURES
        if features == "auto" and is_wide and not all_kinds:
            return [linear]
        of_all = [linear, *kernels, (SPARSE, None)]
        return {"auto": of_all, "linear": [linear], "rbf": kernels}[features]
    return [(type(features).__name__, clone(features))]


def named_maps(maps: Sequence[tuple[str, Any]], names: Collection[str]) -> list[tuple[str, Any]]:
    """Return the feature maps that have been named.

    Parameters
    ----------
    maps : sequence of (name, transformer)
    names : collection of str
    """
    known = [name for name, _ in maps]
    if not names or not set(names).issubset(known):
        raise ValueError(
            f"alphas must name at least one kind of features, and only such as are tried here "
            f"({', '.join(known)}); got {list(names)}."
        )
    return [one for one in maps if one[0] in names]
