"""What `PairClassifier` is given, checked: rows, statements, known classes, penalties."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from likewise.classifiers.any_model import as_untouched
from likewise.classifiers.rows import read_stated_source
from likewise.engines import PairSource
from likewise.engines.source import refuse_labels
from likewise.scores.features import check_magnitude
from likewise.search.rows import EngineRows, MemoryRows, SourceRows
from likewise.search.settings import check_pairing
from likewise.search.streamed import StreamedRows
from likewise.statements.known import Known, read_known
from likewise.statements.labels import WeakLabels, statements_for
from likewise.statements.weights import refuse_weights, weigh

__all__ = ["read_alphas", "read_named", "read_source_rows", "row_names"]


def read_source_rows(
    clf: Any, X: Any, y: WeakLabels | None, sample_weight: Any = None
) -> SourceRows:
    """Check what was passed to ``fit``, and remember its columns.

    Parameters
    ----------
    clf : PairClassifier
    X : table, or PairSource
    y : weak labels, or None
    sample_weight : array of shape (n_rows,), or None
    """
    if isinstance(X, PairSource):
        refuse_labels(y)
        refuse_weights(sample_weight)
        if clf.estimator is not None:
            raise ValueError("estimator learns from rows in memory; pass a table, not a source.")
        engine, stated = read_stated_source(clf, X)
        check_pairing(clf.pairing, clf.error_rate, is_fresh=stated is None)
        return EngineRows(engine) if stated is None else StreamedRows(engine, stated)
    if clf.estimator is None:
        X = validate_data(clf, X, accept_sparse="csr", dtype=np.float64, order="C")
        check_magnitude(X)
    else:
        X = as_untouched(clf, X)
    statements = statements_for(y, X.shape[0], type(clf).__name__)
    check_pairing(clf.pairing, clf.error_rate, is_fresh=statements.is_fresh)
    return MemoryRows(X, weigh(statements, sample_weight, type(clf).__name__))


def read_named(clf: Any, known: Any, source: SourceRows) -> Known | None:
    """Check the classes of single rows.

    Parameters
    ----------
    clf : PairClassifier
    known : sequence of length n_rows, or None
    source : SourceRows
    """
    if clf.n_classes == "auto" and (known is not None or clf.estimator is not None):
        what = "known" if known is not None else "estimator"
        raise ValueError(
            f"n_classes='auto' compares numbers of classes that have no names, by scores of our "
            f"own: pass a number with {what}."
        )
    if known is None:
        return None
    if source.statements is None or source.statements.is_fresh:
        raise ValueError(
            "known is for the rows of one table; these are fresh pairs. Pass row numbers to "
            "likewise.pack."
        )
    return read_known(known, source.statements.n_rows, clf.n_classes)


def read_alphas(alphas: Any) -> Any:
    """Return penalties as a tuple, or a dict of such; None for "auto"."""
    if isinstance(alphas, str):
        return None
    if isinstance(alphas, dict):
        return {name: _positive(of_name) for name, of_name in alphas.items()}
    return _positive(alphas)


def _positive(alphas: Any) -> tuple[float, ...]:
    try:
        found = tuple(float(alpha) for alpha in np.ravel(alphas))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < alpha < np.inf for alpha in found):
        raise ValueError(f"alphas must be positive finite numbers; got {alphas!r}.")
    return found


def row_names(X: Any) -> Callable[[int], str] | None:
    """Return how rows are called: by the labels of a pandas index."""
    index: Any = getattr(X, "index", None)
    return None if not hasattr(index, "get_indexer") else lambda row: repr(index[row])
