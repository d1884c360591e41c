"""Means of trials with their standard errors, and which methods are not worse than the best.

Works on records and numbers; it must not know what was measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ttest_ind_from_stats

from likewise.experiments.runner import SETTINGS, Record

__all__ = ["Mean", "group", "mean_of", "not_worse", "results"]


@dataclass(frozen=True)
class Mean:
    """Mean of one field over the trials that gave a value.

    Attributes
    ----------
    value : float or None
        None where every trial failed.
    standard_error : float or None
        None for a single trial.
    trials, failed : int
        Trials that gave a value, and that did not.
    reason : str or None
        Why the first failed trial failed.
    """

    value: float | None
    standard_error: float | None
    trials: int
    failed: int
    reason: str | None


def group(records: Iterable[Record], *names: str) -> dict[tuple[Any, ...], list[Record]]:
    """Sort records by the values of fields, in the order in which these first occur.

    Parameters
    ----------
    records : iterable of dict
    *names : str
        Fields; one that a record lacks counts as None.

    Returns
    -------
    dict
    """
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(record.get(name) for name in names), []).append(record)
    return found


def mean_of(records: Sequence[Record], field: str) -> Mean:
    """Average a field over the trials that did not fail and have it.

    Parameters
    ----------
    records : sequence of dict
    field : str

    Returns
    -------
    Mean

    Examples
    --------
    >>> from likewise.experiments.statistics import mean_of
    >>> good = [{"status": "ok", "accuracy": value} for value in (0.6, 0.8)]
    >>> mean = mean_of([*good, {"status": "failed", "reason": "no memory"}], "accuracy")
    >>> round(mean.value, 3), round(mean.standard_error, 3), mean.failed, mean.reason
    (0.7, 0.1, 1, 'no memory')
    """
    good = [record for record in records if record["status"] == "ok"]
    values = np.array([record[field] for record in good if record.get(field) is not None])
    reasons = [record["reason"] for record in records if record["status"] != "ok"]
    spread = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else None
    return Mean(
        value=float(values.mean()) if values.size else None,
        standard_error=None if spread is None else float(spread),
        trials=int(values.size),
        failed=len(reasons),
        reason=reasons[0] if reasons else None,
    )


def results(records: Sequence[Record], field: str) -> list[Record]:
    """Average a field for every dataset, setting and method.

    Parameters
    ----------
    records : sequence of dict
        Of one experiment.
    field : str

    Returns
    -------
    list of dict
        ``dataset, method``, the settings, ``trials, failed, mean, standard_error, reason``.
    """
    names = ("dataset", *(name for name in SETTINGS if any(name in one for one in records)))
    rows = []
    for key, own in group(records, *names, "method").items():
        mean = mean_of(own, field)
        rows.append(
            {
                **dict(zip((*names, "method"), key, strict=True)),
                "trials": mean.trials,
                "failed": mean.failed,
                "mean": mean.value,
                "standard_error": mean.standard_error,
                "reason": mean.reason,
            }
        )
    return rows


def not_worse(means: Mapping[str, Mean], *, level: float = 0.05) -> set[str]:
    """Return the best method and those that a one-sided t-test does not find worse than it.

    Two samples, unequal variances: from the means and standard errors that the paper prints, this
    returns the methods that the paper prints in bold.

    Parameters
    ----------
    means : mapping of names to Mean
        Those of fewer than two trials are left out: nothing is known of their spread.
    level : float, default 0.05

    Returns
    -------
    set of str

    Examples
    --------
    >>> from likewise.experiments.statistics import Mean, not_worse
    >>> means = {
    ...     "a": Mean(0.80, 0.01, 20, 0, None),
    ...     "b": Mean(0.79, 0.01, 20, 0, None),
    ...     "c": Mean(0.70, 0.01, 20, 0, None),
    ... }
    >>> sorted(not_worse(means))
    ['a', 'b']
    """
    known = {
        name: mean for name, mean in means.items() if None not in (mean.value, mean.standard_error)
    }
    if not known:
        return set()
    best = max(known.values(), key=_value)
    return {name for name, mean in known.items() if _p_value(mean, best) >= level}


def _value(mean: Mean) -> float:
    return -np.inf if mean.value is None else mean.value


def _p_value(mean: Mean, best: Mean) -> float:
    """Return the probability of a mean that far below the best, were they equal."""
    if mean.value == best.value:
        return 1.0
    if mean.standard_error == best.standard_error == 0.0:
        return 0.0
    first, second = (
        (_value(one), (one.standard_error or 0.0) * np.sqrt(one.trials), one.trials)
        for one in (mean, best)
    )
    test = ttest_ind_from_stats(*first, *second, equal_var=False, alternative="less")
    return float(test.pvalue)
