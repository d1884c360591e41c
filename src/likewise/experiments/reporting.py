"""From records to what a report says: sections by experiment, and the facts it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.experiments.catalogue import EXPERIMENTS
from likewise.experiments.facts import facts_of
from likewise.experiments.runner import Record
from likewise.pages.document import Section

__all__ = ["TITLE", "Told", "tell"]

TITLE = "Classification from similar pairs and unlabeled rows: the experiments"


@dataclass(frozen=True)
class Told:
    """What a report says.

    Attributes
    ----------
    found : dict from str to lists of dict
        The records of every experiment, each trial once.
    sections : dict from str to lists of Section
        By experiment, if it has records.
    facts : dict from str to str
    """

    found: dict[str, list[Record]]
    sections: dict[str, list[Section]]
    facts: dict[str, str]

    @property
    def said(self) -> list[Section]:
        """All sections in their order."""
        return [section for some in self.sections.values() for section in some]


def tell(records: Sequence[Record], folder: Path) -> Told:
    """Make sections and facts of records.

    Parameters
    ----------
    records : sequence of dict
    folder : Path
        Where a run that makes them again would put them.

    Returns
    -------
    Told
    """
    found = {name: experiment.own(records) for name, experiment in EXPERIMENTS.items()}
    sections = {name: EXPERIMENTS[name].sections(own) for name, own in found.items() if own}
    distinct = [record for own in found.values() for record in own]
    return Told(found, sections, facts_of(distinct, EXPERIMENTS, folder))
