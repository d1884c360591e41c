"""A short run of the fuzzer on fixed cases; `make fuzz` runs others for as long as one likes."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.checks import check_refusal, refusals
from tests.fuzz.mutation import mutated
from tests.fuzz.subjects import SUBJECTS, run_case, working_folder

QUICK = {
    "files": 200,
    "known": 60,
    "options": 60,
    "models": 60,
    "su": 120,
    "pair": 2,
    "others": 10,
    "engines": 1,
    "strategies": 1,
}


@pytest.fixture
def folder() -> Iterator[Path]:
    with working_folder() as found:
        yield found


@pytest.mark.parametrize("name", SUBJECTS)
def test_fixed_cases_find_nothing(name: str, folder: Path) -> None:
    for number in range(QUICK[name]):
        try:
            run_case(name, number, folder)
        except Exception as error:
            raise AssertionError(f"make fuzz REPLAY='{name} {number}'") from error


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("files", 207),
        ("files", 5003093),
        ("files", 5011019),
        ("files", 911436006118),
        ("files", 911436009620),
        ("files", 913737007388),
        ("files", 913737008165),
        ("pair", 77000026),
        ("pair", 77000061),
        ("pair", 88500520),
        ("others", 65),
        ("others", 1059),
        ("others", 60001579),
        ("su", 1053),
        ("su", 11005598),
        ("su", 911436000563),
        ("su", 911436001967),
    ],
)
def test_what_was_found_once_stays_mended(name: str, number: int, folder: Path) -> None:
    run_case(name, number, folder)


def test_a_run_prints_its_seed_its_cases_and_how_to_see_a_finding_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stumble(draw: random.Random, folder: Path) -> None:
        assert draw.random() < 0.0

    monkeypatch.setitem(SUBJECTS, "known", (1.0, stumble))
    asked = ["--seconds", "60", "--seed", "7", "--only", "known"]
    monkeypatch.setattr("sys.argv", ["make fuzz", *asked])
    monkeypatch.setattr("faulthandler.enable", lambda: None)  # it needs a real stderr
    assert main() == 1
    said = capsys.readouterr().out
    assert said.startswith("seed 7, 60 s, known\n")
    assert [line for line in said.splitlines() if "FINDING" in line] == [
        f"FINDING: make fuzz REPLAY='known {number}'" for number in range(7, 12)
    ]
    assert said.endswith("5 cases, 5 findings\n")


def test_the_fuzzer_knows_a_finding() -> None:
    def stumble() -> None:
        list[int]().index(1)  # a ValueError that nobody raised on purpose

    with pytest.raises(AssertionError, match="not raised on purpose"), refusals():
        stumble()
    with pytest.raises(AssertionError, match="not plain"):
        check_refusal(ValueError("\x1b[31m"))


def test_mutations_change_bytes_and_can_be_repeated() -> None:
    content = b"id,a\nx,1\ny,2\n"
    found = [mutated(random.Random(seed), content) for seed in range(50)]  # noqa: S311
    assert found == [mutated(random.Random(seed), content) for seed in range(50)]  # noqa: S311
    assert sum(one != content for one in found) > 40
