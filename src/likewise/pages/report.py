"""A report as one HTML file that needs nothing beside it: no network, no fonts, no other file.

The page is built as a tree and written out by the standard library, so that no text can be taken
for markup. What the page says is decided elsewhere: see `likewise.pages.document`.
"""

import base64
import hashlib
import io
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from likewise.io import check_output, replacing
from likewise.pages.document import Cell, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["page_of", "write_report"]

_ENDS_LINE = frozenset(
    {"head", "meta", "title", "link", "style", "header", "section", "h1", "h2", "p", "li", "div"}
    | {"figcaption", "figure", "tr", "th", "td", "g"}
)
"""Elements followed by a new line in the file, where the page shows none."""


def write_report(
    path: Path, title: str, sections: Sequence[Section], facts: Mapping[str, str]
) -> None:
    """Write a report as one HTML file.

    Pictures are drawn here, as SVG in the page. Where matplotlib is not installed, a sentence
    stands in the place of each.

    Parameters
    ----------
    path : Path
        Replaced when, and only when, the page is whole.
    title : str
    sections : sequence of Section
    facts : mapping of str to str
        What the report rests on, such as versions and dates; read below the title.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from likewise.pages.document import Cell, Section, Table
    >>> from likewise.pages.report import write_report
    >>> row = (Cell("banana"), Cell("67.8", value=67.8, paper="67.2"))
    >>> table = Table("Accuracy, %", ("dataset", "SU"), (row,))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(path, "Table 2", [Section("Accuracy", (), (table,))], {"trials": "100"})
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    path = check_output(path)
    page = page_of(title, sections, facts)
    with replacing(path) as stream:
        stream.write(page.encode())


def page_of(title: str, sections: Sequence[Section], facts: Mapping[str, str]) -> str:
    """Return a report as the text of an HTML file; see `write_report`."""
    script = _resource("report.js")
    body = _element(
        "body",
        _element("header", _element("h1", title), *_facts(facts), *_contents(sections)),
        _element(
            "main",
            *_legend([table for section in sections for table in section.tables]),
            *(_section(section, place) for place, section in enumerate(sections, start=1)),
        ),
        _element("script", script),
    )
    page = _element("html", _head(title, script), body, lang="en")
    for element in page.iter():
        if element.tag in _ENDS_LINE:
            element.tail = "\n"
    return "<!DOCTYPE html>\n" + ET.tostring(page, encoding="unicode", method="html")


def _head(title: str, script: str) -> Element:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # The browser itself holds the page to what it promises: it fetches nothing, runs one script.
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return _element(
        "head",
        _element("meta", charset="utf-8"),
        _element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        _element("meta", name="color-scheme", content="light dark"),
        _element("meta", http_equiv="Content-Security-Policy", content=policy),
        _element("title", title),
        _element("link", rel="icon", href="data:,"),  # or else a server would be asked for one
        _element("style", _resource("report.css")),
    )


def _facts(facts: Mapping[str, str]) -> list[Element]:
    entries = [
        _element("div", _element("dt", name), _element("dd", fact)) for name, fact in facts.items()
    ]
    return [_element("dl", *entries, class_="facts")] if entries else []


def _contents(sections: Sequence[Section]) -> list[Element]:
    if len(sections) < 2:
        return []
    links = (
        _element("li", _element("a", section.title, href=f"#section-{place}"))
        for place, section in enumerate(sections, start=1)
    )
    return [_element("nav", _element("ol", *links), aria_label="Contents")]


def _legend(tables: Sequence[Table]) -> list[Element]:
    """Explain the marks that the tables use, and only those."""
    cells = [cell for table in tables for row in table.rows for cell in row]
    items = []
    if any(cell.bold for cell in cells):
        meaning = " is the best of its comparison; the section says by what rule."
        items.append(_element("li", _element("strong", "Bold"), meaning))
    if any(cell.paper is not None for cell in cells):
        mark = _element("span", "Small and grey", class_="paper")
        items.append(_element("li", mark, " is the paper's number."))
    if any(cell.note is not None for cell in cells):
        items.append(_element("li", "A raised letter leads to a note below the table."))
    if tables:
        sentence = (
            "Press a column's heading to sort by it; press again to reverse, and once more for the "
            "original order."
        )
        # The script that makes it true shows it.
        items.append(_element("li", sentence, class_="sorting", hidden="hidden"))
    return [_element("ul", *items, class_="legend", aria_label="Legend")] if items else []


def _section(section: Section, place: int) -> Element:
    name = f"section-{place}"
    return _element(
        "section",
        _element("h2", section.title, id=name),
        *(_element("p", paragraph) for paragraph in section.paragraphs),
        *(
            _table(table, f"table-{place}-{number}")
            for number, table in enumerate(section.tables, start=1)
        ),
        *(
            _picture(picture, f"picture-{place}-{number}")
            for number, picture in enumerate(section.pictures, start=1)
        ),
        aria_labelledby=name,
    )


def _table(table: Table, name: str) -> Element:
    cells = [cell for row in table.rows for cell in row]
    # Cells with the same note share its letter.
    notes = list(dict.fromkeys(cell.note for cell in cells if cell.note is not None))
    kinds = [
        "number" if any(row[column].value is not None for row in table.rows) else "words"
        for column in range(len(table.header))
    ]
    heading = (
        _element("th", title, scope="col", class_=kind)
        for title, kind in zip(table.header, kinds, strict=True)
    )
    body = (
        _element(
            "tr",
            *(
                _cell(cell, place, kind, notes, name)
                for place, (cell, kind) in enumerate(zip(row, kinds, strict=True))
            ),
        )
        for row in table.rows
    )
    caption = f"{name}-caption"
    grid = _element(
        "table",
        _element("thead", _element("tr", *heading)),
        _element("tbody", *body),
        aria_labelledby=caption,
    )
    return _element(
        "figure",
        _element("figcaption", table.caption, id=caption),
        _scrolling(grid, caption),
        *_notes(notes, name),
        class_="table",
        id=name,
    )


def _cell(cell: Cell, place: int, kind: str, notes: Sequence[str], table: str) -> Element:
    parts: list[Element | str] = [_element("strong", cell.text) if cell.bold else cell.text]
    if cell.note is not None:
        letter = _letters(notes.index(cell.note))
        link = _element("a", letter, href=f"#{table}-note-{letter}", title=cell.note)
        parts.append(_element("sup", link))
    if cell.paper is not None:
        label = _element("span", " paper ", class_="unseen")
        parts.append(_element("span", label, cell.paper, class_="paper"))
    tag, attributes = ("th", {"scope": "row"}) if place == 0 else ("td", {})
    if cell.value is not None:
        attributes["data_value"] = _sort_key(cell.value)
    return _element(tag, *parts, class_=kind, **attributes)


def _sort_key(value: float) -> str:
    """Return a number as the script reads it back exactly; it has its own word for infinity."""
    return repr(float(value)).replace("inf", "Infinity")


def _notes(notes: Sequence[str], table: str) -> list[Element]:
    items = [
        _element("li", note, id=f"{table}-note-{_letters(number)}")
        for number, note in enumerate(notes)
    ]
    return [_element("ol", *items, type="a", class_="notes")] if items else []


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ...: the way browsers letter a list."""
    rest, last = divmod(number, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("a") + last)


