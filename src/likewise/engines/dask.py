"""The Dask engine: rows stay on the workers of whatever scheduler is in use; sums travel.

Every partition is summed where it lies, and the sums are added up in a tree. A task that is lost
with its worker is done again by the scheduler, so that a fit survives it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.engines.base import Block, Engine, Kernel, Part, Sums, ValuedKernel, add_sums, cut
from likewise.engines.frames import (
    frame_array,
    frame_keys,
    is_frame,
    join_members,
    open_frame,
)
from likewise.engines.joining import (
    NamedPairs,
    are_named,
    check_not_selves,
    id_columns,
    members_of,
    positions_by_ids,
    positions_by_numbers,
)
from likewise.engines.source import PairSource

_FAN_IN = 8
"""How many sums are added up in one task of the tree."""


class DaskEngine(Engine):
    """Rows and pairs in Dask arrays.

    Parameters
    ----------
    unlabeled : dask array of shape (n_rows, n_features)
    pairs : dict from part to _Partitions, or NamedPairs of such
        Left and right members of each kind of pairs, aligned.
    names : tuple of str, optional
    ids : dask data frame, optional
        Its one column has the ids of the unlabeled rows, where pairs name these; else they name
        row numbers.
    """

    def __init__(
        self,
        unlabeled: Any,
        pairs: "Mapping[Part, _Partitions | NamedPairs]",
        names: tuple[str, ...] | None = None,
        ids: Any = None,
    ) -> None:
        self._names = names
        self._shape = unlabeled.shape
        self._ids = ids
        self._unlabeled = _Partitions.of(_whole_rows(unlabeled))
        self._pairs: dict[Part, Any] = dict(pairs)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._shape[1])

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if the rows came from a data frame."""
        return self._names

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""
        if part == "unlabeled":
            return self._unlabeled.n_rows
        pairs = self._pairs.get(part, ())
        return pairs.n_rows if isinstance(pairs, _Partitions) else len(pairs)

    def statements(self) -> dict[Part, NDArray[np.intp]] | None:
        """Return the pairs of each kind as row numbers, if they name rows; only ids are read."""
        if not are_named(self._pairs.values()):
            return None
        if self._ids is None:
            return positions_by_numbers(self._pairs)
        (id_column,) = self._ids.columns
        return positions_by_ids(self._pairs, frame_keys(self._ids, id_column), id_column)

    def _part(self, part: Part) -> "_Partitions":
        return self._unlabeled if part == "unlabeled" else members_of(self._pairs[part])

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        return self._sum_over_parts({part: kernel}, frugal=False)[part]

    def _sum_over_with(self, values: NDArray[Any], kernel: ValuedKernel) -> Sums:
        """Sum over the unlabeled rows; with every partition go the values of its rows."""
        bounds = zip(self._unlabeled.starts, self._unlabeled.starts[1:], strict=False)
        kernels = [partial(_with_values, kernel, values[low:high], low) for low, high in bounds]
        return self._compute({"unlabeled": self._leaves("unlabeled", kernels)})["unlabeled"]

    def _sum_over_parts(self, kernels: Mapping[Part, Kernel], *, frugal: bool) -> dict[Part, Sums]:
        """Sum over all parts at once, so that no worker waits for the end of the first."""
        leaves = {part: self._leaves(part, repeat(kernel)) for part, kernel in kernels.items()}
        return self._compute(leaves)

    def _compute(self, leaves: dict[Part, list[Any]]) -> dict[Part, Sums]:
        """Add up the sums over the partitions of some parts."""
        import dask

        compute: Any = dask.compute  # the library is not typed
        if self.on_rows is None:
            totals = compute(*map(_tree, leaves.values()))
        else:
            totals = _compute_watched(list(leaves.values()), self._counter(leaves))
        return {part: tuple(total) for part, total in zip(leaves, totals, strict=True)}

    def _leaves(self, part: Part, kernels: Iterable[Kernel]) -> list[Any]:
        """Return the sum over every partition, by its kernel, as a task that is yet to be done."""
        from dask.delayed import delayed

        partitions = self._part(part)
        tasks = zip(kernels, partitions.starts[:-1], partitions.blocks, strict=False)
        return [
            delayed(partial(_sum_partition, kernel), pure=False)(start, *tables)
            for kernel, start, tables in tasks
        ]

    def _counter(self, leaves: dict[Part, list[Any]]) -> Callable[[Any], None]:
        """Return what is called with the key of a task that is done, to tell of its rows."""
        done: dict[Part, int] = dict.fromkeys(leaves, 0)
        waited_for = {
            leaf.key: (part, size)
            for part, tasks in leaves.items()
            for leaf, size in zip(tasks, np.diff(self._part(part).starts).tolist(), strict=True)
        }

        def count(key: Any) -> None:
            if key in waited_for:  # other tasks lead to it or follow, and it may be done twice
                part, size = waited_for.pop(key)
                done[part] += size
                self._tell(part, done[part])

        return count


