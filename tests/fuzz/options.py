"""Command lines made of options, sound and odd, in any order."""

import os
import random
from pathlib import Path

from tests.fuzz.checks import command
from tests.fuzz.files import write_sound

__all__ = ["fuzz_options"]

_ODD = (
    "",
    " ",
    "-",
    "--",
    "0",
    "-1",
    "nan",
    "inf",
    "1e999",
    "0.5",
    "1",
    "2",
    "99999999999999999999",
    "auto",
    "a,b",
    '"',
    "a\nb",
    '"a\nb"',
    ",",
    "c0",
    "c0,c0",
    "id",
    "\x1b[31m",
    "\u202e",
    "\udcff",
    "é" * 300,
    "x" * 5000,
    "../up.skops",
    "missing/model.skops",
    ".",
    "/dev/null",
    "/dev/full",
    "/proc/model.skops",
    "rows.csv",
    "pairs.csv",
    "out.csv",
    "out.parquet",
    "out.html",
    "out.json",
    "model.skops",
    "loop",
)
_OPTIONS = {
    "fit": [
        "--method",
        "su",
        "--prior",
        "--alpha",
        "--loss",
        "--rewrite",
        "--positive",
        "--id",
        "--features",
        "--drop",
        "--seed",
        "--json",
        "-o",
        "--output",
        "--classes",
        "--errors",
        "--pairing",
        "--known",
        "--rows",
        "--model",
        "--engine",
        "--scheduler",
    ],
    "prior": [
        "--method",
        "--level",
        "--classes",
        "--pairing",
        "--errors",
        "--id",
        "--features",
        "--drop",
        "--json",
    ],
    "predict": ["-o", "--output", "--trust", "--json"],
    "report": [
        "--model",
        "--new-pairs",
        "--same-pairs",
        "-o",
        "--level",
        "--classes",
        "--pairing",
        "--errors",
        "--id",
        "--features",
        "--drop",
        "--seed",
        "--trust",
        "--json",
    ],
    "datasets": ["--json", "--help"],
    "reproduce": ["--help", "--out"],
}
_KEPT_SHORT = {
    "fit": ("--method", "su", "--prior", "0.7", "--alpha", "0.1"),
    "prior": ("--method", "km1"),
    "report": ("--level", "2"),
    "reproduce": ("--jobs", "0"),
}
"""What keeps a command from taking long: the last of an option given twice counts."""


def fuzz_options(draw: random.Random, folder: Path) -> None:
    """Run a command with a few options too many, too few or too odd."""
    table, pairs = write_sound(draw, folder)
    os.chdir(folder)
    if not os.path.lexists("loop"):
        Path("loop").symlink_to("loop")
    name = draw.choice(tuple(_OPTIONS))
    places = {
        "fit": [table.name, pairs.name, "-o", "model.skops"],
        "prior": [table.name, pairs.name],
        "predict": ["model.skops", table.name],
        "report": [table.name, pairs.name],
    }
    arguments = list(places.get(name, []))
    for _ in range(draw.randrange(4)):
        _disturb(draw, name, arguments)
    command(name, *arguments, *_KEPT_SHORT.get(name, ()))


def _disturb(draw: random.Random, name: str, arguments: list[str]) -> None:
    kind, at = draw.random(), draw.randrange(len(arguments) + 1)
    if kind < 0.6:
        arguments[at:at] = [draw.choice(_OPTIONS[name]), draw.choice(_ODD)]
    elif kind < 0.8 and arguments:
        arguments[at % len(arguments)] = draw.choice(_ODD)
    elif kind < 0.9:
        arguments.insert(at, draw.choice(_ODD))
    elif arguments:
        del arguments[at % len(arguments)]
