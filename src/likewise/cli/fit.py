"""``likewise fit``: a table and statements about its rows in, a saved classifier out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    PairsPath,
    TablePath,
    chosen_columns,
    packed,
    read_inputs,
)
from likewise.cli.magnitudes import check_magnitudes
from likewise.cli.options import (
    CountOption,
    ErrorsOption,
    Pairing,
    PairingOption,
    check_level,
    refuse_given,
    statement_settings,
)
from likewise.cli.pair_method import known_option, pair_pipeline, summarise_pair, write_rows
from likewise.cli.sources import (
    EngineName,
    EngineOption,
    SchedulerOption,
    learn_from_files,
    open_inputs,
)
from likewise.cli.su_method import (
    PAPER_ALPHAS,
    LossName,
    RewriteName,
    check_consistent,
    check_prior_option,
    su_pipeline,
    summarise_su,
)
from likewise.cli.terminal import Json, Seed, say, show_json, waiting
from likewise.cli.wording import option_words

if TYPE_CHECKING:
    from likewise.io import Inputs

__all__ = ["fit"]


class FitMethod(StrEnum):
    """How to learn."""

    PAIR = "pair"
    SU = "su"


class ModelName(StrEnum):
    """What gives class probabilities."""

    SCORES = "scores"
    TREES = "trees"


class PositiveClass(StrEnum):
    """Which class is +1 where nobody has said what its share is."""

    MAJORITY = "majority"
    MINORITY = "minority"


def fit(
    table: TablePath,
    pairs: PairsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")],
    method: Annotated[
        FitMethod,
        typer.Option(help="The pair likelihood, or su for the paper's risk minimizer."),
    ] = FitMethod.PAIR,
    model: Annotated[
        ModelName | None,
        typer.Option(
            help="scores: linear and RBF, if not given. trees: gradient boosting, which takes "
            "empty cells and many categories."
        ),
    ] = None,
    positive: Annotated[
        PositiveClass | None,
        typer.Option(help="Which class is +1, since pairs cannot tell: majority, if not given."),
    ] = None,
    classes: CountOption = None,
    pairing: PairingOption = None,
    errors: ErrorsOption = None,
    known: Annotated[
        Path | None,
        typer.Option(help="Columns id, class: known rows, which name the classes."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Save id, class and its probability for the rows of TABLE, .csv or .parquet."
        ),
    ] = None,
    loss: Annotated[
        LossName | None, typer.Option(help="The loss to learn with (su): squared, if not given.")
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(help="Share of class +1 among the rows, not 0.5 (su); else estimated."),
    ] = None,
    alpha: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBERS",
            help="Penalty (su); of several, as 0.1,0.001, cross-validation chooses.",
        ),
    ] = None,
    rewrite: Annotated[
        RewriteName | None,
        typer.Option(help="Which rows the risk is made of (su): all pairs, if not given."),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="Level of the intervals: 0.95, if not given.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of TABLE with weights of its rows, as of a survey; it is no feature.",
        ),
    ] = None,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    engine: EngineOption = None,
    scheduler: SchedulerOption = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn a classifier from the rows of TABLE and PAIRS of them known to be alike, or to differ.

    Numbers are standardized and text columns become categories, inside the saved model.
    With --engine, rows stay in files of Parquet and may be more than fit into memory.
    --model, --classes, --pairing, --errors, --known and --rows are options of the pair method.
    """
    from likewise.io import check_output

    files = [table, pairs, *([] if known is None else [known])]
    check_output(output, inputs=files)
    if rows is not None:
        _check_rows_file(rows, output, files)
    of_table = {"--errors": errors, "--known": known, "--rows": rows}
    of_pair = {"--model": model, "--classes": classes, "--pairing": pairing, **of_table}
    of_su = {"--loss": loss, "--prior": prior, "--alpha": alpha, "--rewrite": rewrite}
    if method is FitMethod.SU:
        refuse_given(of_pair, "is an option of the pair method: leave out --method su.")
        check_prior_option(prior, positive)
    else:
        refuse_given(of_su, "is an option of the paper's method: add --method su.")
    if known is not None:
        named = "says which class is +1, but with --known classes have names: leave it out."
        refuse_given({"--positive": positive}, named)
    common: dict[str, Any] = {
        "seed": seed,
        "positive": (positive or PositiveClass.MAJORITY).value,
        "level": _checked_level(level, prior),
    }
    chosen: dict[str, Any] = {
        "loss": (loss or LossName.SQUARED).value,
        "alphas": PAPER_ALPHAS if alpha is None else _numbers(alpha),
        "prior": prior,
        "rewrite": (rewrite or RewriteName.AUTO).value,
    }
    settings = statement_settings(classes, pairing, errors)
    _refuse_auto(settings["n_classes"], known, model)
    columns = chosen_columns(id_column, features, drop) | _weight_column(weight, engine)
    has_trees = model is ModelName.TREES
    if has_trees and engine is not None:
        raise ValueError("--model trees learns from rows in memory: leave out --engine.")
    as_statements = method is FitMethod.PAIR
    with _opened(table, pairs, engine, scheduler, columns, as_statements, has_trees) as inputs:
        if not inputs.is_one_table:
            asked = pairing if pairing is Pairing.ASKED else None
            by_ids = "is for pairs that name rows of TABLE by their ids, in columns left and right."
            refuse_given({**of_table, "--pairing asked": asked}, by_ids)
        if method is FitMethod.PAIR:
            pipeline = pair_pipeline(inputs, settings, has_trees=has_trees, **common)
        else:
            if engine is None:
                check_consistent(inputs)
            pipeline = su_pipeline(inputs, **chosen, **common)
        names = {} if known is None else _read_known(known, inputs, settings["n_classes"])
        with waiting("Fitting") if engine is None else nullcontext():
            summary = _learn_and_save(pipeline, inputs, names, output)
            if rows is not None:
                write_rows(rows, pipeline[-1], inputs)
                summary = replace(summary, rows_file=str(rows))
    if as_json:
        show_json(asdict(summary))
    else:
        say(str(summary))


