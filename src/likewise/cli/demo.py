"""``likewise demo``: the main job on generated data, beside the paper's and labeled learning."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import Json, Seed, note, say, show_json, track, waiting

if TYPE_CHECKING:
    from likewise.cli.picture import Example

__all__ = ["demo"]

Accuracies = Mapping[str, list[float]]

LOSSES = ("squared", "logistic", "double_hinge")
PAIR, LABELED = "pair", "labeled"
PRIOR = 0.7
N_DRAWS = 5
N_PAIRS = N_UNLABELED = 300
N_TEST = 2000
MEASURES = {"prior": "share of +1", "accuracy": "accuracy (new pairs)"}
N_ROWS, N_ANSWERS, ERROR_RATE = 300, 1000, 0.1
N_SUSPECTS = 20


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the picture, as PNG.")
    ] = Path("likewise-demo.png"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn from similar pairs on generated data, and compare with learning from labels."""
    from likewise.io import check_output

    check_output(output)
    accuracies, first = _draws(seed)
    with waiting("Judging without labels"):
        judged = _judged(first, seed)
    with waiting("Learning from answers, some of them wrong"):
        answered = _answered(seed)
    picture = _draw(output, accuracies, judged, seed)
    if as_json:
        show_json({**_as_json(accuracies, judged, picture), "answers": answered})
        return
    _show_accuracies(accuracies)
    _show_judged(judged)
    _show_answered(answered)
    if picture is not None:
        say(f"Picture: {picture}")
    say("Next, on your own files:")
    say("  likewise fit rows.csv pairs.csv -o model.skops")
    say("  likewise report rows.csv pairs.csv --model model.skops")
    say("  likewise predict model.skops new-rows.csv")


def _draws(seed: int) -> tuple[Accuracies, Any]:
    """Return the accuracies on fresh rows, draw by draw, and the first classifier from pairs."""
    accuracies: dict[str, list[float]] = {name: [] for name in (PAIR, *LOSSES, LABELED)}
    first = None
    for draw in track(range(N_DRAWS), "Learning from pairs", N_DRAWS):
        sample = _sample([seed, draw])
        fitted = _fit_all(sample, seed)
        for name, values in accuracies.items():
            values.append(fitted[name].score(sample.X_test, sample.y_test))
        first = fitted[PAIR] if first is None else first
    return accuracies, first


def _fit_all(sample: Any, seed: int) -> dict[str, Any]:
    from likewise import SUClassifierCV

    X, y = sample.pack()
    return {
        PAIR: _fit_pair(sample, seed),
        **{loss: SUClassifierCV(loss, prior=PRIOR).fit(X, y) for loss in LOSSES},
        LABELED: _fit_labeled(sample),
    }


def _sample(seeds: list[int]) -> Any:
    import numpy as np

    from likewise.datasets import make_waveform, sample_su

    rng = np.random.default_rng(seeds)
    pool = make_waveform(10_000, prior=PRIOR, random_state=rng)
    return sample_su(*pool, N_PAIRS, N_UNLABELED, n_test=N_TEST, prior=PRIOR, random_state=rng)


def _fit_pair(sample: Any, seed: int) -> Any:
    from likewise import PairClassifier

    # Pairs are drawn at random here, and the learner may know.
    return PairClassifier(pairing="random", random_state=seed).fit(*sample.pack())


def _fit_labeled(sample: Any) -> Any:
    """Fit the same rows with their true classes: what labels would have bought."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(*_labeled_rows(sample))


def _labeled_rows(sample: Any) -> tuple[Any, Any]:
    import numpy as np

    X = np.concatenate([sample.unlabeled, *sample.similar])
    return X, np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])


@dataclass(frozen=True)
class Judged:
    """What is said of a classifier without labels, and what labels say."""

    value: float
    interval: tuple[float, float]
    truth: float


def _judged(classifier: Any, seed: int) -> dict[str, Judged]:
    """Ask the classifier for the prior, and pairs that it did not learn from for its accuracy."""
    from likewise import label_free_report

    others = _sample([seed, N_DRAWS])
    accuracy = label_free_report(
        classifier, *others.pack(), trained_on_same_pairs=False, random_state=seed
    ).accuracy
    right = classifier.score(others.X_test, others.y_test)
    return {
        "prior": Judged(classifier.prior_, classifier.prior_interval_, PRIOR),
        "accuracy": Judged(accuracy.value, accuracy.interval, right),
    }


def _answered(seed: int) -> dict[str, Any]:
    """Learn from answers about the rows of one table, and compare with the truth."""
    import numpy as np

    from likewise import PairClassifier
    from likewise.datasets import make_waveform, sample_statements

    pool = make_waveform(5000, prior=PRIOR, random_state=seed)
    sample = sample_statements(
        *pool, N_ROWS, N_ANSWERS, error_rate=ERROR_RATE, n_test=N_TEST, random_state=seed
    )
    clf = PairClassifier(error_rate="auto", features="linear", random_state=seed)
    clf.fit(*sample.pack())
    return {
        "rows": N_ROWS,
        "answers": N_ANSWERS,
        "own_rows_right": float(np.mean(clf.labels_ == sample.y_table)),
        "new_rows_right": clf.score(sample.X_test, sample.y_test),
        "error_rate": clf.error_rate_,
        "error_rate_interval": list(clf.error_rate_interval_),
        "wrong_answers": float(np.mean(sample.wrong)),
        "suspects_wrong": int(np.sum(sample.wrong[clf.suspects_[:N_SUSPECTS]])),
    }


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    from statistics import mean, stdev

    return mean(values), stdev(values) / len(values) ** 0.5


def _draw(
    output: Path, accuracies: Accuracies, judged: Mapping[str, Judged], seed: int
) -> Path | None:
    """Save the picture and return where it is, or None without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        note("there is no picture, since matplotlib is missing: pip install 'likewise[plots]'.")
        return None
    from likewise.cli.picture import Comparison, save_picture

    found = {_title(name): _mean_and_error(values) for name, values in accuracies.items()}
    comparison = Comparison(f"Waveform, 21 features\n{_setting()}", found, baseline=PRIOR)
    estimates = {MEASURES[name]: (j.value, *j.interval, j.truth) for name, j in judged.items()}
    with waiting("Drawing"):
        save_picture(output, _example(seed), comparison, estimates)
    return output


