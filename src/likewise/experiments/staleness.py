"""Which records were made by other code than the present, and how a page says so."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from likewise.experiments.provenance import code_of
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group

__all__ = ["Made", "code_in_words", "makers", "stale"]


@dataclass(frozen=True)
class Made:
    """What made the records of one method in one experiment.

    Attributes
    ----------
    experiment, method : str
    version, commit, code : str or None
        As of `likewise.experiments.provenance.made_by`; None if the records do not say.
    """

    experiment: str
    method: str
    version: str | None
    commit: str | None
    code: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def makers(records: Iterable[Record]) -> list[Made]:
    """Return what made records: each code that there is of a method, once.

    Parameters
    ----------
    records : iterable of dict

    Returns
    -------
    list of Made
        By experiment and method.
    """
    fields = ("experiment", "method", "version", "commit", "code")
    found = [Made(*key) for key in group(records, *fields)]
    return sorted(found, key=lambda one: tuple(map(str, one.as_dict().values())))


def stale(records: Iterable[Record]) -> list[Made]:
    """Return what made records and is not the present code.

    Parameters
    ----------
    records : iterable of dict

    Returns
    -------
    list of Made
    """
    return [one for one in makers(records) if one.code != code_of(one.experiment, one.method)]


def code_in_words(made: Sequence[Made], old: Collection[Made]) -> str:
    """Say which records are of other code than the present, and which code that was.

    Parameters
    ----------
    made : sequence of Made
        All that is shown.
    old : collection of Made
        What of it is stale.

    Returns
    -------
    str

    Examples
    --------
    >>> from likewise.experiments.staleness import Made, code_in_words
    >>> made = [
    ...     Made("half", "labels", "0.1.0", "fc12e005f3a2", "0123"),
    ...     Made("half", "su-squared", "0.1.0", "fc12e005f3a2", "4567"),
    ... ]
    >>> code_in_words(made, [])
    'all records were made with the present code (likewise 0.1.0 at fc12e005f3a2)'
    >>> code_in_words(made, made[:1])
    'made with earlier code: half (labels), by likewise 0.1.0 at fc12e005f3a2'
    """
    if not old:
        names = sorted({_maker(one) for one in made})
        return f"all records were made with the present code ({', '.join(names)})"
    parts = []
    for maker in sorted({_maker(one) for one in old}):
        own = [one for one in old if _maker(one) == maker]
        experiments = sorted({one.experiment for one in own})
        words = ", ".join(f"{name} ({_methods(name, own, made)})" for name in experiments)
        parts.append(f"{words}, {'' if maker.startswith('before') else 'by '}{maker}")
    return f"made with earlier code: {'; '.join(parts)}"


def _methods(experiment: str, own: Iterable[Made], made: Iterable[Made]) -> str:
    stated = {one.method for one in own if one.experiment == experiment}
    every = {one.method for one in made if one.experiment == experiment}
    return "all methods" if stated == every and len(every) > 1 else ", ".join(sorted(stated))


def _maker(made: Made) -> str:
    if made.version is None:
        return "before records said what made them"
    return f"likewise {made.version}" + ("" if made.commit is None else f" at {made.commit}")