def _compute_watched(leaves: list[list[Any]], count: Callable[[Any], None]) -> Any:
    """Add up sums; `count` is called with the key of every task that is done."""
    import dask
    from dask.callbacks import Callback

    compute: Any = dask.compute
    client = _client()
    if client is None:
        callback: Any = Callback
        with callback(posttask=lambda key, *_: count(key)):
            return compute(*map(_tree, leaves))
    import distributed

    library: Any = distributed
    started = [client.persist(tasks) for tasks in leaves]
    for future in library.as_completed(library.futures_of(started)):
        count(future.key)
    return compute(*map(_tree, started))


def _client() -> Any:
    """Return the client of the cluster in use, or None if there is none."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    find: Any = get_client
    try:
        return find()
    except ValueError:
        return None


def _tree(sums: list[Any]) -> Any:
    """Return the task that adds up sums, a few at a time."""
    from dask.delayed import delayed

    add = delayed(_add, pure=False)
    while len(sums) > 1:
        sums = [add(sums[at : at + _FAN_IN]) for at in range(0, len(sums), _FAN_IN)]
    return sums[0]


class _Partitions(NamedTuple):
    """Partitions as delayed arrays, and where each begins (and the last one ends).

    What they are made from is let go with its last owner, if a cluster keeps it in memory: held.
    """

    starts: list[int]
    blocks: list[tuple[Any, ...]]
    held: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows, or of pairs."""
        return self.starts[-1]

    @classmethod
    def of(cls, *arrays: Any, held: Any = None) -> "_Partitions":
        starts = np.cumsum([0, *arrays[0].chunks[0]]).tolist()
        delayed = (array.to_delayed().ravel() for array in arrays)
        return cls(starts, list(zip(*delayed, strict=True)), held)

    @classmethod
    def of_pairs(
        cls, left: Any, right: Any, n_features: int, name: str, held: Any = None
    ) -> "_Partitions":
        """Return the partitions of left members with the right ones cut alike."""
        if left.shape != right.shape:
            raise ValueError(
                f"`{name}` has {left.shape[0]} left rows but {right.shape[0]} right rows."
            )
        if left.shape[1] != n_features:
            raise ValueError(
                f"`{name}` has {left.shape[1]} columns but `unlabeled` has {n_features}."
            )
        left = _whole_rows(left)
        return cls.of(left, right.rechunk(left.chunks), held=held)


def open_dask(source: PairSource) -> DaskEngine:
    """Return the engine of Dask arrays or data frames; only the lengths of partitions are read."""
    if is_frame(source.unlabeled):
        return _open_frame(source)
    unlabeled = _sized(source.unlabeled)
    members = {part: _members(p, unlabeled, part) for part, p in source.pairs.items()}
    return DaskEngine(unlabeled, members)


def _members(pairs: Any, unlabeled: Any, name: str) -> _Partitions | NamedPairs:
    """Return the members of pairs, or how these are named by row numbers."""
    n_features = unlabeled.shape[1]
    if isinstance(pairs, tuple) and len(pairs) == 2:
        return _Partitions.of_pairs(_sized(pairs[0]), _sized(pairs[1]), n_features, name)
    left, right = _row_numbers(pairs, unlabeled.shape[0], name).T
    return NamedPairs(
        left,
        right,
        lambda: _Partitions.of_pairs(unlabeled[left], unlabeled[right], n_features, name),
    )


