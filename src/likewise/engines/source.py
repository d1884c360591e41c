"""Rows that are not a table in memory: what stands in their place, and which engine reads them.

How rows are read is the business of the engines; this module only tells them apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from likewise.engines.base import PAIR_PARTS, Engine, Part

__all__ = [
    "OpenSource",
    "PairSource",
    "is_source",
    "open_engine",
    "pack_source",
    "refuse_labels",
    "stated_rows",
]

Kind = Literal["parquet", "dask", "torch"]


@dataclass(frozen=True, eq=False)
class PairSource:
    """Unlabeled rows and pairs that stay where they are until they are read.

    Classifiers and prior estimators take it in place of `X`, without `y`; `likewise.pack` makes one
    of Parquet files, Dask collections and torch tensors.

    Parameters
    ----------
    unlabeled : source of rows
        A Parquet file or folder, a list of files or a `pyarrow.dataset.Dataset`; a Dask array or
        data frame; or a torch tensor.
    similar : pairs, optional
        Two sources ``(A, B)`` of the kind of `unlabeled` whose rows belong together; one source
        with columns ``left_<name>`` and ``right_<name>`` for every feature; or ids: a source, a
        pyarrow table or a pandas data frame with columns ``left`` and ``right``, or an array of
        shape (n_pairs, 2). For a Dask array or a tensor, ids are row numbers of `unlabeled`.
    dissimilar : pairs, optional
        Pairs of different classes, in any of the same forms.
    columns : names, optional
        Features, in this order; by default all columns but `id_column`, and but an index without a
        name that pandas saved.
    id_column : str, default "id"
        Where the ids stand in `unlabeled`; needed only for pairs given by ids. Ids are compared as
        text, whole numbers without a decimal point: 7 and 7.0 are "7", and neither is "007".

    See Also
    --------
    likewise.pack : makes one of a source of rows and one of pairs.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import likewise as lw, pandas as pd
    >>> from likewise.engines import PairSource
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.7, random_state=0)
    >>> table, (left, right) = pd.DataFrame(sample.unlabeled), sample.similar
    >>> with TemporaryDirectory() as folder:
    ...     rows, pairs = Path(folder) / "rows.parquet", Path(folder) / "pairs.parquet"
    ...     table.add_prefix("x").to_parquet(rows)
    ...     sides = {"left_x": pd.DataFrame(left), "right_x": pd.DataFrame(right)}
    ...     sides = [side.add_prefix(name) for name, side in sides.items()]
    ...     pd.concat(sides, axis=1).to_parquet(pairs)
    ...     clf = lw.SUClassifierCV(prior=0.7).fit(PairSource(rows, pairs))
    >>> clf.n_passes_
    2
    """

    unlabeled: Any
    similar: Any = None
    dissimilar: Any = None
    columns: Sequence[str] | None = field(default=None, kw_only=True)
    id_column: str = field(default="id", kw_only=True)

    @property
    def pairs(self) -> dict[Part, Any]:
        """The pairs of each kind that was passed."""
        passed = {part: getattr(self, part) for part in PAIR_PARTS}
        return {part: pairs for part, pairs in passed.items() if pairs is not None}


@dataclass(frozen=True, eq=False)
class OpenSource(PairSource):
    """A source whose engine is open already: estimators read from that.

    Parameters
    ----------
    engine : Engine
    similar, dissimilar : row numbers, optional
        Statements about the rows of an engine that holds no pairs itself, as `likewise.pack` takes
        them: pairs of shape (n, 2), or groups of rows that are alike.
    """

    unlabeled: Any = None
    engine: Engine = field(kw_only=True)


def is_source(rows: Any) -> bool:
    """Tell whether rows are of a kind that is read by an engine rather than held as a table."""
    return _kind_of(rows) is not None


def pack_source(unlabeled: Any, similar: Any, dissimilar: Any) -> PairSource:
    """Return rows and pairs as a `PairSource`; `likewise.pack` calls it."""
    if similar is None and dissimilar is None:
        raise ValueError(
            "There are no pairs: pass at least one pair as `similar` (or `dissimilar`)."
        )
    return PairSource(unlabeled, similar, dissimilar)


def refuse_labels(y: Any) -> None:
    """Raise if weak labels were passed beside a source."""
    if y is not None:
        raise ValueError("A PairSource holds its pairs itself: pass no y beside it.")


def stated_rows(source: PairSource, engine: Engine) -> Mapping[Part, Any] | None:
    """Return what is said of the rows of a source, by row numbers; None for fresh pairs.

    Parameters
    ----------
    source : PairSource
    engine : Engine
        That reads it.
    """
    if isinstance(source, OpenSource) and source.pairs:
        return source.pairs
    return engine.statements()


def open_engine(source: PairSource) -> Engine:
    """Return the engine that reads a source.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from likewise.engines import PairSource, open_engine
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = pa.table({"id": [1, 2, 3], "x": [0.0, 1.0, 2.0]})
    ...     pq.write_table(rows, folder + "/rows.parquet")
    ...     pairs = pa.table({"left": [1], "right": [3]})
    ...     pq.write_table(pairs, folder + "/pairs.parquet")
    ...     source = PairSource(folder + "/rows.parquet", folder + "/pairs.parquet")
    ...     open_engine(source).count("unlabeled")
    3
    """
    if isinstance(source, OpenSource):
        return source.engine
    kind = _kind_of(source.unlabeled)
    if kind == "parquet":
        from likewise.engines.parquet import open_parquet

        return open_parquet(source)
    if kind == "dask":
        from likewise.engines.dask import open_dask

        return open_dask(source)
    if kind == "torch":
        from likewise.engines.torch import open_torch

        return open_torch(source)
    raise TypeError(
        f"A PairSource reads Parquet files, Dask collections and torch tensors, but `unlabeled` is "
        f"of type {type(source.unlabeled).__name__}; pass tables in memory to likewise.pack."
    )


def _kind_of(rows: Any) -> Kind | None:
    if isinstance(rows, (str, Path)) or _is_paths(rows):
        return "parquet"
    home = type(rows).__module__
    if home.startswith(("pyarrow._dataset", "pyarrow.dataset", "likewise.io.parquet")):
        return "parquet"
    if home.startswith(("dask.", "dask_expr.")):
        return "dask"
    return "torch" if home == "torch" else None


def _is_paths(rows: Any) -> bool:
    return (
        isinstance(rows, (list, tuple))
        and len(rows) > 0
        and all(isinstance(path, (str, Path)) for path in rows)
    )
