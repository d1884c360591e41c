"""The report as a file: what it holds, that it is well formed, and that nothing leaks into it."""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from likewise.pages.document import Cell, Picture, Section, Table
from likewise.pages.report import write_report

VOID = {"meta", "link", "br", "img", "hr"}
HOSTILE = """</td></script><script>alert("1")</script> & 'quotes' <b>"""


class Page(HTMLParser):
    """Elements in their order, with attributes and the text directly inside; raises if broken."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert not self._open, "elements are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag, f"{tag} closes another element"

    def handle_data(self, data: str) -> None:
        if self._open:
            self.elements[self._open[-1]][2].append(data)

    def texts(self, tag: str, **attributes: str) -> list[str]:
        return [
            "".join(text).strip()
            for name, found, text in self.elements
            if name == tag and attributes.items() <= found.items()
        ]

    def attributes(self, tag: str) -> list[dict[str, str]]:
        return [found for name, found, _ in self.elements if name == tag]


def draw_lines() -> Figure:
    figure = Figure(figsize=(4, 3), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], marker="o", label=r"$\alpha$")
    ax.set_title("<line> & more")
    ax.fill_between([0, 1], [0, 1], hatch="/")
    ax.imshow(np.eye(2))
    ax.legend()
    return figure


def write(folder: Path, *sections: Section, **facts: str) -> str:
    path = folder / "report.html"
    write_report(path, "A report", sections, facts)
    return path.read_text(encoding="utf-8")


def one_table(*cells: Cell) -> Section:
    header = tuple(f"column {number}" for number in range(len(cells)))
    return Section("One table", (), (Table("Its caption", header, (cells,)),))


def test_title_facts_words_tables_and_pictures_are_all_there(tmp_path: Path) -> None:
    section = Section(
        "First",
        ("One sentence.", "Another."),
        (Table("Its table", ("dataset", "ours"), ((Cell("banana"), Cell("67.8", 67.8)),)),),
        (Picture("Its picture", draw_lines),),
    )
    page = Page(write(tmp_path, section, trials="100", machine="two cores"))
    assert page.texts("title") == page.texts("h1") == ["A report"]
    assert page.texts("dt") == ["trials", "machine"]
    assert page.texts("dd") == ["100", "two cores"]
    assert page.texts("h2") == ["First"]
    assert page.texts("p") == ["One sentence.", "Another."]
    assert page.texts("figcaption") == ["Its table", "Its picture"]
    assert page.texts("th", scope="col") == ["dataset", "ours"]
    assert page.texts("th", scope="row") == ["banana"]
    assert page.texts("td") == ["67.8"]
    assert len(page.attributes("svg")) == 1


def test_the_contents_lead_to_every_section(tmp_path: Path) -> None:
    page = Page(write(tmp_path, *(Section(title, ()) for title in ("Same", "Same", "Other"))))
    assert page.texts("a") == ["Same", "Same", "Other"]
    targets = [link["href"][1:] for link in page.attributes("a")]
    assert targets == [heading["id"] for heading in page.attributes("h2")]
    assert len(set(targets)) == 3


def test_a_page_of_one_section_has_no_contents(tmp_path: Path) -> None:
    page = Page(write(tmp_path, Section("Only", ())))
    assert page.attributes("nav") == page.attributes("dl") == page.attributes("ul") == []


def test_no_text_is_taken_for_markup(tmp_path: Path) -> None:
    cell = Cell(HOSTILE, note=HOSTILE, paper=HOSTILE)
    table = Table(HOSTILE, (HOSTILE,), ((cell,),))
    section = Section(HOSTILE, (HOSTILE,), (table,), (Picture(HOSTILE, draw_lines),))
    path = tmp_path / "report.html"
    write_report(path, HOSTILE, [section, section], {HOSTILE: HOSTILE})
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.attributes("script")) == 1
    assert page.attributes("b") == []
    for tag, count in {
        "title": 1,
        "h1": 1,
        "dt": 1,
        "dd": 1,
        "h2": 2,
        "p": 2,
        "figcaption": 4,
    }.items():
        assert page.texts(tag) == [HOSTILE] * count
    assert page.texts("th", scope="row") == [HOSTILE] * 2
    assert page.texts("li", id="table-1-1-note-a") == [HOSTILE]
    assert [link["title"] for link in page.attributes("a") if "title" in link] == [HOSTILE] * 2


def test_ids_are_unique_and_all_that_is_pointed_at_exists(tmp_path: Path) -> None:
    tables = (Table("T", ("x",), ((Cell("1", note="n"),),)),) * 2
    pictures = (Picture("P", draw_lines),) * 2
    section = Section("S", (), tables, pictures)
    text = write(tmp_path, section, section)
    page = Page(text)
    ids = Counter(found["id"] for _, found, _ in page.elements if "id" in found)
    assert [name for name, count in ids.items() if count > 1] == []
    pointed_at = [
        *re.findall(r"url\(#([^)]+)\)", text.partition("</style>")[2]),
        *(found["aria-labelledby"] for _, found, _ in page.elements if "aria-labelledby" in found),
        *(
            found["href"][1:]
            for _, found, _ in page.elements
            if found.get("href", "").startswith("#")
        ),
    ]
    assert len(pointed_at) > 20
    assert set(pointed_at) <= set(ids)


def test_nothing_outside_the_file_is_named(tmp_path: Path) -> None:
    text = write(tmp_path, Section("S", (), (), (Picture("P", draw_lines),)))
    assert re.findall(r"https?:|//[a-z]|@import", text) == []
    page = Page(text)
    addresses = [
        found[name]
        for _, found, _ in page.elements
        for name in ("src", "href", "xlink:href")
        if name in found
    ]
    assert addresses
    assert [address for address in addresses if not address.startswith(("#", "data:"))] == []


def test_values_are_written_so_that_a_script_reads_them_back(tmp_path: Path) -> None:
    values: tuple[Any, ...] = (3, np.float64(0.1), np.float32(0.5), 1e-12, float("-inf"))
    page = Page(write(tmp_path, one_table(*(Cell("x", value=value) for value in values))))
    found = [
        cell["data-value"]
        for cell in page.attributes("th") + page.attributes("td")
        if "data-value" in cell
    ]
    assert found == ["3.0", "0.1", "0.5", "1e-12", "-Infinity"]


def test_columns_of_numbers_are_told_from_columns_of_words(tmp_path: Path) -> None:
    rows = ((Cell("a"), Cell("1", 1.0), Cell("b")), (Cell("c"), Cell("none"), Cell("d")))
    section = Section("S", (), (Table("T", ("x", "y", "z"), rows),))
    page = Page(write(tmp_path, section))
    assert [cell["class"] for cell in page.attributes("td")] == ["number", "words"] * 2


def test_equal_notes_share_a_letter_below_their_own_table(tmp_path: Path) -> None:
    cells = (Cell("1", note="late"), Cell("2", note="early"), Cell("3", note="late"))
    page = Page(write(tmp_path, one_table(*cells)))
    assert page.texts("a") == ["a", "b", "a"]
    assert page.texts("li", id="table-1-1-note-a") == ["late"]
    assert page.texts("li", id="table-1-1-note-b") == ["early"]


def test_letters_go_on_after_z_as_browsers_letter_lists(tmp_path: Path) -> None:
    page = Page(write(tmp_path, one_table(*(Cell("1", note=f"n{i}") for i in range(28)))))
    assert page.texts("a")[25:] == ["z", "aa", "ab"]


def test_the_legend_explains_what_occurs_and_nothing_else(tmp_path: Path) -> None:
    def legend(*cells: Cell) -> str:
        text = write(tmp_path, one_table(*cells))
        found = re.search(r'<ul class="legend".*?</ul>', text, re.DOTALL)
        assert found
        return found[0]

    plain = legend(Cell("1"))
    assert "Press a column" in plain
    words = {
        "Bold": Cell("1", bold=True),
        "paper": Cell("1", paper="2"),
        "note": Cell("1", note="n"),
    }
    for word, cell in words.items():
        assert word not in plain
        assert [other for other in words if other in legend(cell)] == [word]


def test_bold_and_paper_numbers_are_marked_in_the_cell(tmp_path: Path) -> None:
    text = write(tmp_path, one_table(Cell("d"), Cell("67.8", 67.8, bold=True, paper="67.2")))
    (cell,) = re.findall(r"<td.*?</td>", text)
    assert "<strong>67.8</strong>" in cell
    assert re.sub("<[^>]*>", "", cell) == "67.8 paper 67.2"


def test_the_same_report_is_the_same_file(tmp_path: Path) -> None:
    section = Section("S", (), (), (Picture("P", draw_lines),))
    assert write(tmp_path, section) == write(tmp_path, section)


def test_drawing_leaves_matplotlibs_settings_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    text = write(tmp_path, Section("S", (), (), (Picture("P", draw_lines),)))
    assert dict(mpl.rcParams) == before
    assert "&lt;line&gt;" in text  # text stays text
    assert Page(text).attributes("style") == [{}]  # the page's own


def test_without_matplotlib_tables_come_and_a_sentence_for_each_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    table = Table("T", ("x",), ((Cell("1"),),))
    section = Section("S", (), (table,), (Picture("The picture", draw_lines),))
    page = Page(write(tmp_path, section))
    assert page.texts("th", scope="row") == ["1"]
    assert page.texts("figcaption") == ["T", "The picture"]
    (sentence,) = page.texts("p")
    assert "likewise[plots]" in sentence


def test_a_drawing_that_fails_leaves_the_old_report_in_place(tmp_path: Path) -> None:
    def fail() -> Figure:
        raise ImportError("no module named seaborn")

    before = write(tmp_path, Section("Old", ()))
    with pytest.raises(ImportError, match="seaborn"):
        write(tmp_path, Section("New", (), (), (Picture("P", fail),)))
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before


def test_a_folder_that_is_not_there_is_named_before_anything_is_drawn(tmp_path: Path) -> None:
    def draw() -> Figure:
        raise AssertionError("drawn in vain")

    with pytest.raises(ValueError, match=r"folder .*missing.* does not exist"):
        write(tmp_path / "missing", Section("S", (), (), (Picture("P", draw),)))