def _picture(picture: Picture, name: str) -> Element:
    caption = f"{name}-caption"
    try:
        import matplotlib as mpl
    except ImportError:
        content = _element(
            "p",
            "This picture is not drawn, because matplotlib is not installed; "
            "pip install 'likewise[plots]' brings it.",
            class_="missing",
        )
    else:
        # Text stays text, to be searched and read aloud; the salt makes equal figures equal files.
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            drawing = _inline_svg(_svg(picture.draw()), name)
        drawing.attrib.update({"role": "img", "aria-labelledby": caption})
        content = _scrolling(drawing, caption)
    label = _element("figcaption", picture.caption, id=caption)
    return _element("figure", content, label, class_="picture", id=name)


def _svg(figure: "Figure") -> str:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    return stream.getvalue()


def _inline_svg(text: str, name: str) -> Element:
    """Return a drawing of matplotlib as an element for a page that holds other drawings too."""
    svg = ET.fromstring(text)  # noqa: S314 -- matplotlib wrote it a moment ago
    for element in svg.iter():
        element.tag = _without_namespace(element.tag)
        element.attrib = {
            _without_namespace(key): _with_own_ids(_without_namespace(key), value, name)
            for key, value in element.attrib.items()
        }
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag in {"metadata", "style"}:  # a style here would rule the whole page
                parent.remove(child)
    width = svg.attrib.pop("width")
    svg.attrib.pop("height")
    svg.set("style", f"--width: {width}")
    return svg


def _without_namespace(name: str) -> str:
    return name.rpartition("}")[2]


def _with_own_ids(attribute: str, value: str, name: str) -> str:
    if attribute == "id":
        return f"{name}-{value}"
    if attribute == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")


def _scrolling(content: Element, caption: str) -> Element:
    """Return a box in which what is wider than the page is scrolled, by keyboard too."""
    return _element(
        "div", content, class_="scroll", role="region", tabindex="0", aria_labelledby=caption
    )


def _element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """Return an element; underscores in attributes' names stand for hyphens, a last one falls."""
    built = Element(
        tag, {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    )
    for child in children:
        if isinstance(child, Element):
            built.append(child)
        elif len(built):
            built[-1].tail = (built[-1].tail or "") + child
        else:
            built.text = (built.text or "") + child
    return built


def _resource(name: str) -> str:
    return files("likewise.pages").joinpath(name).read_text(encoding="utf-8")
