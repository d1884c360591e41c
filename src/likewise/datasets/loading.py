"""The benchmarks of the paper by name: look them up, check them, keep what was downloaded.

A name always means the same table: whatever the source, the number of rows, columns and positives
must be those of the catalogue. This module must not know what the data are used for.
"""

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from likewise.datasets.catalogue import CATALOGUE, Entry

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["DatasetInfo", "list_datasets", "load"]

PathName = str | os.PathLike[str]
Source = Literal["folder", "cache", "OpenML", "not available"]
Arrays = Mapping[str, Any]
"""The arrays of an .npz file by name: ``X``, ``y`` and perhaps ``y_multiclass``."""


@dataclass(frozen=True)
class DatasetInfo:
    """One benchmark: its size and where `load` would find it now.

    Attributes
    ----------
    name : str
    rows, dims : int
        Shape of the table.
    positive_share : float
        Share of class +1.
    source : {"folder", "cache", "OpenML", "not available"}
        "folder" is the one named in the environment variable ``LIKEWISE_DATA``, "cache" holds what
        was downloaded before, "OpenML" needs a download.

    Examples
    --------
    >>> from likewise.datasets import list_datasets
    >>> info = list_datasets()[0]
    >>> info.name, info.rows > 0, 0 < info.positive_share < 1
    ('adult', True, True)
    """

    name: str
    rows: int
    dims: int
    positive_share: float
    source: Source


def list_datasets(*, data_home: PathName | None = None) -> list[DatasetInfo]:
    """List the benchmarks that `load` knows, without opening or downloading any.

    Parameters
    ----------
    data_home : path, optional
        The cache folder, as for `load`.

    Returns
    -------
    list of DatasetInfo
        In alphabetical order.

    Examples
    --------
    >>> from likewise.datasets import list_datasets
    >>> for info in list_datasets()[:3]:
    ...     print(f"{info.name:8} {info.rows:6} x {info.dims:3}  {info.positive_share:.3f}")
    adult     48842 x 123  0.239
    banana     5300 x   2  0.448
    cod-rna   50000 x   8  0.334
    """
    return [
        DatasetInfo(
            name=name,
            rows=entry.rows,
            dims=entry.dims,
            positive_share=entry.positives / entry.rows,
            source=_find(name, entry, data_home)[0],
        )
        for name, entry in sorted(CATALOGUE.items())
    ]


