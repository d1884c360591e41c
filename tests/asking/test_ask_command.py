"""``likewise ask`` as a program: what it says and refuses, and that a killed one loses nothing."""

import json
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.asking import server
from likewise.asking.store import AnswerStore, TableMark
from likewise.cli.app import app
from likewise.datasets import make_gaussians

from .serving import client_of, questions, say
from .stand_in import StandIn


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make it the working folder, with rows.csv in it: one column of text, one empty cell."""
    X, y = make_gaussians(120, separation=4.0, random_state=0)
    lines = [f"r{i},{a:.5f},{b:.5f},{'x' if i % 3 else 'y'}" for i, (a, b) in enumerate(X)]
    lines[7] = "r7,,0.5,x"
    (tmp_path / "rows.csv").write_text("\n".join(["id,first,second,kind", *lines]) + "\n")
    np.save(tmp_path / "classes.npy", y)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["ask", *arguments])


def refuse(*arguments: str) -> str:
    """Run the command, which must end with one sentence and exit code 2; return that."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    (line,) = result.stderr.splitlines()
    assert line.startswith("likewise: ")
    return str(line)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every server be interrupted as soon as it runs, and nothing be learned meanwhile."""

    class Interrupted:
        def run(self, sockets: Any) -> None:
            raise KeyboardInterrupt

    def stand_in(matrix: Any, answers: Any, **settings: Any) -> StandIn:
        return StandIn(len(matrix), answers)

    monkeypatch.setattr(server, "make_server", lambda app: Interrupted())
    monkeypatch.setattr("likewise.asking.Asker", stand_in)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that a browser was opened at."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    return addresses


def fill(folder: Path, *, people: tuple[str, ...] = ("Ann",), count: int = 60) -> None:
    """Answer as many questions rightly about different pairs, in turn."""
    classes = np.load(folder / "classes.npy")
    pairs = random.Random(0).sample(list(combinations(range(len(classes)), 2)), count)  # noqa: S311
    with AnswerStore("rows.answers.sqlite") as store:
        for number, (left, right) in enumerate(pairs):
            relation = "same" if classes[left] == classes[right] else "different"
            person = people[number % len(people)]
            store.append(person, f"r{left}", f"r{right}", relation, "random")


def close_gap(folder: Path) -> None:
    """Fill in the empty cell."""
    rows = (folder / "rows.csv").read_text().replace("r7,,", "r7,0.1,")
    (folder / "rows.csv").write_text(rows)


# --- what it says ----------------------------------------------------------------------------


@pytest.mark.usefixtures("interrupted")
def test_it_shows_the_address_opens_it_and_ends_quietly(folder: Path, opened: list[str]) -> None:
    result = run("rows.csv", "--port", "0")
    assert result.exit_code == 0, result.stderr
    (address,) = opened
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
    assert result.stdout.splitlines() == [
        f"Asking at {address}",
        "0 answers so far. Ctrl-C ends; every answer is saved.",
        "",
        "0 answers saved in rows.answers.sqlite.",
    ]
    assert result.stderr == ""
    assert run("rows.csv", "--port", "0", "--no-browser").exit_code == 0
    assert len(opened) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("interrupted")
def test_the_next_command_learns_from_the_same_columns(folder: Path) -> None:
    fill(folder, count=10)
    result = run("rows.csv", "--port", "0", "--no-browser", "--text", "kind", "--id", "id")
    assert result.stdout.splitlines()[-1] == (
        "Next: likewise fit rows.csv rows.answers.sqlite -o model.skops --errors auto "
        "--id id --features first,second --model trees"
    )
    fill(folder)
    close_gap(folder)
    result = run("rows.csv", "--port", "0", "--no-browser", "--text", "kind")
    *_, last = result.stdout.splitlines()
    assert last == (
        "Next: likewise fit rows.csv rows.answers.sqlite -o model.skops --errors auto "
        "--features first,second"
    )
    command = [sys.executable, "-m", "likewise.cli", *shlex.split(last)[2:]]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603
    assert (folder / "model.skops").is_file()


@pytest.mark.usefixtures("interrupted")
def test_another_host_is_warned_of(folder: Path) -> None:
    result = run("rows.csv", "--port", "0", "--no-browser", "--host", "0.0.0.0")  # noqa: S104
    assert result.exit_code == 0
    assert "0.0.0.0 can be reached from other machines" in result.stderr
    assert run("rows.csv", "--port", "0", "--no-browser", "--host", "localhost").stderr == ""


@pytest.mark.usefixtures("interrupted")
def test_without_a_port_the_usual_one_or_a_free_one_is_taken(folder: Path) -> None:
    with closing(server.bound_socket("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("likewise.cli.ask._USUAL_PORT", port)
            result = run("rows.csv", "--no-browser")
        assert result.exit_code == 0, result.stderr
        assert f":{port}/" not in result.stdout
        sentence = refuse("rows.csv", "--no-browser", "--port", str(port))
        assert f"port {port}: address already in use; choose another --port" in sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--overlap", "1.5"], "--overlap must lie between 0 and 1, as 0.1; got 1.5."),
        (["--show", "first,colour"], "no column 'colour' for --show"),
        (["--image", "first"], "column 'first': --image needs a column of file names."),
        (["--text", "story"], "no column 'story' for --text"),
        (["--features", "first", "--drop", "second"], "either --features or --drop"),
        (["--drop", "first,second,kind"], "no column left to learn from"),
        (["--answers", "rows.csv"], "rows.csv is not a file of answers"),
        (["--answers", "."], "is not a file"),
        (["--answers", "there/a.sqlite"], "The folder there does not exist"),
        (["--export", "pairs.csv"], "There is no file of answers rows.answers.sqlite to export"),
        (["--host", "no.such.host.invalid"], "Nothing can be served on no.such.host.invalid"),
    ],
)
def test_bad_input_is_refused_in_a_sentence_and_leaves_no_file(
    folder: Path, options: list[str], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    assert message in refuse("rows.csv", "--no-browser", "--port", "0", *options)
    assert sorted(folder.rglob("*")) == before


def test_answers_about_another_table_are_refused(folder: Path) -> None:
    AnswerStore("other.sqlite", TableMark.of(["a", "b"], ["id", "size"])).close()
    sentence = refuse("rows.csv", "--answers", "other.sqlite", "--no-browser", "--port", "0")
    assert "holds answers about another table, with the columns id, size" in sentence


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    sentence = refuse("rows.csv")
    assert f"needs {module}" in sentence
    assert "pip install 'likewise[ask]'" in sentence


# --- files -----------------------------------------------------------------------------------


def test_answers_are_exported_as_fit_takes_them(folder: Path) -> None:
    fill(folder, count=30)
    with AnswerStore("rows.answers.sqlite") as store:
        store.append("Ann", "r0", "r99", "unsure", "random")
        expected = [(one.left, one.right, one.relation) for one in store.current()][:-1]
    result = run("rows.csv", "--export", "pairs.csv")
    assert result.stdout == "30 pairs in pairs.csv.\n"
    lines = (folder / "pairs.csv").read_text().splitlines()
    assert lines == ["left,right,relation", *map(",".join, expected)]
    assert not (folder / "pairs.people.csv").exists()


@pytest.mark.slow
def test_how_people_answered_is_exported_beside_the_answers(folder: Path) -> None:
    close_gap(folder)
    fill(folder, people=("Ann", "Ben"), count=60)
    with AnswerStore("rows.answers.sqlite") as store:
        anns = [line for line in store.current() if line.person == "Ann"][:10]
        for number, line in enumerate(anns):  # Ben says it of these too, three times otherwise
            other = {"same": "different", "different": "same"}[line.relation]
            relation = other if number < 3 else line.relation
            store.append("Ben", line.left, line.right, relation, "overlap")
    result = run("rows.csv", "--drop", "kind", "--export", "pairs.csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == ["57 pairs in pairs.csv.", "2 people in pairs.people.csv."]
    header, ann, ben = (folder / "pairs.people.csv").read_text().splitlines()
    assert header == "person,answers,unsure,shared,agreement,contradicted"
    assert ann.startswith("Ann,30,0,10,0.7,")
    assert ben.startswith("Ben,40,0,10,0.7,")
    assert float(ben.split(",")[-1]) > float(ann.split(",")[-1])


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "-o", "model.skops"],
        ["prior"],
        ["report"],
    ],
    ids=lambda command: command[0],
)
def test_other_commands_read_the_file_of_answers(folder: Path, command: list[str]) -> None:
    close_gap(folder)
    fill(folder, count=80)
    run("rows.csv", "--export", "pairs.csv")
    found = []
    for pairs in ("rows.answers.sqlite", "pairs.csv"):
        options = ["--drop", "kind", "--json"]
        result = CliRunner().invoke(app, [command[0], "rows.csv", pairs, *command[1:], *options])
        assert result.exit_code == 0, result.stderr
        content = json.loads(result.stdout)
        content.pop("pairs", None)
        found.append(content)
    assert found[0] == found[1]
    assert found[0]["similar_pairs"] + found[0]["dissimilar_pairs"] == 80


# --- as a program of its own -----------------------------------------------------------------


class Program:
    """A server in a process of its own, which can be killed."""

    def __init__(self, table: str) -> None:
        command = [sys.executable, "-m", "likewise.cli", "ask", table, "--no-browser"]
        self.process = subprocess.Popen(  # noqa: S603
            [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.match(r"Asking at (http://127\.0\.0\.1:(\d+))/\?token=(.*)\n", first)
        assert found is not None, first
        self.origin, self.port, self.token = found.groups()

    def client(self) -> httpx.Client:
        return client_of(self.origin, f"likewise_{self.port}", self.token)

    def end(self, number: int) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what it wrote."""
        self.process.send_signal(number)
        said, complained = self.process.communicate(timeout=30)
        return self.process.returncode, said, complained


