"""The table of types that hold others: pipelines, unions, tables of columns, our feature maps."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import prod
from typing import Any

from likewise.io.modelfile.common import (
    FITTED_COLUMNS,
    MOST_COLUMNS,
    NOTHING,
    OUTPUT,
    SEED,
)
from likewise.io.modelfile.composites import Brought, Items, OneOf, Tuple
from likewise.io.modelfile.contract import BroughtPart, Kind, expect
from likewise.io.modelfile.sklearn_types import CLASSIFIERS, LEAVES, NYSTROEM
from likewise.io.modelfile.types import Of, Record, Type, Unfitted, Values
from likewise.io.modelfile.values import Array, Flag, Labels, Number, Text, Whole

__all__ = [
    "PIPELINE",
    "TRANSFORMERS",
    "flow",
    "holds_categories",
    "is_classifier",
    "is_transformer",
    "last_of",
    "needs_names",
    "text_columns",
]

Width = tuple[int | None, int | None]

_MOST_DUMMIES = 20
"""As in `likewise.scores.encoding`."""
_MOST_STEPS = 1000
_MOST_GROWTH = 1000
"""Columns that parts may make of one, by having it several times."""
_MOST_ASKED = 40_000
"""Questions to parts inside each other, of which a tenth of a second answers thousands."""

# --- our own features ----------------------------------------------------------------------------


def _check_radial(values: Values) -> None:
    directions = values["directions_"]
    columns = values["mean_"].size if directions is None else directions.shape[1]
    expect(values["kernel_"].width[0] == columns, "has a kernel of another number of columns")


_RADIAL = Type(
    "likewise.scores.features",
    "RadialFeatures",
    parameters={
        "width": Number(1e-6, 1e6),
        "principal": Flag(),
        "n_components": Whole(1, 10_000_000),
        "random_state": SEED,
    },
    fitted={
        "mean_": Array(("columns",)),
        "scale_": Array(("columns",), low=0.0, above=True),
        "directions_": OneOf((NOTHING, Array(("columns", "directions")))),
        "kernel_": Of(lambda: (NYSTROEM,)),
    },
    optional=OUTPUT,
    check=_check_radial,
    width=lambda values: (values["mean_"].size, values["kernel_"].width[1]),
)


def _check_categories(values: Values) -> None:
    for known in values["categories_"]:
        expect(len(set(known)) == len(known), "has a category twice")


def _width_of_categories(values: Values) -> Width:
    sizes = [len(known) for known in values["categories_"]]
    given = sum(size if 2 < size <= _MOST_DUMMIES else 1 for size in sizes)
    return len(sizes), given


_CATEGORY = OneOf((Text(), Flag(), Number()))
_CATEGORIES = Type(
    "likewise.scores.encoding",
    "CategoryNumbers",
    fitted={
        "n_features_in_": FITTED_COLUMNS["n_features_in_"],
        "categories_": Items(Items(_CATEGORY, most=10_000), name="columns"),
    },
    optional=OUTPUT,
    check=_check_categories,
    width=_width_of_categories,
)

# --- steps ---------------------------------------------------------------------------------------


def _steps() -> tuple[Type, ...]:
    from likewise.io.modelfile.own import OWN_CLASSIFIERS  # which holds pipelines itself

    return (*TRANSFORMERS, *CLASSIFIERS, *OWN_CLASSIFIERS, PIPELINE)


def _parts() -> tuple[Type, ...]:
    return (*TRANSFORMERS, PIPELINE)


def last_of(value: Any) -> Any:
    """Return the last step of a pipeline's record, or what is no pipeline itself."""
    while isinstance(value, Record) and value.type is PIPELINE:
        value = value.values["steps"][-1][1]
    return value


def _width_of_step(step: Any, before: int | None) -> Width:
    """Return how many columns a step takes and gives, if so many come to it."""
    if step in ("passthrough", None):
        return before, before
    return step.width if isinstance(step, Record) else (None, None)


def _chained(steps: list[Any]) -> Width:
    """Return how many columns a chain of steps takes and gives; raise if steps do not fit."""
    working = [step for _, step in steps if step not in ("passthrough", None)]
    widths = [_width_of_step(step, None) for step in working]
    for number, ((_, given), (taken, _)) in enumerate(pairwise(widths), start=1):
        is_right = None in (taken, given) or taken == given
        expect(is_right, f"has a step {number} that takes {taken} columns, but gets {given}")
    return (widths[0][0], widths[-1][1]) if widths else (None, None)


