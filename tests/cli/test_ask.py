"""`likewise ask`, without a page: what it says to do next. The page is in `tests.asking`."""

import shlex
from pathlib import Path

import pytest

from likewise.cli.ask import _next_command
from likewise.io import choose_features, read_table

from .conftest import Run

FIT = "likewise fit rows.csv rows.answers.sqlite -o model.skops --errors auto"


@pytest.mark.parametrize(
    ("lines", "keep", "classes", "id_column", "options"),
    [
        (["id,a,b", "r0,1,2", "r1,3,4"], None, None, None, ""),
        (["id,a,b", "r0,1,2", "r1,3,4"], None, 3, None, " --classes 3"),
        (["a,key,b", "1,r0,2", "3,r1,4"], None, 2, "key", " --id key"),
        (["id,a,b", "r0,1,2", "r1,3,4"], ["b"], None, None, " --features b"),
        (["id,a,b", "r0,1,2", "r1,3,"], None, None, None, " --model trees"),
    ],
    ids=["all", "classes", "id", "features", "gaps"],
)
def test_the_next_command_learns_what_the_page_learned(
    folder: Path,
    lines: list[str],
    keep: list[str] | None,
    classes: int | None,
    id_column: str | None,
    options: str,
) -> None:
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    rows = read_table(Path("rows.csv"), id_column=id_column)
    chosen = choose_features(rows, keep=keep, gaps=True)
    found = _next_command(
        Path("rows.csv"), Path("rows.answers.sqlite"), rows, chosen, classes, id_column
    )
    assert found == FIT + options


def test_names_with_commas_are_quoted_as_options_take_them(folder: Path) -> None:
    Path("rows.csv").write_text('id,"a,b",c,d\nr0,1,2,3\nr1,3,4,5\n')
    rows = read_table(Path("rows.csv"))
    chosen = choose_features(rows, keep=["a,b", "c"], gaps=True)
    found = _next_command(Path("rows.csv"), Path("x.sqlite"), rows, chosen, None, None)
    assert shlex.split(found)[-1] == '"a,b",c'


def test_a_share_beyond_one_is_refused(refuse: Run) -> None:
    assert "--overlap must lie between 0 and 1" in refuse("ask", "rows.csv", "--overlap", "1.5")