@contextmanager
def program(table: str) -> Iterator[Program]:
    running = Program(table)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate(timeout=30)


@pytest.mark.slow
def test_control_c_ends_it_and_says_what_is_saved(folder: Path) -> None:
    with program("rows.csv") as running, running.client() as client:
        asked = questions(client, "Ann")
        for _ in range(3):
            asked = say(client, "Ann", asked[0], "same").json()["questions"]
        code, said, complained = running.end(signal.SIGINT)
    assert (code, complained) == (0, "")
    assert "3 answers saved in rows.answers.sqlite.\nNext: likewise fit rows.csv" in said
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.csv", "classes.npy", "rows.answers.sqlite"}  # the log is put away


Confirmed = list[tuple[str, str, str, str]]


def answer_until_killed(running: Program, person: str, confirmed: Confirmed) -> None:
    """Answer as fast as the server can, and note what it said was saved."""
    relations = ("same", "different", "unsure")
    with suppress(httpx.TransportError), running.client() as client:
        asked = questions(client, person)
        for number in range(100_000):
            pair, relation = asked[0], relations[number % 3]
            reply = say(client, person, pair, relation)
            assert reply.status_code == 200, reply.text
            confirmed.append((person, pair["left"], pair["right"], relation))
            asked = reply.json()["questions"]