def is_transformer(value: Any) -> bool:
    """Tell whether something transforms rows; of what was brought it is not known."""
    inner = last_of(value)
    return not isinstance(inner, Record) or inner.type in TRANSFORMERS


def is_classifier(value: Any) -> bool:
    """Tell whether something classifies rows; of what was brought it is not known."""
    inner = last_of(value)
    if isinstance(inner, Record):
        return inner.type not in TRANSFORMERS
    return isinstance(inner, BroughtPart)


def flow(part: Any, columns: int | None, frames: list[int]) -> int | None:
    """Return how many columns a fitted part gives if so many come to it; raise if far too many.

    Data frames need far more time than arrays: all together have no more columns than a table.

    Parameters
    ----------
    part : Record, name of a way to treat columns, or brought part
    columns : int or None
        None where it is not known.
    frames : list of int
        Columns of the data frames that parts make, which are added to it.
    """
    if part in ("passthrough", None):
        return columns
    if not isinstance(part, Record) or not part.is_fitted:
        return 0 if part == "drop" else None
    values, given = part.values, part.width[1]
    if part.type is PIPELINE:
        for _, step in values["steps"]:
            columns = flow(step, columns, frames)
        return columns
    if part.type is _UNION:
        given = _sum([flow(one, columns, frames) for _, one in values["transformer_list"]])
    elif part.type is _TABLE_OF_COLUMNS:
        given = _sum([flow(one, len(chosen), frames) for _, one, chosen in values["transformers_"]])
    for name in ("feature_map_", "transformer", "estimator"):  # of our own types
        flow(values.get(name), columns, frames)
    if values.get("_sklearn_output_config", {}).get("transform", "default") != "default":
        frames.append(given or 0)
    most = max(given or 0, sum(frames))
    expect(most <= MOST_COLUMNS, "makes more columns than a model has")
    return given


