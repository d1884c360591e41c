"""Nets from statements about MNIST, beside the published comparison (SpherePair's protocol).

Pairs of the 60,000 training rows are drawn at random and answered "same" or "different", ten
classes; accuracy on the 10,000 test rows, classes matched one to one. Beside that: similar pairs
alone, from which nobody else learns ten classes, and answers of which some are wrong. Runs when it
is asked for by name; wants a GPU.
"""

import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.published import SPHEREPAIR_METHODS, SPHEREPAIR_MNIST
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group, mean_of
from likewise.experiments.tables import mean_cell
from likewise.pages.document import Cell, Section, Table
from likewise.statements.packing import pack

__all__ = ["EXPERIMENT", "METHODS", "NetMethod", "measure", "sections"]

_FILE = "mnist.npz"
_N_CLASSES = 10
_PLAIN = {
    "consistency": None,
    "information_weight": 0.0,
    "neighbors": 0,
    "restarts": 1,
    "moves": 0,
}
"""The likelihood of pairs alone, as MCL has it."""


@dataclass(frozen=True)
class NetMethod:
    """One column: how many statements of which kind, and what learns from them.

    Attributes
    ----------
    title : str
    n : int
        Number of statements.
    module : str
        "mlp" (784-512-512-10) or "cnn" (three small layers of convolutions).
    similar_only : bool
    wrong : float
        Share of wrong answers.
    parameters : dict
        Of `likewise.nets.PairNetClassifier`, where they are not its defaults.
    """

    title: str
    n: int
    module: str = "mlp"
    similar_only: bool = False
    wrong: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)


METHODS: dict[str, NetMethod] = {
    **{f"net-{n}": NetMethod("PairNetClassifier", n) for n in (1000, 5000, 10000)},
    "wrong-9000": NetMethod(
        "9,000 answers, 15 % of them wrong", 9000, wrong=0.15, parameters={"error_rate": "auto"}
    ),
    **{
        f"similar-{n}": NetMethod(f"{n:,} similar pairs alone, small CNN", n, "cnn", True)
        for n in (1000, 5000)
    },
    **{
        f"alone-{n}": NetMethod("likelihood of pairs alone", n, parameters=_PLAIN)
        for n in (1000, 5000, 10000)
    },
}
"""What is run, by name."""


def measure(*, experiment: str, dataset: str, method: str, trial: int) -> Record:
    """Let one net learn from one draw of statements.

    Parameters
    ----------
    experiment, dataset : str
    method : str
        A name in `METHODS`.
    trial : int
        The seed.

    Returns
    -------
    dict
        ``accuracy`` on test rows, ``rows_accuracy`` of ``labels_`` on the training rows,
        ``held_out`` log-likelihoods of starts and moves, ``error_rate`` and ``device``.
    """
    import torch

    from likewise.nets import PairNetClassifier

    chosen = METHODS[method]
    table, classes, test_table, test_classes = _mnist()
    X, y = pack(table, **_statements(chosen, classes, trial))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = PairNetClassifier(
        partial(_module, chosen.module),
        _N_CLASSES,
        device=device,
        random_state=trial,
        **chosen.parameters,
    ).fit(X, y)
    return {
        "accuracy": net.score(test_table, test_classes),
        "rows_accuracy": net.score(X, classes),
        "held_out": [round(one.log_likelihood, 5) for one in net.held_out_],
        "error_rate": net.error_rate_,
        "device": device,
    }


@lru_cache(maxsize=1)
def _mnist() -> tuple[NDArray[Any], ...]:
    with np.load(_path(), allow_pickle=False) as stored:
        tables = [(stored[name] / 255.0).astype(np.float32) for name in ("X_train", "X_test")]
        classes = [stored[name].astype(np.int64) for name in ("y_train", "y_test")]
    return tables[0], classes[0], tables[1], classes[1]


def _path() -> Path:
    return Path(os.environ.get("LIKEWISE_DATA", ".")) / _FILE