def _example(seed: int) -> "Example":
    """Fit two features, which can be looked at."""
    from sklearn.datasets import make_moons
    from sklearn.svm import SVC

    from likewise import SUClassifierCV
    from likewise.cli.picture import Example
    from likewise.datasets import sample_su

    X, moon = make_moons(5000, noise=0.18, random_state=seed)
    sample = sample_su(X, 1 - 2 * moon, N_PAIRS, N_UNLABELED, prior=PRIOR, random_state=seed)
    X, y = sample.pack()
    return Example(
        X,
        y,
        _fit_pair(sample, seed),
        paper=SUClassifierCV(prior=PRIOR).fit(X, y),
        labeled=SVC().fit(*_labeled_rows(sample)),
    )


def _setting() -> str:
    return f"{N_PAIRS} similar pairs, {N_UNLABELED} unlabeled rows, {N_DRAWS} draws"


def _title(name: str) -> str:
    if name == PAIR:
        return "pairs (likewise)"
    if name == LABELED:
        return "true labels of the same rows"
    return f"pairs and prior (paper, {name.replace('_', '-')})"


def _as_json(
    accuracies: Accuracies, judged: Mapping[str, Judged], picture: Path | None
) -> dict[str, Any]:
    results = {}
    for name, values in accuracies.items():
        mean, error = _mean_and_error(values)
        results[name] = {"accuracy": mean, "standard_error": error}
    return {
        "data": "waveform",
        "prior": PRIOR,
        "similar_pairs": N_PAIRS,
        "unlabeled_rows": N_UNLABELED,
        "draws": N_DRAWS,
        "results": results,
        "without_labels": {name: asdict(value) for name, value in judged.items()},
        "picture": None if picture is None else str(picture),
    }


# Short lines and headings: the tables must fit a terminal of 60 columns.


def _show_accuracies(accuracies: Accuracies) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"Accuracy on fresh rows of Waveform\n{_setting()}",
        title_justify="left",
    )
    table.add_column("learned from")
    table.add_column("accuracy", justify="right")
    for name, values in accuracies.items():
        mean, error = _mean_and_error(values)
        table.add_row(_title(name), f"{mean:.1%} ± {error:.1%}")
    Console().print(table)


def _show_answered(answered: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"One table, {N_ROWS} rows, {N_ANSWERS} answers\nsame/different, some wrong",
        title_justify="left",
    )
    table.add_column("found without labels")
    table.add_column("")
    low, high = answered["error_rate_interval"]
    table.add_row("own rows classified right", f"{answered['own_rows_right']:.1%}")
    table.add_row("new rows classified right", f"{answered['new_rows_right']:.1%}")
    table.add_row(
        "wrong answers, estimated", f"{answered['error_rate']:.1%} ({low:.1%} to {high:.1%})"
    )
    table.add_row("wrong answers, in truth", f"{answered['wrong_answers']:.1%}")
    table.add_row(f"of {N_SUSPECTS} suspects are wrong", f"{answered['suspects_wrong']}")
    Console().print(table)


def _show_judged(judged: Mapping[str, Judged]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Known without labels (first draw)",
        title_justify="left",
    )
    table.add_column("measure")
    for heading in ("estimate", "95 % interval", "truth"):
        table.add_column(heading, justify="right")
    for name, found in judged.items():
        low, high = found.interval
        interval = f"{low:.1%} to {high:.1%}"
        table.add_row(MEASURES[name], f"{found.value:.1%}", interval, f"{found.truth:.1%}")
    Console().print(table)
