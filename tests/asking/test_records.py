"""What people see of two rows."""

from pathlib import Path

import pytest

from likewise.asking.records import Records
from likewise.io import read_table


@pytest.fixture
def records(tmp_path: Path) -> Records:
    path = tmp_path / "rows.csv"
    path.write_text(
        "id,size,count,word,flag,blank\n"
        "a,1.0000001,1,x,true,\nb,1.00000011,9,y,false,\nc,1.2,2,x,true,\nd,4,,x,true,\n"
        "e,-3,5,x,true,\n"
    )
    return Records.of(read_table(path))


def how(records: Records, left: int, right: int) -> list[str]:
    return [field["how"] for field in records.pair(left, right)["fields"]]


def test_cells_are_alike_near_or_differ(records: Records) -> None:
    assert how(records, 0, 1) == ["alike", "differs", "differs", "differs", "alike"]
    assert how(records, 0, 2) == ["near", "near", "alike", "alike", "alike"]
    assert how(records, 0, 3) == ["differs", "differs", "alike", "alike", "alike"]


def test_numbers_have_six_digits_and_gaps_no_text(records: Records) -> None:
    assert records.cells(0) == ["1", "1", "x", "True", ""]
    assert records.cells(3) == ["4", "", "x", "True", ""]


def test_columns_of_images_and_texts_are_shown_as_such_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,size,picture,story\na,1,a.png,Once\nb,2,,\n")
    records = Records.of(read_table(path), image="picture", text="story")
    assert records.shown == ("size",)
    pair = records.pair(0, 1)
    assert pair["image"] == {"name": "picture", "left": "/image/0", "right": None}
    assert pair["text"] == {"name": "story", "left": "Once", "right": ""}
    assert records.brief(0)["text"] == "Once"
