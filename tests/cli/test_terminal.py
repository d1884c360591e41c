"""What reaches a terminal: nothing that commands it, whatever files and their names hold."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from likewise.cli.terminal import complain, note, say, show_json

from .conftest import Run, write_files

ESCAPE = "\x1b[31m"
FIT = ("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops")


def is_plain(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


PREDICT = """
import sys
import numpy as np
import likewise.cli.predict as command
from likewise.cli import main

columns = {"id": np.array(["ID", "b"]), "prediction": np.array([1, -1])}
command._classify = lambda *given: (columns, [-1, 1])
sys.argv = ["likewise", "predict", "model.skops", "rows.csv"]
main()
"""
"""Predicts two rows without a model, which would take seconds to load."""


def predicting(identifier: str) -> list[str]:
    return [sys.executable, "-c", PREDICT.replace('"ID"', ascii(identifier))]


def read_terminal(command: list[str]) -> str:
    """Run a command whose stdout is a terminal, and return what was sent there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs)  # noqa: S603
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunks.append(os.read(ours, 1 << 16))
        except OSError:  # how Linux says that the other side has gone
            break
        if not chunks[-1]:
            break
    os.close(ours)
    assert process.wait() == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_a_sentence_is_one_plain_line_of_bounded_length(capsys: pytest.CaptureFixture[str]) -> None:
    note(f"{ESCAPE}{'x' * 100_000}\n\u202ey")
    complain(FileNotFoundError(2, "No such file", f"{ESCAPE}\n"))
    complain(FileNotFoundError(2, "No such file", b"\xff"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 5000 for line in lines)
    assert lines[1] == r"likewise: \x1b[31m\n: No such file."


def test_results_are_plain_and_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"one{ESCAPE}\ntwo\r")
    assert capsys.readouterr().out == "one\\x1b[31m\ntwo\\r\n"
    content = {"a": f"{ESCAPE}\x7f\u202e\udcff"}
    show_json(content)
    output = capsys.readouterr().out
    assert is_plain(output)
    assert json.loads(output) == content


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "a", "b", f"--{ESCAPE}", "x"],
        [f"{ESCAPE}\u202e"],
        ["fit", "a", "b", "-o", "c", f"{ESCAPE}extra"],
        ["fit", "a", "b", "-o", "c", f"--method={ESCAPE}"],
        ["fit", f"{ESCAPE}.csv", "b.csv", "-o", "c.skops"],
        ["fit", "rows.csv", "pairs.csv", "-o", f"{ESCAPE}/c.skops"],
        ["fit", "rows.csv", "pairs.csv", "-o", "c.skops", f"--features={ESCAPE}"],
        ["predict", f"{ESCAPE}", "rows.csv"],
        ["predict", "\udcff.skops", "\udcff.csv"],
        ["report", "rows.csv", "pairs.csv", "-o", f"{ESCAPE}.txt"],
        ["reproduce", ESCAPE],
        ["reproduce", "theory", "--out", "x", f"--methods={ESCAPE}"],
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_an_error_repeats_is_escaped(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, (result.stderr, result.exception)
    assert is_plain(result.stderr), result.stderr
    assert result.stderr


def test_ids_are_escaped_on_a_terminal_and_exact_in_a_pipe() -> None:
    command = predicting(f"{ESCAPE}[red]")
    piped = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert piped.stdout == f"id,prediction\n{ESCAPE}[red],1\nb,-1\n"
    assert read_terminal(command) == "id,prediction\n\\x1b[31m[red],1\nb,-1\n"


def test_a_summary_shows_names_escaped(folder: Path, succeed: Run) -> None:
    write_files(folder, n_rows=100, n_pairs=30)
    result = succeed(*FIT[:-1], f"{ESCAPE}\n\udcff.skops")
    assert is_plain(result.stdout)
    assert r"\x1b[31m\n\udcff.skops" in result.stdout
    assert (folder / f"{ESCAPE}\n\udcff.skops").exists()


def shell(command: str, identifier: str = "a") -> "subprocess.CompletedProcess[str]":
    """Run a line of the shell in which VERSION and PREDICT are commands of ours."""
    version = shlex.join([sys.executable, "-m", "likewise.cli", "--version"])
    predict = shlex.join(predicting(identifier))
    line = f"VERSION() {{ {version}; }}; PREDICT() {{ {predict}; }}; {command}"
    return subprocess.run(  # noqa: S603
        ["bash", "-c", line],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )


COMMANDS = pytest.mark.parametrize("command", ["VERSION", "PREDICT"])


@COMMANDS
def test_a_reader_that_takes_nothing_is_no_error(command: str) -> None:
    result = shell(f"{command} | true; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode, result.stderr) == (0, "")


@COMMANDS
def test_a_closed_stdout_is_refused_at_once(command: str) -> None:
    result = shell(f"{command} >&-")
    assert result.returncode == 2
    assert result.stderr.startswith("likewise: stdout is closed")
    assert len(result.stderr.splitlines()) == 1


@COMMANDS
def test_other_closed_streams_do_no_harm(command: str) -> None:
    result = shell(f"{command} <&- 2>&-")
    assert result.returncode == 0
    assert result.stdout == shell(command).stdout != ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@COMMANDS
def test_a_full_stdout_is_one_sentence(command: str) -> None:
    result = shell(f"{command} > /dev/full")
    assert result.returncode == 2
    assert result.stderr == "likewise: stdout: No space left on device.\n"


def test_a_stdout_of_few_characters_is_one_sentence() -> None:
    result = shell("PYTHONIOENCODING=ascii PREDICT", "日本")
    assert result.returncode == 2
    assert result.stderr.startswith("likewise: stdout takes only ascii")
    assert len(result.stderr.splitlines()) == 1
