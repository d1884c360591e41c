"""What people see of a row: its cells as text, a long text, an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from likewise.io.arrow import import_pyarrow, is_text
from likewise.io.tables import Table
from likewise.io.wording import listed

__all__ = ["IMAGE_TYPES", "Records"]

IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
}
"""Kinds of images by the endings of their names; not SVG, which may hold scripts."""


@dataclass(frozen=True, eq=False)
class Records:
    """The rows of a table, to be shown.

    Attributes
    ----------
    table : Table
    shown : tuple of str
        Columns to show as fields.
    image : str or None
        A column of file names, which are looked for in the table's folder.
    text : str or None
        A column of long texts.
    """

    table: Table
    shown: tuple[str, ...]
    image: str | None = None
    text: str | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        show: Sequence[str] | None = None,
        image: str | None = None,
        text: str | None = None,
    ) -> "Records":
        """Choose what to show; by default every column, that of images and of texts as such."""
        named = {"--show": show or (), "--image": [image], "--text": [text]}
        for option, names in named.items():
            unknown = [name for name in names if name is not None and name not in table.columns]
            if unknown:
                raise ValueError(
                    f"{table.path} has no column {listed(unknown)} for {option}; its columns are "
                    f"{listed(list(table.columns))}."
                )
        if image is not None and not is_text(table.columns[image].type):
            raise ValueError(
                f"{table.path}, column {image!r}: --image needs a column of file names."
            )
        chosen = list(table.columns) if show is None else show
        return cls(table, tuple(n for n in chosen if n not in {image, text}), image, text)

    def cells(self, row: int) -> list[str]:
        """Return the shown cells of a row as text."""
        return [_as_text(self.table.columns[name][row].as_py()) for name in self.shown]

    def long_text(self, row: int) -> str | None:
        """Return the long text of a row; None without a column of such."""
        return None if self.text is None else _as_text(self.table.columns[self.text][row].as_py())

    def image_name(self, row: int) -> str | None:
        """Return the name of a row's image as it stands in the table; None if it has none."""
        return None if self.image is None else self.table.columns[self.image][row].as_py() or None

    def image_path(self, row: int) -> Path | None:
        """Return where the image of a row is; None where there is none in the table's folder."""
        name = self.image_name(row)
        if name is None or "\x00" in name:
            return None
        folder = self.table.path.parent.resolve()
        try:
            path = (folder / name).resolve()  # links are followed, and may not lead elsewhere
            inside = path.is_relative_to(folder) and path.suffix.lower() in IMAGE_TYPES
            return path if inside and path.is_file() else None
        except (OSError, RuntimeError):  # no name of a file, or links in a circle
            return None

    def pair(self, left: int, right: int) -> dict[str, Any]:
        """Return what is to be seen of two rows, and in which fields they differ."""
        seen: dict[str, Any] = {
            "left": self.id_of(left),
            "right": self.id_of(right),
            "fields": [self._field(name, left, right) for name in self.shown],
        }
        if self.text is not None:
            seen["text"] = {
                "name": self.text,
                "left": self.long_text(left),
                "right": self.long_text(right),
            }
        if self.image is not None:
            seen["image"] = {
                "name": self.image,
                "left": self._image(left),
                "right": self._image(right),
            }
        return seen

    def _field(self, name: str, left: int, right: int) -> dict[str, str]:
        """Return two cells as text, and whether they are alike, near or differ."""
        one, other = (self.table.columns[name][row].as_py() for row in (left, right))
        shown = {"name": name, "left": _as_text(one), "right": _as_text(other)}
        if shown["left"] == shown["right"]:
            return {**shown, "how": "alike"}
        spread = self._spreads.get(name)
        both_there = one is not None and other is not None
        if spread is not None and both_there and abs(one - other) <= _NEAR * spread:
            return {**shown, "how": "near"}
        return {**shown, "how": "differs"}

    @cached_property
    def _spreads(self) -> dict[str, float]:
        """Standard deviations of the shown columns of numbers."""
        pa = import_pyarrow()
        found = {}
        for name in self.shown:
            column = self.table.columns[name]
            if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
                spread = pa.compute.stddev(column).as_py()
                if spread is not None and spread > 0:  # NaN is neither
                    found[name] = float(spread)
        return found

    def brief(self, row: int) -> dict[str, Any]:
        """Return what is to be seen of one row among others."""
        fields = [
            {"name": name, "value": value}
            for name, value in zip(self.shown, self.cells(row), strict=True)
        ]
        return {
            "id": self.id_of(row),
            "fields": fields[:_BRIEF],
            "text": (self.long_text(row) or "")[:_BRIEF_TEXT],
            "image": self._image(row),
        }

    def id_of(self, row: int) -> str:
        """Return the id of a row."""
        return str(self.table.keys[row].as_py())

    def rows(self) -> dict[str, int]:
        """Return row numbers by ids."""
        return {key: row for row, key in enumerate(self.table.keys.to_pylist())}

    def _image(self, row: int) -> str | None:
        """Return the address of a row's image; whether it may be seen, its request decides."""
        return None if self.image_name(row) is None else f"/image/{row}"


_NEAR = 0.5
"""Standard deviations of a column within which numbers are near: two rows drawn at random are
farther apart three times out of four, where the column is Gaussian."""
_BRIEF = 4
"""Fields of a row shown among others."""
_BRIEF_TEXT = 120


def _as_text(value: Any) -> str:
    """Return a cell as people read it: numbers with six digits, nothing for a gap."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"  # noqa: PLR0124 - NaN
    return str(value)