@overload
def load(
    name: str, *, return_X_y: Literal[False] = False, data_home: PathName | None = None
) -> "Bunch": ...
@overload
def load(
    name: str, *, return_X_y: Literal[True], data_home: PathName | None = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...
def load(
    name: str, *, return_X_y: bool = False, data_home: PathName | None = None
) -> "Bunch | tuple[NDArray[np.float32], NDArray[np.int64]]":
    """Load one of the twelve benchmarks of Bao et al. (2018).

    A set is looked for in three places, in this order: as ``NAME.npz`` in the folder named in the
    environment variable ``LIKEWISE_DATA``; as ``NAME.npz`` in the cache folder; on OpenML, from
    where it goes into the cache folder. Some sets are not on OpenML in the form of the paper.

    Features are those of the source, not scaled, and rows are in the order of the source: scale
    and shuffle before use.

    Parameters
    ----------
    name : str
        One of adult, banana, cod-rna, higgs, ijcnn1, magic, phishing, phoneme, spambase, susy,
        w8a, waveform.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    data_home : path, optional
        The cache folder. By default the folder ``likewise`` in scikit-learn's data folder, that
        is in ``SCIKIT_LEARN_DATA`` or else ``~/scikit_learn_data``.

    Returns
    -------
    Bunch
        ``data``: float32 array of shape (rows, dims). ``target``: int64 array of shape (rows,),
        -1 and +1. ``target_multiclass``, for waveform only: int64 array of shape (rows,) with the
        classes 0, 1, 2. ``name``. ``source``: where the set was found. ``description``: one line
        on what it is.

    Raises
    ------
    ValueError
        If the name is unknown, or a file is damaged or holds another table.
    FileNotFoundError
        If the set is in neither folder and not on OpenML in this form.
    OSError
        If the download fails.

    Examples
    --------
    >>> from likewise.datasets import load
    >>> X, y = load("banana", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, float((y == 1).mean().round(3))  # doctest: +SKIP
    ((5300, 2), 0.448)
    """
    entry = _entry(name)
    source, path = _find(name, entry, data_home)
    if source == "not available":
        raise FileNotFoundError(
            f"no {name}.npz in {_places(data_home)}, and OpenML does not hold {name!r} in this "
            f"form: {entry.openml_note}. Put {name}.npz (arrays X and y) into a folder and name "
            f"that folder in the environment variable LIKEWISE_DATA."
        )
    if source == "OpenML":
        _download_to(path, name, entry)
    arrays = _read(path, entry)

    data, target = arrays["X"], arrays["y"].astype(np.int64)
    if return_X_y:
        return data, target
    # Imported here: scikit-learn takes a second to import, and most of this folder does without.
    from sklearn.utils import Bunch

    bunch = Bunch(
        data=data,
        target=target,
        name=name,
        source=source,
        description=_describe(entry, source),
    )
    if entry.has_multiclass:
        bunch.target_multiclass = arrays["y_multiclass"].astype(np.int64)
    return bunch


def _describe(entry: Entry, source: Source) -> str:
    """Say in a line what the set is, and how this copy of it differs."""
    line = f"{entry.origin}; class +1 is: {entry.positive_class}."
    if source == "folder" or not entry.openml_note:
        return line
    return f"{line} In the copy from OpenML, {entry.openml_note}."


def _entry(name: str) -> Entry:
    """Return the facts of `name`, or say which names there are."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    close = get_close_matches(str(name).lower(), CATALOGUE, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"unknown dataset {name!r}.{hint} Known names: {', '.join(CATALOGUE)}.")


def _find(name: str, entry: Entry, data_home: PathName | None) -> tuple[Source, Path]:
    """Say where the set is now and which file to read, once it is there."""
    cached = _cache_folder(data_home) / f"{name}.npz"
    folder = _data_folder()
    if folder is not None and (folder / f"{name}.npz").is_file():
        return "folder", folder / f"{name}.npz"
    if cached.is_file():
        return "cache", cached
    return ("not available" if entry.openml_id is None else "OpenML"), cached


def _data_folder() -> Path | None:
    """Return the folder of the user's own copies, if one is named."""
    named = os.environ.get("LIKEWISE_DATA")
    return Path(named).expanduser() if named else None


def _cache_folder(data_home: PathName | None) -> Path:
    """Return the folder of downloaded sets, which need not exist."""
    if data_home is not None:
        return Path(data_home).expanduser()
    # sklearn.datasets.get_data_home follows the same rule, but would create the folder even when
    # there is nothing to put into it.
    home = os.environ.get("SCIKIT_LEARN_DATA") or "~/scikit_learn_data"
    return Path(home).expanduser() / "likewise"


def _places(data_home: PathName | None) -> str:
    """Name the folders that were searched, for a message."""
    folder = _data_folder()
    first = "LIKEWISE_DATA (not set)" if folder is None else f"LIKEWISE_DATA ({folder})"
    return f"{first} or the cache ({_cache_folder(data_home)})"


def _read(path: Path, entry: Entry) -> Arrays:
    """Read a file and check that it holds the table of the catalogue."""
    names = ["X", "y"] + (["y_multiclass"] if entry.has_multiclass else [])
    try:
        # Opened here, because np.load leaves a file open that turns out to be cut short.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in names}
    except KeyError as error:
        raise ValueError(f"{path} lacks an array; it must hold {', '.join(names)}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"{path} is damaged or no .npz file of plain arrays; replace or delete it."
        ) from error
    _check(arrays, entry, str(path))
    return arrays


def _check(arrays: Arrays, entry: Entry, where: str) -> None:
    """Raise a ValueError naming `where` unless the arrays are the catalogue's table."""
    X, y = arrays["X"], arrays["y"]
    if X.shape != (entry.rows, entry.dims) or y.shape != (entry.rows,):
        raise ValueError(
            f"{where} does not hold the expected table: X must have shape "
            f"{(entry.rows, entry.dims)} and y {(entry.rows,)}, got {X.shape} and {y.shape}."
        )
    if X.dtype.kind not in "fiu" or not np.isfinite(X).all():
        raise ValueError(f"{where}: X must hold finite numbers only.")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"{where}: y must hold the classes -1 and +1 only.")
    positives = int(np.count_nonzero(y == 1))
    if positives != entry.positives:
        raise ValueError(
            f"{where} does not hold the expected table: {entry.positives} rows must be of class "
            f"+1, but {positives} are."
        )
    if entry.has_multiclass and not np.array_equal(arrays["y_multiclass"] == 0, y == 1):
        raise ValueError(f"{where}: y_multiclass must be 0 exactly where y is +1.")


def _download_to(path: Path, name: str, entry: Entry) -> None:
    """Fetch the set from OpenML, check it, and put it into the cache in one step."""
    from likewise.datasets import openml

    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = openml.fetch(name, entry)
    _check(arrays, entry, f"OpenML's copy of {name!r} (id {entry.openml_id})")
    _write(path, arrays)


def _write(path: Path, arrays: Arrays) -> None:
    """Write an .npz file such that `path` is either absent or whole at any time."""
    with NamedTemporaryFile(
        dir=path.parent, prefix=path.name, suffix=".part", delete=False
    ) as part:
        try:
            np.savez_compressed(part, **arrays)
        except BaseException:
            part.close()
            Path(part.name).unlink()
            raise
    Path(part.name).replace(path)
