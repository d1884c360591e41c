"""Models as files of a closed format, never pickles: loading one runs no code from the file."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise._version import __version__
from likewise.io.features import Features
from likewise.io.files import PathName, replacing
from likewise.io.modelfile.archive import Archive, NotAnArchiveError
from likewise.io.modelfile.common import MOST_COLUMNS
from likewise.io.modelfile.failures import UnfitError
from likewise.io.modelfile.values import LONGEST_TEXT
from likewise.io.wording import shown

__all__ = ["Model", "load", "load_model", "save", "save_model"]

_UNDECIDED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a classifier raises whose parts are not what they should be."""
if TYPE_CHECKING:
    from likewise.io.modelfile.tree import ReadModel


@dataclass(frozen=True)
class Model:
    """A fitted estimator with what is needed to use it on another file.

    Attributes
    ----------
    estimator : scikit-learn estimator
        Fitted on the columns of `features`, in that order.
    features : Features
    id_column : str
    positive_class : str or None
        What the second of two classes means, where that is known.
    version : str
        The version of likewise that fitted it.
    """

    estimator: Any
    features: Features
    id_column: str
    positive_class: str | None = None
    version: str = __version__

    def as_fitted(self, rows: NDArray[Any]) -> Any:
        """Return rows as the estimator was fitted to them: with names, if it knows some.

        Parameters
        ----------
        rows : array of shape (n_rows, n_columns)
            The columns of `features`, in their order.
        """
        if getattr(self.estimator, "feature_names_in_", None) is None:
            return rows
        try:
            from pandas import DataFrame
        except ImportError:  # a data frame of another library had the names
            return rows
        numbers = {
            name: np.float64 for name in self.features.names if name not in self.features.text
        }
        return DataFrame(rows, columns=list(self.features.names)).astype(numbers)


def save_model(path: PathName, model: Model) -> None:
    """Save a model; an old file stays until the new one is whole.

    What the estimator keeps of single rows that it learned from (their classes, and which
    statements about them may be wrong) is not saved, nor are parameters that only say how to work:
    `n_jobs`, `verbose`, `memory`, and random states other than seeds.

    Parameters
    ----------
    path : path
    model : Model
    """
    try:
        with _archived(model) as archive:
            found, _ = _read(archive)
            if found.brought is None:
                found.built()
            content = archive.content
    except UnfitError as error:
        raise ValueError(f"This model cannot be saved: {error}.") from error
    with replacing(path) as stream:
        stream.write(content)


def load_model(path: PathName, trusted: Sequence[str] = ()) -> Model:
    """Load a model that `save_model` saved, running no code from the file.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Types, by their full names, of estimators that are not likewise's own and that the file may
        hold. Trust only what you know: code of these types runs.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If the file is no likewise model, is damaged, or holds types that are not trusted, or if
        its classifier cannot decide.
    """
    path = Path(path)
    name = shown(path)
    if isinstance(trusted, str):
        trusted = [trusted]
    try:
        with _opened(path) as archive:
            found, description = _read(archive)
        untrusted = [one for one in found.brought_types if one not in trusted]
        if untrusted:
            raise ValueError(_needs_trust(name, untrusted))
        estimator = found.built(trusted)
    except UnfitError as error:
        raise ValueError(
            f"{name} is damaged, or likewise did not save it: {error}; fit the model again."
        ) from error
    model = Model(estimator, **description)
    if found.brought is None:
        _check_decides(name, model, found)
    elif not hasattr(estimator, "predict"):
        raise ValueError(f"{name} is refused: what it holds is no classifier.")
    return model


def _archived(model: Model) -> Archive:
    """Return a model as an archive in memory."""
    from likewise.io.modelfile.tree import members_of

    description = {
        "likewise_version": model.version,
        "features": list(model.features.names),
        "text_features": sorted(model.features.text),
        "gaps": model.features.gaps,
        "id_column": model.id_column,
        "positive_class": model.positive_class,
    }
    return Archive.of(members_of(model.estimator, description))


