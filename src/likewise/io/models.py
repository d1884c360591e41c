"""Models as skops files, never pickles: loading one runs no code from the file."""

import copy
import io
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from likewise._version import __version__
from likewise.io.features import Features
from likewise.io.files import PathName, replacing
from likewise.io.trees import check_trees
from likewise.io.wording import first_line, listed

__all__ = ["Model", "load", "load_model", "save", "save_model"]

_FORMAT = "likewise-model"
_FORMAT_VERSION = 1
_TRUSTED_TYPES = frozenset(
    {
        "likewise.classifiers.pair.PairClassifier",
        "likewise.classifiers.su.SUClassifier",
        "likewise.classifiers.su.SUClassifierCV",
        "likewise.scores.encoding.CategoryNumbers",
        "likewise.scores.features.RadialFeatures",
        "likewise.scores.models.ClassScores",
        "likewise.search.em.History",
        "likewise.search.information.PairInformation",
        "likewise.scores.maps.FeatureMap",
        "likewise.search.pairing.PairingTest",
        "likewise.search.tried.Selection",
        "likewise.search.tried.Tried",
        "likewise.prior.base.PriorEstimate",
        "likewise.prior.kernel_mean.KernelMeanPrior",
        "likewise.prior.pair_likelihood.PairLikelihoodPrior",
        "likewise.prior.pair_moments.PairMomentPrior",
        "likewise.statements.folds.PairKFold",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    }
)
"""What a model file may hold besides what skops itself trusts (numpy and scikit-learn types)."""

_OF_ROWS = ("labels_", "row_proba_", "suspects_", "wrong_proba_")
"""What a classifier keeps of the rows that it learned from, and of what was said about them."""

_MALFORMED = (AttributeError, ImportError, LookupError, TypeError, ValueError)
"""What skops raises when a well-formed archive describes objects that cannot be."""

_UNDECIDED = (*_MALFORMED, ArithmeticError, AssertionError, RuntimeError)
"""What a classifier raises whose parts are missing, or not what they should be."""


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


def save_model(path: PathName, model: Model) -> None:
    """Save a model in the skops format; an old file stays until the new one is whole.

    What the estimator keeps of single rows that it learned from (their classes, and which
    statements about them may be wrong) is not saved.

    Parameters
    ----------
    path : path
    model : Model
    """
    import skops.io

    state = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "likewise_version": model.version,
        "features": list(model.features.names),
        "text_features": sorted(model.features.text),
        "gaps": model.features.gaps,
        "id_column": model.id_column,
        "positive_class": model.positive_class,
        "estimator": _without_rows(model.estimator),
    }
    with replacing(path) as stream:
        skops.io.dump(state, stream)


def _without_rows(estimator: Any) -> Any:
    """Return an estimator, or a copy of it that does not know the rows that it learned from."""
    if hasattr(estimator, "steps"):
        pipeline = copy.copy(estimator)
        *before, (name, last) = estimator.steps
        pipeline.steps = [*before, (name, _without_rows(last))]
        return pipeline
    information = getattr(estimator, "pair_information_", None)
    if information is None and not any(hasattr(estimator, name) for name in _OF_ROWS):
        return estimator
    stripped = copy.copy(estimator)
    for name in _OF_ROWS:
        stripped.__dict__.pop(name, None)
    if information is not None:
        arrays = ("log_p", "left", "right", "is_similar", "folds")
        empty = {name: getattr(information, name)[:0].copy() for name in arrays}
        stripped.pair_information_ = replace(information, **empty)
    return stripped