def kill_and_check(folder: Path, times: int, pause: Callable[[], float]) -> None:
    confirmed: Confirmed = []
    for number in range(times):
        before = len(confirmed)
        with program("rows.csv") as running:
            threads = [
                threading.Thread(
                    target=answer_until_killed, args=(running, f"{name}{number}", confirmed)
                )
                for name in ("Ann", "Ben")
            ]
            for thread in threads:
                thread.start()
            until = time.monotonic() + 20
            while len(confirmed) == before and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(pause())
            code, _, _ = running.end(signal.SIGKILL)
            assert code == -signal.SIGKILL
            for thread in threads:
                thread.join(30)
        assert len(confirmed) > before
        with closing(sqlite3.connect("rows.answers.sqlite")) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with AnswerStore("rows.answers.sqlite") as store:
            there = [(one.person, one.left, one.right, one.relation) for one in store.current()]
        assert len(set(there)) == len(there)
        assert set(confirmed) <= set(there)
        # Of each person's answers, the last of a round may be saved and not confirmed.
        assert len(there) - len(confirmed) <= 2 * (number + 1)


def test_a_killed_server_loses_nothing_that_it_said_was_saved(folder: Path) -> None:
    pauses = random.Random(0)  # noqa: S311
    kill_and_check(folder, 3, lambda: pauses.uniform(0, 0.3))


@pytest.mark.slow
def test_50_killed_servers_lose_nothing_that_they_said_was_saved(folder: Path) -> None:
    pauses = random.Random(1)  # noqa: S311
    kill_and_check(folder, 50, lambda: pauses.uniform(0, 0.4))