def _open_frame(source: PairSource) -> DaskEngine:
    id_column, pairs = source.id_column, source.pairs
    by_ids = {part for part, given in pairs.items() if _are_ids(given)}
    frame, names = open_frame(source, by_ids=bool(by_ids))
    members: dict[Part, _Partitions | NamedPairs] = {}
    for part, given in pairs.items():
        if part in by_ids:
            members[part] = _name_by_ids(frame, given, names, id_column, part)
        elif isinstance(given, tuple):
            sides = frame_array(given[0], names), frame_array(given[1], names)
            members[part] = _Partitions.of_pairs(*sides, len(names), part)
        else:
            members[part] = _side_by_side(given, names, part)
    ids = frame[[id_column]] if by_ids else None
    return DaskEngine(frame_array(frame, names), members, names, ids)


def _are_ids(pairs: Any) -> bool:
    """Tell whether pairs name rows: else they are two frames, or one with left_* and right_*."""
    if isinstance(pairs, tuple) and len(pairs) == 2:
        return False
    return not is_frame(pairs) or {"left", "right"} == set(pairs.columns)


def _name_by_ids(
    frame: Any, pairs: Any, names: Sequence[str], id_column: str, name: str
) -> NamedPairs:
    """Return pairs by ids; their members are joined when they are first read."""
    if is_frame(pairs):  # two ids for each pair: nothing beside the rows
        left, right = (frame_keys(pairs, side) for side in ("left", "right"))
    else:
        left, right = id_columns(pairs, name)
    check_not_selves(left, right)
    return NamedPairs(
        left,
        right,
        lambda: _side_by_side(join_members(frame, left, right, names, id_column), names, name),
    )


def _side_by_side(frame: Any, names: Sequence[str], name: str) -> _Partitions:
    """Return the partitions of a frame with columns left_* and right_*."""
    missing = [
        f"{side}_{column}"
        for side in ("left", "right")
        for column in names
        if f"{side}_{column}" not in frame.columns
    ]
    if missing:
        raise ValueError(
            f"`{name}` has no column {missing[0]!r}: pass two frames, one with columns left_* and "
            "right_* for every feature, or ids in columns left and right."
        )
    left, right = (
        frame_array(frame, [f"{side}_{column}" for column in names]) for side in ("left", "right")
    )
    return _Partitions.of_pairs(left, right, len(names), name, held=frame)


def _sized(array: Any) -> Any:
    if any(np.isnan(size) for size in array.shape):
        array = array.compute_chunk_sizes()
    if array.ndim != 2:
        raise ValueError(f"Rows must be a table (rows x features), not of shape {array.shape}.")
    return array


def _whole_rows(array: Any) -> Any:
    return array.rechunk({1: -1})


def _row_numbers(pairs: Any, n_rows: int, name: str) -> Any:
    numbers = np.asarray(pairs)
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"`{name}` must be two Dask arrays (A, B) or row numbers of shape (n, 2); got shape "
            f"{numbers.shape} and dtype {numbers.dtype}."
        )
    outside = np.flatnonzero(((numbers < 0) | (numbers >= n_rows)).any(axis=1))
    if outside.size:
        raise ValueError(
            f"Pair {int(outside[0])} names rows {numbers[outside[0]].tolist()}, but there are rows "
            f"0 to {n_rows - 1}."
        )
    check_not_selves(numbers[:, 0], numbers[:, 1])
    return numbers


def _sum_partition(kernel: Kernel, start: int, *tables: Any) -> Sums | None:
    """Sum a kernel over the rows of one partition; runs on a worker."""
    if not tables[0].shape[0]:
        return None
    return add_sums(map(kernel, cut(tuple(map(np.asarray, tables)), start)))


def _with_values(kernel: ValuedKernel, values: NDArray[Any], first: int, block: Block) -> Sums:
    """Call a kernel with the values of a block's rows, given those from row `first` on."""
    rows = block.rows
    return kernel(block, values[rows.start - first : rows.stop - first])


def _add(sums: list[Sums | None]) -> Sums | None:
    """Add up sums of neighbors, of which those of empty partitions are none."""
    there = [here for here in sums if here is not None]
    return add_sums(there) if there else None
