"""``likewise demo``: the main job on generated data, beside a classifier that saw every label."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import Json, Seed, note, show_json, track, waiting

if TYPE_CHECKING:
    from likewise.cli.picture import Example

__all__ = ["demo"]

Accuracies = Mapping[str, list[float]]

LOSSES = ("squared", "logistic", "double_hinge")
LABELED = "labeled"
PRIOR = 0.7
N_DRAWS = 10
N_PAIRS = N_UNLABELED = 500
N_TEST = 2000


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
    accuracies = _accuracies(seed)
    picture = _draw(output, accuracies, seed)
    if as_json:
        show_json(_as_json(accuracies, picture))
        return
    _show_table(accuracies)
    if picture is not None:
        typer.echo(f"Picture: {picture}")
    typer.echo("Next, on your own files:")
    typer.echo("  likewise prior rows.csv pairs.csv")
    typer.echo("  likewise fit rows.csv pairs.csv -o model.skops")
    typer.echo("  likewise predict model.skops new-rows.csv -o predictions.csv")


def _accuracies(seed: int) -> Accuracies:
    """Return the accuracy on fresh rows of every method, once per draw."""
    found: dict[str, list[float]] = {name: [] for name in (*LOSSES, LABELED)}
    for draw in track(range(N_DRAWS), "Learning from pairs", N_DRAWS):
        for name, value in _one_draw([seed, draw]).items():
            found[name].append(value)
    return found


def _one_draw(seeds: list[int]) -> dict[str, float]:
    import numpy as np

    from likewise import SUClassifierCV
    from likewise.datasets import make_waveform, sample_su

    rng = np.random.default_rng(seeds)
    pool = make_waveform(10_000, prior=PRIOR, random_state=rng)
    sample = sample_su(*pool, N_PAIRS, N_UNLABELED, n_test=N_TEST, prior=PRIOR, random_state=rng)
    X, y = sample.pack()
    fitted = {loss: SUClassifierCV(loss, prior=PRIOR).fit(X, y) for loss in LOSSES}
    fitted[LABELED] = _fit_labeled(sample)
    return {name: clf.score(sample.X_test, sample.y_test) for name, clf in fitted.items()}


def _fit_labeled(sample: Any) -> Any:
    """Fit the same rows with their true classes: what labels would have bought."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    X = np.concatenate([sample.unlabeled, *sample.similar])
    y = np.concatenate([sample.y_unlabeled, sample.y_similar, sample.y_similar])
    return LogisticRegression(max_iter=1000).fit(X, y)


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    from statistics import mean, stdev

    return mean(values), stdev(values) / len(values) ** 0.5


def _draw(output: Path, accuracies: Accuracies, seed: int) -> Path | None:
    """Save the picture and return where it is, or None without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        note("there is no picture, since matplotlib is missing: pip install 'likewise[plots]'.")
        return None
    from likewise.cli.picture import Comparison, save_picture

    found = {_title(name): _mean_and_error(values) for name, values in accuracies.items()}
    comparison = Comparison(f"Waveform, 21 features:\n{_setting()}", found, chance=PRIOR)
    with waiting("Drawing"):
        save_picture(output, _example(seed), comparison)
    return output


def _example(seed: int) -> "Example":
    """Fit two features, which can be looked at."""
    from likewise import SUClassifier
    from likewise.cli.picture import Example
    from likewise.datasets import make_gaussians, sample_su

    pool = make_gaussians(5000, separation=3.0, prior=PRIOR, random_state=seed)
    sample = sample_su(*pool, N_PAIRS, N_UNLABELED, prior=PRIOR, random_state=seed)
    X, y = sample.pack()
    return Example(X, y, SUClassifier(prior=PRIOR).fit(X, y), _fit_labeled(sample))


def _setting() -> str:
    return f"{N_PAIRS} similar pairs, {N_UNLABELED} unlabeled rows, {N_DRAWS} draws"


def _title(name: str) -> str:
    if name == LABELED:
        return "the same rows, true labels"
    return f"similar pairs, {name.replace('_', '-')} loss"


def _as_json(accuracies: Accuracies, picture: Path | None) -> dict[str, Any]:
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
        "picture": None if picture is None else str(picture),
    }


def _show_table(accuracies: Accuracies) -> None:
    from rich.console import Console
    from rich.table import Table

    # Short lines and headings: the table must fit a terminal of 60 columns.
    table = Table(title=f"Accuracy on fresh rows of Waveform\n{_setting()}", title_justify="left")
    table.add_column("learned from")
    table.add_column("accuracy", justify="right")
    for name, values in accuracies.items():
        mean, error = _mean_and_error(values)
        table.add_row(_title(name), f"{mean:.1%} ± {error:.1%}")
    Console().print(table)