def _opened(path: Path) -> Archive:
    """Open the archive of a model, or say what a file is instead."""
    name = shown(path)
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{name} is empty, not a likewise model.")
    try:
        archive = Archive.open(path)
    except NotAnArchiveError as error:
        raise ValueError(
            f"{name} is not a likewise model, or it is cut short ({error}): models are archives of "
            "plain numbers, never pickles; fit the model again."
        ) from error
    if "model.json" not in archive.sizes:
        archive.close()
        is_skops = "schema.json" in archive.sizes
        what = "a skops file" if is_skops else "an archive"
        way_out = "; if an earlier likewise saved it, fit the model again" if is_skops else ""
        raise ValueError(f"{name} is {what}, but not a model that likewise saved{way_out}.")
    return archive


def _read(archive: Archive) -> "tuple[ReadModel, dict[str, Any]]":
    """Return a model of which everything was checked, and what it says beside its estimator."""
    from likewise.io.modelfile.tree import read_model

    found = read_model(archive)
    description = _checked_description(found.description)
    n_columns = len(description["features"].names)
    if found.n_columns not in (None, n_columns):
        raise UnfitError(f"names {n_columns} columns, but its classifier takes {found.n_columns}")
    found.check_flow(n_columns)
    features = description["features"]
    if not {features.names[number] for number in found.text_columns} <= features.text:
        raise UnfitError("names a column of numbers that its encoder takes for text")
    if features.text and not found.takes_text:
        raise UnfitError("names columns of text, but its classifier takes numbers")
    if features.gaps and not found.takes_gaps:
        raise UnfitError("allows empty cells, but its classifier takes none")
    return found, description


def _checked_description(content: Mapping[str, Any]) -> dict[str, Any]:
    known = {"format", "format_version", "brought", "estimator", *_DESCRIPTION}
    for name in content:
        if name not in known:
            raise UnfitError(f"has an attribute {name[:60]!a} that models do not have")
    for name, is_right in _DESCRIPTION.items():
        if name not in content:
            raise UnfitError(f"lacks a part: {name}")
        if not is_right(content[name]):
            raise UnfitError(f"has a part {name} that is not what it should be")
    names, text = content["features"], content["text_features"]
    if len(set(names)) != len(names) or not set(text) <= set(names):
        raise UnfitError("has names of columns that do not fit each other")
    return {
        "features": Features(tuple(names), frozenset(text), content["gaps"]),
        "id_column": content["id_column"],
        "positive_class": content["positive_class"],
        "version": content["likewise_version"],
    }


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST_COLUMNS and all(map(_is_text, value))


_DESCRIPTION: dict[str, Callable[[Any], bool]] = {
    "likewise_version": _is_text,
    "features": _are_texts,
    "text_features": _are_texts,
    "gaps": lambda value: isinstance(value, bool),
    "id_column": _is_text,
    "positive_class": lambda value: value is None or _is_text(value),
}
"""What a model says beside its estimator, and whether it is as it should be."""


def _needs_trust(name: str, types: Sequence[str]) -> str:
    listed = ", ".join(f'"{one}"' for one in types)
    options = " ".join(f"--trust {one}" for one in types)
    return (
        f"{name} is refused: it holds a model that somebody brought, of types that are not "
        f"likewise's own. If you know where the file is from, trust them by name: "
        f"trusted=[{listed}] in likewise.load, or {options} on the command line."
    )


def save(clf: Any, path: PathName) -> None:
    """Save a fitted classifier, without the rows that it learned from.

    Parameters
    ----------
    clf : classifier of this library, or pipeline that ends in one
    path : path

    Examples
    --------
    >>> import likewise as lw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> X, y = lw.datasets.make_gaussians(2000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, n_test=50, random_state=0)
    >>> clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
    >>> with TemporaryDirectory() as folder:
    ...     lw.save(clf, Path(folder) / "model.skops")
    ...     again = lw.load(Path(folder) / "model.skops")
    >>> bool((again.predict(sample.X_test) == clf.predict(sample.X_test)).all())
    True
    """
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(clf, "fit"):
        raise TypeError(
            f"likewise.save takes a fitted classifier, but got an object of type "
            f"{type(clf).__name__}."
        )
    check_is_fitted(clf)
    model = Model(clf, Features(_column_names(clf)), "id")
    save_model(path, replace(model, features=_with_text(model)))