def _check(names: AbstractSet[str]) -> None:
    """Raise unless what a trial needs is here."""
    others = names - {"mnist"}
    if others:
        raise ValueError(f"The experiment 'nets' is about mnist, not {min(others)!r}.")
    if find_spec("torch") is None or find_spec("skorch") is None:
        raise ValueError("The experiment 'nets' needs torch: pip install 'likewise[torch]'")
    if not _path().exists():
        raise ValueError(
            f"The experiment 'nets' needs {_FILE} (arrays X_train, y_train, X_test, y_test) in the "
            "folder that the environment variable LIKEWISE_DATA names."
        )


def _statements(chosen: NetMethod, classes: NDArray[Any], trial: int) -> dict[str, NDArray[Any]]:
    """Draw pairs of rows and what is said of them."""
    draw = np.random.default_rng(trial)
    n_drawn = chosen.n * (2 * _N_CLASSES if chosen.similar_only else 2)
    pairs = draw.integers(classes.size, size=(n_drawn, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    if chosen.similar_only:
        return {"similar": pairs[same][: chosen.n]}
    pairs, same = pairs[: chosen.n], same[: chosen.n]
    said = same ^ (draw.random(chosen.n) < chosen.wrong)
    return {"similar": pairs[said], "dissimilar": pairs[~said]}


def _module(name: str) -> Any:
    """Return a fresh net."""
    from torch import nn

    if name == "mlp":
        return nn.Sequential(
            nn.Linear(784, 512),
            nn.ReLU(),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Linear(512, _N_CLASSES),
        )
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 25, 128),
        nn.ReLU(),
        nn.Linear(128, _N_CLASSES),
    )


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of nets.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    found = {
        method: mean_of(own, "accuracy") for (method,), own in group(records, "method").items()
    }
    sizes = sorted({n for _, n in SPHEREPAIR_MNIST})
    columns: list[tuple[str, Callable[[int], Cell]]] = [
        *((f"{name}, published", partial(_published, name)) for name in SPHEREPAIR_METHODS),
        ("likelihood alone", lambda n: mean_cell(found.get(f"alone-{n}"))),
        ("PairNetClassifier", lambda n: mean_cell(found.get(f"net-{n}"), bold=True)),
    ]
    comparison = Table(
        "Test accuracy on MNIST in percent: mean and standard error",
        ("answered pairs", *(title for title, _ in columns)),
        tuple(
            (Cell(f"{n:,}", n), *(cell(n) for _, cell in columns))
            for n in sizes
            if {f"alone-{n}", f"net-{n}"} & found.keys()
        ),
    )
    others = [name for name in METHODS if name in found and not name.startswith(("net", "alone"))]
    more = Table(
        "Test accuracy in percent of what has no published number",
        ("what is learned from", "PairNetClassifier"),
        tuple((Cell(METHODS[name].title), mean_cell(found[name])) for name in others),
    )
    said = (
        "Random pairs of the 60,000 training rows were answered; a plain 784-512-512-10 net. "
        "Published: SpherePair (NeurIPS 2025), 5 trials; its own net is larger and pretrained, "
        "MCL is the same plain net with the likelihood of pairs alone."
    )
    tables = tuple(table for table in (comparison, more) if table.rows)
    return [Section("Nets from pairs", (said,), tables)]


def _published(name: str, n: int) -> Cell:
    value = SPHEREPAIR_MNIST[name, n]
    return Cell(f"{value:.1f}", value)


EXPERIMENT = Experiment(
    name="nets",
    title="Nets from pairs, beside the published comparison",
    measure=measure,
    outcome="accuracy",
    full=Plan(("mnist",), tuple(METHODS), 5),
    quick=Plan(("mnist",), ("net-1000", "alone-1000"), 1),
    methods=METHODS,
    sections=sections,
    check=_check,
    by_name_only=True,
)
