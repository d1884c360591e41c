"""One trial of a classification experiment: draw, learn, and say what came out.

Shared by the experiments that measure accuracy; it must not know which of them asks.
"""

import warnings
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from likewise.experiments.methods import METHODS, Answer
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw, Task, draw_task

__all__ = ["clustering_accuracy", "learn"]

COLLAPSED = 0.98
"""Above this share of one class, the accuracy is that of a constant answer."""


def learn(draw: Draw, method: str) -> Record:
    """Let a method learn from a sample and measure its predictions.

    Parameters
    ----------
    draw : Draw
    method : str
        A name in `likewise.experiments.methods.METHODS`.

    Returns
    -------
    dict
        ``accuracy`` (see `clustering_accuracy`), ``seconds``, ``share`` of the unlabeled rows in
        the larger predicted class, ``collapsed``, ``converged`` (whether the method gave no
        convergence warning), ``notes`` (its other warnings), ``prior_estimate`` or None.

    Examples
    --------
    >>> from likewise.experiments.classification import learn
    >>> from likewise.experiments.samples import Draw
    >>> record = learn(Draw("gaussians", 100, 100, 100, prior=0.7, trial=0), "mpckmeans")
    >>> record["accuracy"] > 0.8, record["collapsed"]
    (True, False)
    """
    task, y_test = draw_task(draw)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        found = METHODS[method].fit(task)
        seconds = perf_counter() - start
    _check(found, task)
    positive = float(np.mean(np.asarray(found.unlabeled) == 1))
    share = max(positive, 1.0 - positive)
    return {
        "accuracy": clustering_accuracy(found.test, y_test),
        "seconds": seconds,
        "share": share,
        "collapsed": share > COLLAPSED,
        "converged": not any(issubclass(one.category, ConvergenceWarning) for one in caught),
        "notes": _notes(caught),
        "prior_estimate": None,
        **found.extras,
    }


def clustering_accuracy(predicted: NDArray[Any], truth: NDArray[np.int64]) -> float:
    """Return the paper's ``1 - min(r, 1 - r)``, r being the error rate.

    Parameters
    ----------
    predicted, truth : arrays of shape (n_rows,)
        Classes -1 and +1.

    Returns
    -------
    float
        At least one half: which of the two clusters is class +1 is forgiven.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.experiments.classification import clustering_accuracy
    >>> clustering_accuracy(np.array([1, 1, 1, -1]), np.array([-1, -1, -1, -1]))
    0.75
    """
    right = float(np.mean(predicted == truth))
    return max(right, 1.0 - right)


def _check(found: Answer, task: Task) -> None:
    wanted = {"test": len(task.X_test), "unlabeled": len(task.unlabeled)}
    for name, count in wanted.items():
        classes = np.asarray(getattr(found, name))
        if classes.shape != (count,) or not np.isin(classes, (-1, 1)).all():
            raise ValueError(
                f"The answer's `{name}` must hold -1 or +1 for each of {count} rows; its shape is "
                f"{classes.shape} and its values are {np.unique(classes)[:5]}."
            )


def _notes(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    others = (one for one in caught if not issubclass(one.category, ConvergenceWarning))
    return list(dict.fromkeys(" ".join(str(one.message).split()) for one in others))
