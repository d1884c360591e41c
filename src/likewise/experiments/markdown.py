"""A report as Markdown with its pictures beside it, for a repository or a site."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from likewise.io import replacing
from likewise.pages.document import Cell, Picture, Section, Table

__all__ = ["write_markdown"]

_FIGURES = "figures"


def write_markdown(
    path: Path, title: str, sections: Sequence[Section], facts: Mapping[str, str]
) -> None:
    """Write a report as a Markdown file, and its pictures as PNG files in a folder beside it.

    Where matplotlib is not installed, captions stand without pictures.

    Parameters
    ----------
    path : Path
    title : str
    sections : sequence of Section
    facts : mapping of str to str
        What the report rests on.
    """
    lines = [f"# {title}", ""]
    lines += [f"- {name}: {_plain(fact)}" for name, fact in facts.items()]
    for section in sections:
        lines += ["", f"## {section.title}"]
        lines += [line for paragraph in section.paragraphs for line in ("", _plain(paragraph))]
        for table in section.tables:
            lines += ["", *_table(table)]
        for number, picture in enumerate(section.pictures, start=1):
            lines += ["", *_picture(picture, path.parent, f"{_slug(section.title)}-{number}.png")]
    with replacing(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def _table(table: Table) -> list[str]:
    notes = list(dict.fromkeys(cell.note for row in table.rows for cell in row if cell.note))
    ruler = [" --- " if place == 0 else " ---: " for place in range(len(table.header))]
    lines = [f"**{_plain(table.caption)}**", "", _line(map(_plain, table.header))]
    lines.append("|" + "|".join(ruler) + "|")
    lines += [_line(_cell(cell, notes) for cell in row) for row in table.rows]
    if any(cell.paper is not None for row in table.rows for cell in row):
        lines += ["", "In brackets [ ]: the paper's number."]
    for place, note in enumerate(notes, start=1):
        lines += ["", f"({place}) {_plain(note)}"]
    return lines


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell, notes: Sequence[str]) -> str:
    text = f"**{_plain(cell.text)}**" if cell.bold else _plain(cell.text)
    if cell.note:
        text += f" ({notes.index(cell.note) + 1})"
    return text if cell.paper is None else f"{text} [{_plain(cell.paper)}]"


def _picture(picture: Picture, folder: Path, name: str) -> list[str]:
    try:
        import matplotlib  # noqa: F401 -- is it there?
    except ImportError:
        return [f"*{_plain(picture.caption)}*"]
    (folder / _FIGURES).mkdir(exist_ok=True)
    with replacing(folder / _FIGURES / name) as stream:
        picture.draw().savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return [f"![{_plain(picture.caption)}]({_FIGURES}/{name})", "", f"*{_plain(picture.caption)}*"]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _plain(text: str) -> str:
    """Keep text from being taken for Markdown."""
    return re.sub(r"([\\`*_\[\]|<>])", r"\\\1", text)