def _sum(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _growth(part: Any) -> int:
    """Return how many times as many columns a part can give, where their kinds do not say."""
    if not isinstance(part, Record):
        return 1
    if part.type is PIPELINE:
        return prod(_growth(step) for _, step in part.values["steps"])
    if part.type is _UNION:
        return sum(_growth(one) for _, one in part.values["transformer_list"])
    if part.type is _TABLE_OF_COLUMNS:
        return sum(_growth(one) for _, one, _ in part.values["transformers"])
    return 1


def _check_growth(parts: list[Any], total: Callable[[Iterable[int]], int]) -> None:
    growth = total(_growth(one[1]) for one in parts)
    expect(growth <= _MOST_GROWTH, "makes more columns than a model has")
    n_asked = _n_asked_of(parts, is_chain=total is prod)
    expect(n_asked <= _MOST_ASKED, "has more parts inside each other than a model has")


def _n_asked(part: Any) -> int:
    """Return how many parts are asked what they take, if one is asked.

    scikit-learn asks the first and the last step of a pipeline once more, and every part of a union
    twice; these ask theirs.
    """
    if not isinstance(part, Record):
        return 1
    for name in ("steps", "transformer_list", "transformers_", "transformers"):
        if name in part.values:
            return 1 + _n_asked_of(part.values[name], is_chain=name == "steps")
    return 1


def _n_asked_of(parts: list[Any], is_chain: bool) -> int:
    each = [_n_asked(one[1]) for one in parts]
    again = each[:1] + each[-1:] if is_chain else each
    return sum(each) + sum(again)


def _check_names(parts: list[Any]) -> None:
    expect(len({one[0] for one in parts}) == len(parts), "has two parts of one name")


def _check_chain(values: Values) -> None:
    _chained(values["steps"])


def _check_steps(values: Values) -> None:
    steps = values["steps"]
    expect(bool(steps), "has no steps")
    _check_names(steps)
    for name, step in steps[:-1]:
        expect(is_transformer(step), f"has a step {name[:60]!a} that is no transformer")
    _check_growth(steps, prod)


PIPELINE = Type(
    "sklearn.pipeline",
    "Pipeline",
    parameters={
        "steps": Items(
            Tuple((Text(), OneOf((NOTHING, Text(("passthrough",)), Brought(Of(_steps)))))),
            most=_MOST_STEPS,
        )
    },
    check_parameters=_check_steps,
    check=_check_chain,
    width=lambda values: _chained(values["steps"]),
)


def _check_parts(values: Values) -> None:
    parts = values["transformer_list"]
    _check_names(parts)
    expect(all(is_transformer(part) for _, part in parts), "has a part that is no transformer")
    _check_growth(parts, sum)


def _check_union(values: Values) -> None:
    widths = [one.width[0] for _, one in values["transformer_list"] if isinstance(one, Record)]
    expect(len(set(widths) - {None}) <= 1, "has parts of different columns")


def _width_of_union(values: Values) -> Width:
    parts = [one for _, one in values["transformer_list"] if one != "drop"]
    before = next((one.width[0] for one in parts if isinstance(one, Record)), None)
    given = [_width_of_step(one, before)[1] for one in parts]
    return before, None if None in given else sum(one for one in given if one is not None)


_UNION = Type(
    "sklearn.pipeline",
    "FeatureUnion",
    parameters={
        "transformer_list": Items(
            Tuple((Text(), OneOf((Text(("passthrough", "drop")), Brought(Of(_parts)))))),
            most=_MOST_STEPS,
        ),
        "verbose_feature_names_out": Flag(),
    },
    optional=OUTPUT,
    check_parameters=_check_parts,
    check=_check_union,
    width=_width_of_union,
)

# --- tables of columns ---------------------------------------------------------------------------

_CHOICE = Items(OneOf((Whole(), Text())))
_ENDS = Text(("drop", "passthrough"))


def _unpacked_columns(table: Any) -> Values:
    """Return the attributes, with the places of columns in the result as numbers."""
    values = dict(vars(table))
    places = values.get("output_indices_", {})
    values["output_indices_"] = [(name, one.start, one.stop) for name, one in places.items()]
    return values


def _finder(values: Values) -> Callable[[list[Any]], list[int]]:
    """Return what gives the numbers of chosen columns; names are numbered once for all parts."""
    size, names = values["n_features_in_"], values.get("feature_names_in_")
    numbers = {} if names is None else {name: place for place, name in enumerate(names.tolist())}

    def places(chosen: list[Any]) -> list[int]:
        if all(isinstance(one, int) for one in chosen):
            expect(all(one < size for one in chosen), "chooses a column that is not there")
            return list(chosen)
        expect(all(one in numbers for one in chosen), "chooses a column that is not there")
        return [numbers[one] for one in chosen]

    return places


def _check_transformers(values: Values) -> None:
    for name in ("transformers", "transformers_"):
        parts = values.get(name, [])
        _check_names(parts)
        expect(all(is_transformer(part) for _, part, _ in parts), "has a part that is none")
        _check_growth(parts, sum)


def _check_columns(values: Values) -> None:
    find = _finder(values)
    for name, part, chosen in values["transformers_"]:
        places = find(chosen)
        taken = part.width[0] if isinstance(part, Record) else None
        expect(taken in (None, len(places)), f"has a part {name[:60]!a} of other columns")
    for _, _, chosen in values["transformers"]:
        find(chosen)
    end = 0
    for _, start, stop in values["output_indices_"]:
        expect(start <= stop, "has columns out of order")
        end = max(end, stop)
    width = _width_of_columns(values)[1]
    expect(width in (None, end), "gives another number of columns than its parts")


def _width_of_columns(values: Values) -> Width:
    parts = [one for one in values["transformers_"] if one[1] != "drop"]
    given = [_width_of_step(part, len(chosen))[1] for _, part, chosen in parts]
    total = None if None in given else sum(one for one in given if one is not None)
    return values["n_features_in_"], total


def _finished_columns(values: Values) -> Values:
    """Return all attributes, private ones as a fit leaves them."""
    find = _finder(values)
    inputs = {name: find(chosen) for name, _, chosen in values["transformers_"]}
    inputs.setdefault("remainder", [])
    chosen = [one for _, _, one in values["transformers"]]
    rest = next((one for one in values["transformers_"] if one[0] == "remainder"), None)
    left = [] if rest is None else rest[2]
    return {
        **values,
        "_columns": chosen,
        "_transformer_to_input_indices": inputs,
        "_remainder": ("remainder", values["remainder"], left),
        "_n_features": values["n_features_in_"],
        "output_indices_": {
            name: slice(start, stop) for name, start, stop in values["output_indices_"]
        },
    }


_COLUMNS_OPTIONAL: dict[str, Kind] = {
    "feature_names_in_": Labels("columns", numbers=False, most=MOST_COLUMNS),
    **OUTPUT,
}
_TABLE_OF_COLUMNS = Type(
    "sklearn.compose._column_transformer",
    "ColumnTransformer",
    parameters={
        "transformers": Items(
            Tuple((Text(), OneOf((_ENDS, Unfitted(Brought(Of(_parts))))), _CHOICE)),
            most=_MOST_STEPS,
        ),
        "remainder": _ENDS,
        "sparse_threshold": Number(0.0, 1.0),
        "verbose_feature_names_out": Flag(),
    },
    fitted={
        "n_features_in_": FITTED_COLUMNS["n_features_in_"],
        "sparse_output_": Flag(),
        "transformers_": Items(
            Tuple((Text(), OneOf((Text(("drop",)), Brought(Of(_parts)))), _CHOICE)),
            most=_MOST_STEPS,
        ),
        "output_indices_": Items(Tuple((Text(), Whole(), Whole())), most=_MOST_STEPS),
    },
    optional=_COLUMNS_OPTIONAL,
    derived=frozenset({"_columns", "_transformer_to_input_indices", "_remainder", "_n_features"}),
    check_parameters=_check_transformers,
    check=_check_columns,
    unpacked=_unpacked_columns,
    finish=_finished_columns,
    width=_width_of_columns,
)

TRANSFORMERS = (*LEAVES, _RADIAL, _CATEGORIES, _UNION, _TABLE_OF_COLUMNS)
"""All transformers that a model may hold without trust."""


def text_columns(estimator: Any) -> dict[int, str]:
    """Return the numbers of the columns that a fitted estimator takes as text, with one such text.

    Parameters
    ----------
    estimator : Record, or anything else, which is not asked
    """
    if not isinstance(estimator, Record):
        return {}
    values, found = estimator.values, {}
    if estimator.type is _UNION:
        for _, part in values["transformer_list"]:
            found.update(text_columns(part))
        return found
    if estimator.type is _TABLE_OF_COLUMNS:
        find = _finder(values)
        for _, part, chosen in values["transformers_"]:
            places = find(chosen)
            found.update({places[at]: text for at, text in text_columns(part).items()})
        return found
    if estimator.type is PIPELINE:
        for _, step in values["steps"]:
            found = text_columns(step)
            if found or not _is_passing(step):
                return found
    categories = [one for one in values.get("categories_", ()) if hasattr(one, "dtype")]
    return {at: str(one[0]) for at, one in enumerate(categories) if one.dtype.kind in "OU"}


def needs_names(value: Any) -> bool:
    """Tell whether some part chooses columns by their names, which only data frames have.

    Parameters
    ----------
    value : Record, or any other checked value
    """
    if isinstance(value, Record):
        if value.type is _TABLE_OF_COLUMNS and value.is_fitted:
            chosen = [name for _, _, names in value.values["transformers_"] for name in names]
            return any(isinstance(name, str) for name in chosen)
        return value.type is PIPELINE and needs_names([step for _, step in value.values["steps"]])
    return isinstance(value, list) and any(needs_names(one) for one in value)


def _is_passing(step: Any) -> bool:
    """Tell whether a step leaves its columns as they are."""
    is_function = isinstance(step, Record) and step.type.name == "FunctionTransformer"
    return is_function or step in ("passthrough", None)


def holds_categories(value: Any) -> bool:
    """Tell whether something holds our own numbers of categories, which take text.

    Parameters
    ----------
    value : Record, or any other checked value
    """
    if isinstance(value, Record):
        return value.type is _CATEGORIES or holds_categories(list(value.values.values()))
    if isinstance(value, list | tuple):
        return any(holds_categories(one) for one in value)
    return False