def _with_text(model: Model) -> Features:
    """Return the columns of a model, with those that its encoders take as text named as such."""
    from likewise.io.modelfile.tree import read_model

    names = model.features.names
    try:
        with _archived(model) as archive:
            found = read_model(archive).text_columns
        return Features(names, frozenset(names[number] for number in found))
    except (UnfitError, IndexError) as error:
        raise ValueError(f"This model cannot be saved: {error}.") from error


def _column_names(clf: Any) -> tuple[str, ...]:
    """Return the names of the columns that an estimator was fitted to, or numbers for them."""
    for one in (clf, *(step for _, step in getattr(clf, "steps", ()))):
        names = getattr(one, "feature_names_in_", None)
        if names is not None:
            return tuple(map(str, names))
        size = getattr(one, "n_features_in_", None)
        if size is not None:
            return tuple(f"x{number}" for number in range(size))
    return ()


def load(path: PathName, trusted: Sequence[str] = ()) -> Any:
    """Load a classifier that `save`, or the command line, saved; no code from the file is run.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Types of a classifier that you brought, by their full names. Trust only what you know.

    Returns
    -------
    classifier

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(1000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0)
    >>> clf = lw.SUClassifier(prior=0.7).fit(*sample.pack())
    >>> with TemporaryDirectory() as folder:
    ...     lw.save(clf, Path(folder) / "model.skops")
    ...     loaded = lw.load(Path(folder) / "model.skops")
    >>> bool((loaded.coef_ == clf.coef_).all())
    True
    """
    return load_model(path, trusted).estimator


def _check_decides(name: str, model: Model, found: "ReadModel") -> None:
    """Refuse a classifier whose parts do not fit each other, by letting it decide.

    What decides is code of the types in our tables, none of the file.
    """
    steps = getattr(model.estimator, "steps", [("", model.estimator)])
    try:
        with warnings.catch_warnings(action="ignore"):
            last = steps[-1][1]
            _decide(last, _example_rows(last.n_features_in_))
            if len(steps) > 1:
                # A category may not be known, and data frames may be of another library.
                with suppress(ValueError, ImportError):
                    model.estimator.predict(_example_table(model.features, found))
    except _UNDECIDED as error:
        raise ValueError(
            f"{name} is damaged, or was saved with other versions of the libraries: its classifier "
            "lacks a part, or its parts do not fit each other; fit the model again."
        ) from error


def _example_table(features: Features, found: "ReadModel") -> Any:
    """Return a row as the first step of a pipeline takes it."""
    text = found.text_columns
    row = [
        text.get(at, "0" if name in features.text else 0.0)
        for at, name in enumerate(features.names)
    ]
    table = np.array([row], dtype=object if features.text else np.float64)
    if not found.needs_names:
        return table
    from pandas import DataFrame  # whoever chose columns by name has it

    return DataFrame(table, columns=list(features.names))


def _example_rows(n_columns: int) -> Any:
    """Return a few rows of plain numbers: what cannot be decided of them is of no use."""
    signs = np.where(np.arange(n_columns) % 2, 1.0, -1.0)
    return np.array([np.zeros(n_columns), np.ones(n_columns), signs, -signs])


def _decide(estimator: Any, rows: Any) -> None:
    """Ask a classifier for all that is asked of it later, and check its answers."""
    n_rows, n_classes = len(rows), len(estimator.classes_)
    answers = [(estimator.predict(rows), [n_rows])]
    if n_classes == 2:
        answers.append((estimator.decision_function(rows), [n_rows]))
    if n_classes != 2 or hasattr(estimator, "predict_proba"):
        answers.append((estimator.predict_proba(rows), [n_rows, n_classes]))
    for answer, shape in answers:
        if list(answer.shape) != shape:
            raise ValueError(f"An answer of shape {answer.shape}, not {tuple(shape)}.")
        if answer.dtype.kind == "f" and not np.isfinite(answer).all():
            raise ValueError("An answer that is not finite.")