def _opened(
    table: Path,
    pairs: Path,
    engine: EngineName | None,
    scheduler: str | None,
    columns: dict[str, Any],
    as_statements: bool,
    gaps: bool,
) -> "AbstractContextManager[Inputs]":
    """Read the files, or leave them where they are and open them."""
    if engine is not None:
        return open_inputs(
            table,
            pairs,
            engine=engine,
            scheduler=scheduler,
            as_statements=as_statements,
            **columns,
        )
    _check_in_memory(scheduler)
    inputs = read_inputs(table, pairs, gaps=gaps, **columns)
    check_magnitudes(inputs.table, inputs.features, inputs.X)
    return nullcontext(inputs)


def _learn_and_save(pipeline: Any, inputs: "Inputs", known: dict[str, Any], output: Path) -> Any:
    """Fit, save the model, and return what it came to."""
    from likewise import PairClassifier
    from likewise.engines.files import SourceInputs
    from likewise.io import Model, save_model

    is_pair = isinstance(pipeline[-1], PairClassifier)
    if isinstance(inputs, SourceInputs):
        with option_words(inputs.id_of) as warnings:
            learn_from_files(pipeline, inputs, *known.values())
    else:
        with option_words(inputs.id_of) as warnings:
            pipeline.fit(*packed(inputs), **known, **_weights(pipeline, inputs))
    positive = _positive_name(pipeline[-1]) if known else None
    save_model(output, Model(pipeline, inputs.features, inputs.table.id_column, positive))
    summarise: Any = summarise_pair if is_pair else summarise_su
    return summarise(pipeline, inputs, str(output), warnings)


def _checked_level(level: float | None, prior: float | None) -> float:
    """Return the level of intervals; refuse one where there is no interval."""
    if level is None:
        return 0.95
    if prior is not None:
        raise ValueError("--level is for the interval of an estimated prior: leave out --prior.")
    check_level(level)
    return level


def _weight_column(weight: str | None, engine: EngineName | None) -> dict[str, Any]:
    if weight is None:
        return {}
    if engine is not None:
        raise ValueError("--weight is for rows in memory: leave out --engine.")
    return {"weight": weight}


def _weights(pipeline: Any, inputs: "Inputs") -> dict[str, Any]:
    """Return weights of rows as the last step of a pipeline takes them."""
    if inputs.weights is None:
        return {}
    return {f"{pipeline.steps[-1][0]}__sample_weight": inputs.weights}


def _check_in_memory(scheduler: str | None) -> None:
    if scheduler is not None:
        raise ValueError("--scheduler is the address of a Dask scheduler: add --engine dask.")


def _check_rows_file(rows: Path, output: Path, files: Sequence[Path]) -> None:
    from likewise.io import check_output

    check_output(rows, table=True, inputs=files)
    if rows.resolve() == output.resolve():
        raise ValueError(f"--rows and --output both name {rows}; name two files.")


def _refuse_auto(n_classes: Any, known: Path | None, model: Any) -> None:
    if n_classes == "auto":
        alone = "needs a number of classes: give it instead of --classes auto."
        refuse_given({"--known": known, "--model trees": model}, alone)


def _read_known(path: Path, inputs: "Inputs", n_classes: Any) -> dict[str, Any]:
    from likewise.io import read_known

    return known_option(read_known(path, inputs.table), n_classes)


def _positive_name(classifier: Any) -> str | None:
    """Return what the second of two classes is called."""
    names = classifier.classes_.tolist()
    return str(names[1]) if len(names) == 2 else None


def _numbers(texts: Sequence[str]) -> tuple[float, ...]:
    listed = ",".join(texts)
    try:
        return tuple(float(part) for part in listed.split(","))
    except ValueError:
        raise ValueError(f"--alpha takes numbers, as 0.1,0.001, but got {listed!r}.") from None
