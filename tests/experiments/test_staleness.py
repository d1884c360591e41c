"""Records of other code than the present are found, and named in words."""

from typing import Any

from likewise.experiments.provenance import made_by
from likewise.experiments.runner import Record
from likewise.experiments.staleness import Made, code_in_words, makers, stale


def record(method: str, **made: Any) -> Record:
    return {"experiment": "benchmark", "method": method, "dataset": "adult", "trial": 0, **made}


def test_records_of_the_present_code_are_not_stale() -> None:
    records = [record(name, **made_by("benchmark", name)) for name in ("km", "labels")]
    assert stale(records) == []
    assert [one.method for one in makers([*records, *records])] == ["km", "labels"]


def test_records_of_another_code_or_of_none_are_stale() -> None:
    other = {**made_by("benchmark", "km"), "code": "0123456789abcdef"}
    records = [record("km", **made_by("benchmark", "km")), record("km", **other), record("labels")]
    found = stale(records)
    assert [(one.method, one.code) for one in found] == [("km", other["code"]), ("labels", None)]


def test_words_say_who_made_what_is_stale() -> None:
    old = [Made("half", name, None, None, None) for name in ("km", "labels")]
    new = Made("benchmark", "km", "0.1.0", "fc12e005f3a2", "0123")
    assert code_in_words([new, *old], old) == (
        "made with earlier code: half (all methods), before records said what made them"
    )
    assert code_in_words([new, *old], [new, old[0]]) == (
        "made with earlier code: half (km), before records said what made them; "
        "benchmark (km), by likewise 0.1.0 at fc12e005f3a2"
    )
    assert code_in_words([new], []) == (
        "all records were made with the present code (likewise 0.1.0 at fc12e005f3a2)"
    )
