"""Benchmarks from OpenML: download one and bring it into the coding of this library.

scikit-learn's client does the transport, the checksum and the ARFF; this module must not know of
folders in which data sets are kept.
"""

import warnings
from http.client import HTTPException
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

import numpy as np
from numpy.typing import NDArray

from likewise.datasets.catalogue import Entry

__all__ = ["fetch"]


def fetch(name: str, entry: Entry) -> dict[str, NDArray[Any]]:
    """Download a benchmark from OpenML.

    Parameters
    ----------
    name : str
        Name of the benchmark, for messages.
    entry : Entry
        Its facts; `entry.openml_id` must be set.

    Returns
    -------
    dict of arrays
        ``X``: float32 of shape (rows, dims). ``y``: int8 of shape (rows,), -1 and +1. Where the
        source has more classes also ``y_multiclass``: int8 of shape (rows,), from 0.

    Raises
    ------
    OSError
        If the server cannot be reached or does not deliver the file whole.
    ValueError
        If the file is whole but no class in it has the expected number of rows.
    """
    bunch = _download(name, entry)
    table = bunch.data.toarray() if hasattr(bunch.data, "toarray") else np.asarray(bunch.data)
    # A row number is no feature, but not every set on OpenML is marked up to say so.
    is_feature = [column.lower() != "id" for column in bunch.feature_names]
    arrays = {"X": table[:, is_feature].astype(np.float32)}
    codes, positive = _code_classes(np.ravel(bunch.target), name, entry)
    arrays["y"] = np.where(codes == positive, 1, -1).astype(np.int8)
    if entry.has_multiclass:
        arrays["y_multiclass"] = codes.astype(np.int8)
    return arrays


def _download(name: str, entry: Entry) -> Any:
    """Fetch the set as scikit-learn's Bunch of arrays."""
    # Imported here: it is slow, and whoever has the files never needs it.
    from sklearn.datasets import fetch_openml

    # The client reads the file twice, once for the checksum, so it needs a folder of its own.
    with TemporaryDirectory() as scratch, warnings.catch_warnings():
        # It warns of every retry; what counts is whether the last one fails, and then we say so.
        warnings.simplefilter("ignore")
        try:
            # This parser reads sparse files too, and does without pandas.
            return fetch_openml(
                data_id=entry.openml_id, data_home=scratch, as_frame=False, parser="liac-arff"
            )
        except (OSError, EOFError, HTTPException, ValueError) as error:
            if isinstance(error, HTTPError):
                error.close()
            # Three tracebacks of the client say no more than its message.
            raise OSError(
                f"could not download {name!r} from OpenML (id {entry.openml_id}): {error}. Try "
                f"again, or put {name}.npz into a folder and name that folder in LIKEWISE_DATA."
            ) from None


def _code_classes(
    target: NDArray[Any], name: str, entry: Entry
) -> tuple[NDArray[np.intp], np.intp]:
    """Return each row's class, numbered in sorted order, and the number of the positive class.

    OpenML often renames classes (say, to 1 and 2). The number of positives is known and tells
    which class is meant, whatever its name.
    """
    labels, codes, counts = np.unique(target.astype(str), return_inverse=True, return_counts=True)
    matches = np.flatnonzero(counts == entry.positives)
    if matches.size != 1:
        found = ", ".join(
            f"{str(label)!r}: {count}" for label, count in zip(labels, counts, strict=True)
        )
        raise ValueError(
            f"OpenML's copy of {name!r} (id {entry.openml_id}) is not the expected table: no "
            f"single class has {entry.positives} rows (rows per class: {found})."
        )
    return codes, matches[0]