def load_model(path: PathName, trusted: Sequence[str] = ()) -> Model:
    """Load a model that `save_model` saved, running no code from the file.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Types, by their full names, that the file may hold beside those of likewise, numpy and
        scikit-learn that are always trusted. Trust only what you know: code of these types runs.

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
    data = path.read_bytes()
    _check_skops_archive(path, data)
    state = _load_trusted(path, data, trusted)
    if not isinstance(state, dict) or state.get("format") != _FORMAT:
        raise ValueError(f"{path} is a skops file, but not a model that likewise saved.")
    if state.get("format_version") != _FORMAT_VERSION:
        raise ValueError(
            f"{path} was saved by likewise {state.get('likewise_version')} in a format that this "
            f"version ({__version__}) does not know; use that version, or fit the model again."
        )
    try:
        model = Model(
            estimator=state["estimator"],
            features=Features(
                tuple(state["features"]),
                frozenset(state["text_features"]),
                bool(state.get("gaps", False)),
            ),
            id_column=state["id_column"],
            positive_class=state["positive_class"],
            version=state["likewise_version"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: it lacks a part of a likewise model.") from error
    check_trees(path, model.estimator)
    if not _is_brought(model.estimator):
        _check_decides(path, model)
    return model


def save(clf: Any, path: PathName) -> None:
    """Save a fitted classifier in the skops format, without the rows that it learned from.

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
    names = getattr(clf, "feature_names_in_", None)
    if names is None:
        names = [f"x{number}" for number in range(getattr(clf, "n_features_in_", 0))]
    save_model(path, Model(clf, Features(tuple(map(str, names))), "id"))


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
    """
    return load_model(path, trusted).estimator


def _is_brought(estimator: Any) -> bool:
    """Tell whether a classifier holds one that a user brought, who alone knows what it takes."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return getattr(last, "estimator", None) is not None


def _check_skops_archive(path: Path, data: bytes) -> None:
    if not data:
        raise ValueError(f"{path} is empty, not a likewise model.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            damaged = archive.testzip()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise ValueError(
            f"{path} is not a likewise model, or it is cut short: models are skops files, never "
            "pickles; fit the model again."
        ) from error
    if "schema.json" not in names:
        raise ValueError(f"{path} is an archive, but not a model that likewise saved.")
    if damaged is not None:
        raise ValueError(f"{path} is damaged (in {damaged}); fit the model again.")


def _load_trusted(path: Path, data: bytes, trusted: Sequence[str]) -> Any:
    import skops.io

    try:
        untrusted = set(skops.io.get_untrusted_types(data=data))
        refused = sorted(untrusted - _TRUSTED_TYPES - set(trusted))
        if not refused:
            return skops.io.loads(data, trusted=sorted(untrusted))
    except _MALFORMED as error:
        raise ValueError(f"{path} is damaged: {first_line(error)}.") from error
    raise ValueError(
        f"{path} is refused: it holds types that no likewise {__version__} model holds "
        f"({listed(refused)}). If they are of a classifier that you brought, trust them by name: "
        "trusted=[...] in likewise.load, --trust NAME on the command line."
    )


def _check_decides(path: Path, model: Model) -> None:
    """Refuse a classifier that lacks something or whose arrays do not fit, by letting it decide.

    What decides is code of the types that are trusted, none of the file.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            _decide(model.estimator, _row_of_zeros(model.features))
    except _UNDECIDED as error:
        raise ValueError(
            f"{path} is damaged, or was saved with other versions of the libraries: its classifier "
            "lacks a part, or its parts do not fit each other; fit the model again."
        ) from error


def _row_of_zeros(features: Features) -> Any:
    values = ["0" if name in features.text else 0.0 for name in features.names]
    return np.array([values], dtype=object if features.text else np.float64)


def _decide(estimator: Any, row: Any) -> None:
    """Ask a classifier for all that is asked of it later, and check the shapes of its answers."""
    n_classes = len(estimator.classes_)
    answers = [(estimator.predict(row), [1])]
    if n_classes == 2:
        answers.append((estimator.decision_function(row), [1]))
    if n_classes != 2 or hasattr(estimator, "predict_proba"):
        answers.append((estimator.predict_proba(row), [1, n_classes]))
    for answer, shape in answers:
        if list(answer.shape) != shape:
            raise ValueError(f"An answer of shape {answer.shape}, not {tuple(shape)}.")
