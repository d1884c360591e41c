"""``likewise report``: how accurate a classifier is, from a table and pairs, without labels."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.deciding import check_finite, confidence, naming_model
from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    PairsPath,
    TablePath,
    chosen_columns,
    packed,
    read_inputs,
    read_inputs_of,
)
from likewise.cli.magnitudes import check_made, check_magnitudes
from likewise.cli.options import (
    CountOption,
    ErrorsOption,
    PairingOption,
    TrustOption,
    check_level,
    refuse_given,
    statement_settings,
)
from likewise.cli.pair_method import first_suspects, pair_pipeline, suspect_in_words
from likewise.cli.report_page import save_report
from likewise.cli.terminal import Json, Seed, say, show_json, waiting
from likewise.cli.wording import option_words

if TYPE_CHECKING:
    from likewise._types import FloatArray
    from likewise.io import Inputs
    from likewise.report.label_free import LabelFreeReport

__all__ = ["report"]

AsFitted = Callable[[Any], Any]


def report(
    table: TablePath,
    pairs: PairsPath,
    model: Annotated[
        Path | None,
        typer.Option(help="A model that `likewise fit` saved; if not given, one is fitted."),
    ] = None,
    same_pairs: Annotated[
        bool,
        typer.Option(
            "--same-pairs/--new-pairs", help="Whether the model was fitted on these pairs."
        ),
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Save the report too: .html with pictures, or .json."),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    classes: CountOption = None,
    pairing: PairingOption = None,
    errors: ErrorsOption = None,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
    trust: TrustOption = None,
    as_json: Json = False,
) -> None:
    """Say how accurate a classifier is, from the rows of TABLE and PAIRS of them, without labels.

    Where the classifier learned from these pairs, it is refitted without some of them in turn, and
    judged by those that are left out.
    """
    check_level(level)
    if output is not None:
        _check_output(output, (table, pairs, *([] if model is None else [model])))
    settings = statement_settings(classes, pairing, errors)
    as_fitted: AsFitted = _as_they_are
    if model is None:
        if not same_pairs:
            raise ValueError(
                "--new-pairs needs --model: without it, a classifier is fitted on these pairs."
            )
        inputs = read_inputs(table, pairs, **chosen_columns(id_column, features, drop))
        check_magnitudes(inputs.table, inputs.features, inputs.X)
        pipeline = pair_pipeline(inputs, settings, seed=seed)
    else:
        of_columns = {"--id": id_column, "--features": features, "--drop": drop}
        of_fit = {"--classes": classes, "--pairing": pairing, "--errors": errors}
        both = "and --model do not go together: leave it out, since a model knows it."
        refuse_given({**of_columns, **of_fit}, both)
        pipeline, inputs, as_fitted, scores = _load(model, table, pairs, trust or ())
    # One block for both, so that pairs without a signal are told once: by the error.
    with waiting("Judging"), option_words(inputs.id_of) as warnings:
        if model is None:
            pipeline.fit(*packed(inputs))
        X, y = _transformed(pipeline, inputs, as_fitted)
        if model is not None:
            check_made(model, table, X)
            check_made(model, table, scores)
        found = _judge(pipeline, X, y, level=level, same_pairs=same_pairs, seed=seed)
    suspects = first_suspects(pipeline[-1], inputs)
    facts = {
        "table": str(table),
        "pairs": str(pairs),
        "model": None if model is None else str(model),
    }
    content = {
        **facts,
        **inputs.counts(),
        **found.to_dict(),
        "suspect_count": len(getattr(pipeline[-1], "suspects_", ())),
        "suspects": suspects,
        "warnings": warnings,
    }
    if output is not None:
        content["output"] = str(output)
        save_report(output, content, found, facts, pipeline[-1], X, y)
    if as_json:
        show_json(content)
        return
    say(str(found))
    if suspects:
        say(f"Statements that may be wrong: {content['suspect_count']:,}; the first are")
        for suspect in suspects[:5]:
            say(f"  {suspect_in_words(suspect)}")
    if output is not None:
        say(f"Report: {output}")


def _as_they_are(rows: Any) -> Any:
    return rows


def _check_output(output: Path, inputs: Sequence[Path]) -> None:
    from likewise.io import check_output

    check_output(output, inputs=inputs)
    if output.suffix.lower() not in {".html", ".json"}:
        raise ValueError(
            f"{output} is neither an .html nor a .json file by its name; a report is one of the "
            "two."
        )


def _load(
    model: Path, table: Path, pairs: Path, trusted: Sequence[str]
) -> "tuple[Any, Inputs, AsFitted, FloatArray]":
    """Return the pipeline of a model, what it is judged by, what gives rows their names, scores."""
    from likewise.io import load_model

    loaded = load_model(model, trusted)  # first: what is refused should cost no more than that
    import numpy as np
    from sklearn.pipeline import Pipeline, make_pipeline

    inputs = read_inputs_of(loaded, table, pairs)
    check_magnitudes(inputs.table, inputs.features, inputs.X)
    is_pipeline = isinstance(loaded.estimator, Pipeline)
    pipeline = loaded.estimator if is_pipeline else make_pipeline(loaded.estimator)
    with naming_model(model, table):
        scores = confidence(pipeline, loaded.as_fitted(inputs.X))
    check_finite(scores, model, inputs.table)
    return pipeline, inputs, loaded.as_fitted, np.column_stack(list(scores.values()))


def _transformed(pipeline: Any, inputs: "Inputs", as_fitted: AsFitted) -> tuple[Any, Any]:
    """Return packed rows as the classifier at the end of a fitted pipeline sees them."""
    packed_rows, y = packed(inputs)
    rows = as_fitted(packed_rows)
    return (pipeline[:-1].transform(rows) if len(pipeline) > 1 else rows), y


def _judge(
    pipeline: Any, X: Any, y: Any, *, level: float, same_pairs: bool, seed: int
) -> "LabelFreeReport":
    from likewise import label_free_report

    return label_free_report(
        pipeline[-1], X, y, level=level, trained_on_same_pairs=same_pairs, random_state=seed
    )
