"""Messages show names and cells escaped."""

import pytest

from likewise.io.wording import escaped, first_line, listed, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, é, 日本", "plain text, é, 日本"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\r\nb\tc\x00", r"a\r\nb\tc\x00"),
        ("abc\u202etxt.exe", r"abc\u202etxt.exe"),
        ("\u2066x\u2069\u200e", r"\u2066x\u2069\u200e"),
        ("\udcff.csv", r"\udcff.csv"),
        ("\u2028", r"\u2028"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_text_that_does_not_print_as_itself_is_escaped(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert expected.isprintable()
    assert escaped(expected) == expected


def test_of_a_long_text_both_ends_are_shown() -> None:
    text = shown("a" * 1_000_000 + "z")
    assert len(text) < 310
    assert text.startswith("aaa")
    assert text.endswith("z")


def test_names_in_a_list_are_escaped_and_short() -> None:
    names = listed(["\x1b[2J", "x" * 10_000])
    assert names.isprintable()
    assert len(names) < 120


def test_another_librarys_message_is_escaped() -> None:
    assert first_line(ValueError("bad cell \x1b[2J.\nmore")) == r"bad cell \x1b[2J"
