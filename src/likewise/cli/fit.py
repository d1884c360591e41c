"""``likewise fit``: a table and pairs of its rows in, a saved classifier out."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    Inputs,
    PairsPath,
    TablePath,
    read_inputs,
)
from likewise.cli.pair_method import Pairing, pair_pipeline, summarise_pair
from likewise.cli.sources import EngineOption, SchedulerOption, SourceInputs, open_inputs
from likewise.cli.su_method import (
    PAPER_ALPHAS,
    LossName,
    check_prior_option,
    su_pipeline,
    summarise_su,
)
from likewise.cli.terminal import Json, Seed, show_json, waiting
from likewise.cli.wording import option_words

__all__ = ["fit"]


class FitMethod(StrEnum):
    """How to learn."""

    PAIR = "pair"
    SU = "su"


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
        typer.Option(help="The pair likelihood, or su for the paper's risk minimiser."),
    ] = FitMethod.PAIR,
    positive: Annotated[
        PositiveClass | None,
        typer.Option(help="Which class is +1, since pairs cannot tell: majority, if not given."),
    ] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Number of classes (pair): 2, if not given.")
    ] = None,
    pairing: Annotated[
        Pairing | None,
        typer.Option(help="How pairs were formed (pair): auto, which tests it, if not given."),
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
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    engine: EngineOption = None,
    scheduler: SchedulerOption = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn a classifier from the rows of TABLE and PAIRS of them known to be alike, or to differ.

    Numbers are standardised and text columns become categories, inside the saved model.
    With --engine, rows stay in files of Parquet and may be more than fit into memory.
    """
    from likewise.io import Model, check_output, save_model

    check_output(output, inputs=(table, pairs))
    of_pair: dict[str, Any] = {"--classes": classes, "--pairing": pairing}
    of_su: dict[str, Any] = {"--loss": loss, "--prior": prior, "--alpha": alpha}
    _refuse_options_of_the_other(method, of_su if method is FitMethod.PAIR else of_pair)
    if method is FitMethod.SU:
        check_prior_option(prior, positive)
    alphas = PAPER_ALPHAS if alpha is None else _numbers(alpha)
    opened: AbstractContextManager[Inputs]
    chosen: dict[str, Any] = {"id_column": id_column, "features": features, "drop": drop}
    if engine is not None:
        opened = open_inputs(table, pairs, engine=engine, scheduler=scheduler, **chosen)
    elif scheduler is not None:
        raise ValueError("--scheduler is the address of a Dask scheduler: add --engine dask.")
    elif table.is_dir():
        raise ValueError(f"{table} is a folder: add --engine parquet if it holds Parquet files.")
    else:
        opened = nullcontext(read_inputs(table, pairs, **chosen))
    common: dict[str, Any] = {"seed": seed, "positive": (positive or PositiveClass.MAJORITY).value}
    with opened as inputs:
        if method is FitMethod.PAIR:
            summarise: Any = summarise_pair
            pipeline = pair_pipeline(
                inputs, n_classes=classes or 2, pairing=(pairing or Pairing.AUTO).value, **common
            )
        else:
            summarise = summarise_su
            pipeline = su_pipeline(
                inputs, loss=(loss or LossName.SQUARED).value, alphas=alphas, prior=prior, **common
            )
        with waiting("Fitting") if engine is None else nullcontext():
            with option_words() as warnings:
                _learn(pipeline, inputs)
            save_model(output, Model(pipeline, inputs.features, inputs.table.id_column))
            summary = summarise(pipeline, inputs, str(output), warnings)
    if as_json:
        show_json(asdict(summary))
    else:
        typer.echo(str(summary))


def _learn(pipeline: Any, inputs: Inputs) -> None:
    if isinstance(inputs, SourceInputs):
        inputs.learn(pipeline)
    else:
        pipeline.fit(*inputs.pack())


def _refuse_options_of_the_other(method: FitMethod, options: Mapping[str, Any]) -> None:
    """Refuse options that would do nothing."""
    for name, value in options.items():
        if value is None:
            continue
        if method is FitMethod.PAIR:
            raise ValueError(f"{name} is an option of the paper's method: add --method su.")
        raise ValueError(f"{name} is an option of the pair method: leave out --method su.")


def _numbers(texts: Sequence[str]) -> tuple[float, ...]:
    listed = ",".join(texts)
    try:
        return tuple(float(part) for part in listed.split(","))
    except ValueError:
        raise ValueError(f"--alpha takes numbers, as 0.1,0.001, but got {listed!r}.") from None
