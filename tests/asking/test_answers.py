"""What the server does with answers: every one is kept, told to the asker, and counted."""

import http.client
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from likewise.asking.questions import Question
from likewise.asking.session import Session
from likewise.asking.store import AnswerStore

from .serving import Running, open_session, questions, say, write_rows


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    table = write_rows(tmp_path)
    with Running(open_session(table, tmp_path / "answers.sqlite")) as server:
        yield server


def saved(folder: Path) -> list[tuple[str, str, str, str]]:
    with AnswerStore(folder / "answers.sqlite") as store:
        return [(one.person, one.left, one.right, one.relation) for one in store.current()]


# --- answers ---------------------------------------------------------------------------------


def test_a_question_stays_until_it_is_answered_and_the_next_is_ready(running: Running) -> None:
    with running.client() as client:
        first, second = questions(client, "Ann")
        assert questions(client, "Ann") == [first, second]
        fields = {field["name"]: field for field in first["fields"]}
        assert fields["kind"] == {"name": "kind", "left": "even", "right": "odd", "how": "differs"}
        reply = say(client, "Ann", first, "same").json()
        assert reply["questions"][0] == second
        assert (reply["saved"], reply["answers"]) == (1, 1)


def test_answers_reach_the_file_and_the_asker_with_their_reason(
    running: Running, tmp_path: Path
) -> None:
    with running.client() as client:
        for relation in ("same", "different", "unsure"):
            say(client, "Ann", questions(client, "Ann")[0], relation, reason="forged")
        # A question of a server that was stopped: its reason comes from the page.
        say(client, "Ann", {"left": "r30", "right": "r31"}, "same", reason="uncertain")
    told = [(one.left, one.right, one.relation) for one in running.session.asker.answers]
    assert told == [(0, 1, "same"), (0, 2, "different"), (0, 3, "unsure"), (30, 31, "same")]
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        reasons = [line.reason for line in store.current()]
    assert reasons == ["random", "random", "random", "uncertain"]


def test_undo_brings_the_question_back_and_a_change_replaces_the_answer(
    running: Running, tmp_path: Path
) -> None:
    with running.client() as client:
        first, second = questions(client, "Ann")
        say(client, "Ann", first, "same")
        say(client, "Ann", second, "same")
        reply = client.post("/api/undo", json={"person": "Ann"}).json()
        assert reply["undone"] is True
        assert reply["questions"][0]["right"] == second["right"]
        assert len(running.session.asker.answers) == 1
        (past,) = client.get("/api/past", params={"person": "Ann"}).json()["past"]
        say(client, "Ann", first, "different", replaces=past["line"])
        assert saved(tmp_path) == [("Ann", "r0", "r1", "different")]
        assert running.session.asker.answers[0].relation == "different"
        client.post("/api/undo", json={"person": "Ann"})
        assert client.post("/api/undo", json={"person": "Ann"}).json()["undone"] is False
    assert saved(tmp_path) == []
    assert running.session.asker.answers == []


def test_a_skipped_question_is_not_asked_again(running: Running, tmp_path: Path) -> None:
    with running.client() as client:
        first, second = questions(client, "Ann")
        sent = {"person": "Ann", "left": first["left"], "right": first["right"]}
        after = client.post("/api/skip", json=sent).json()["questions"]
        assert after[0] == second
        assert first not in after
    assert saved(tmp_path) == []


def test_an_answer_that_is_sent_again_is_saved_once(running: Running, tmp_path: Path) -> None:
    with running.client() as client:
        question = questions(client, "Ann")[0]
        lines = [say(client, "Ann", question, "same", request="x").json()["saved"] for _ in "ab"]
    assert lines == [1, 1]
    assert len(saved(tmp_path)) == 1


def test_two_people_at_once_give_500_answers_and_none_is_lost_or_doubled(
    running: Running, tmp_path: Path
) -> None:
    pressed: dict[str, list[tuple[str, str, str]]] = {"Ann": [], "Ben": []}

    def answer(person: str) -> None:
        relations = ("same", "different", "unsure")
        with running.client() as client:
            asked = questions(client, person)
            for count in range(250):
                relation = relations[count % 3]
                pressed[person].append((asked[0]["left"], asked[0]["right"], relation))
                asked = say(client, person, asked[0], relation).json()["questions"]

    threads = [threading.Thread(target=answer, args=(person,)) for person in pressed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sorted((person, *one) for person, told in pressed.items() for one in told)
    assert sorted(saved(tmp_path)) == expected
    pairs = {frozenset(one[:2]) for told in pressed.values() for one in told}
    assert len(pairs) == 500  # no pair was shown twice
    assert len(running.session.asker.answers) == 500


def test_a_full_disk_is_said_and_what_was_saved_stays(running: Running, tmp_path: Path) -> None:
    with running.client() as client:
        say(client, "Ann", questions(client, "Ann")[0], "same")
        store = running.session._store
        store._connection.execute("PRAGMA max_page_count = 1")
        full = None
        for _ in range(200):  # until the pages that there are have no room left
            full = say(client, "Ann" * 10, questions(client, "Ann" * 10)[0], "same")
            if full.status_code != 200:
                break
        assert full is not None
        assert full.status_code == 507
        assert "the disk is full" in full.json()["error"]
        kept = saved(tmp_path)
        store._connection.execute("PRAGMA max_page_count = 1000")
        asked = questions(client, "Ann" * 10)[0]
        assert say(client, "Ann" * 10, asked, "same").status_code == 200
    assert len(saved(tmp_path)) == len(kept) + 1
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_servers_on_one_file_know_of_each_other(tmp_path: Path) -> None:
    table, answers = write_rows(tmp_path), tmp_path / "answers.sqlite"
    with (
        Running(open_session(table, answers)) as one,
        Running(open_session(table, answers)) as other,
        one.client() as here,
        other.client() as there,
    ):
        first = questions(here, "Ann")[0]
        say(here, "Ann", first, "same")
        assert there.get("/api/state", params={"person": "Ben"}).json()["answers"] == 1
        assert len(other.session.asker.answers) == 1
        assert questions(there, "Ben")[0] != first
        here.post("/api/undo", json={"person": "Ann"})
        there.get("/api/state")
        assert other.session.asker.answers == []


def test_a_new_server_begins_with_what_was_said(tmp_path: Path) -> None:
    table, answers = write_rows(tmp_path), tmp_path / "answers.sqlite"
    session = open_session(table, answers)
    session.answer("Ann", "r0", "r1", "same", reason="uncertain")
    session.answer("Ann", "r0", "r2", "same")
    session.undo("Ann")
    session.close()
    again = open_session(table, answers)
    (told,) = again.asker.answers
    assert (told.left, told.right, told.relation, told.reason) == (0, 1, "same", "uncertain")
    again.close()


# --- several people --------------------------------------------------------------------------


@pytest.fixture
def overlapping(tmp_path: Path) -> Iterator[Session]:
    session = open_session(write_rows(tmp_path), tmp_path / "answers.sqlite", overlap=0.3)
    yield session
    session.close()


def test_a_share_of_pairs_is_given_to_a_second_person_and_to_no_third(overlapping: Session) -> None:
    def answer(person: str, count: int) -> set[frozenset[str]]:
        pairs = set()
        for _ in range(count):
            (asked,) = overlapping.questions(person, 1)
            overlapping.answer(person, asked["left"], asked["right"], "same")
            pairs.add(frozenset((asked["left"], asked["right"])))
        return pairs

    first = answer("Ann", 200)
    assert len(first) == 200  # nobody is asked the same twice
    second = answer("Ben", 100)
    shared = len(first & second)
    assert 40 <= shared <= 80  # 60 on average, standard deviation 6.5
    third = answer("Cid", 50)
    assert not third & first & second


def test_answers_that_cancel_each_other_tell_the_asker_nothing(overlapping: Session) -> None:
    overlapping.answer("Ann", "r0", "r1", "same")
    overlapping.answer("Ben", "r1", "r0", "different")
    (told,) = overlapping.asker.answers
    assert told.relation == "unsure"
    overlapping.answer("Cid", "r1", "r0", "different")
    assert overlapping.asker.answers[0].relation == "different"


def test_agreement_and_error_rate_of_everybody(running: Running) -> None:
    session = running.session  # the stand-in has even and odd rows for classes
    session.answer("Ann", "r0", "r2", "same")
    session.answer("Ann", "r0", "r1", "same")  # wrong
    session.answer("Ann", "r1", "r3", "unsure")
    session.answer("Ben", "r0", "r2", "same")
    session.answer("Ben", "r0", "r1", "different")
    with running.client() as client:
        ann, ben = client.get("/api/state").json()["people"]
        lines = client.get("/people.csv").text.splitlines()
    assert ann == {"person": "Ann", "answers": 3, "unsure": 1, "shared": 2, "agreement": 0.5,
                   "contradicted": 0.5}  # fmt: skip
    assert (ben["agreement"], ben["contradicted"]) == (0.5, 0.0)
    assert lines == ["person,answers,unsure,shared,agreement,contradicted", "Ann,3,1,2,0.5,0.5",
                     "Ben,2,0,2,0.5,0.0"]  # fmt: skip


def test_the_answers_can_be_fetched_as_a_file_of_pairs(running: Running) -> None:
    running.session.answer("Ann", "r0", "r2", "same")
    running.session.answer("Ann", "r0", "r1", "unsure")
    with running.client() as client:
        reply = client.get("/answers.csv")
    assert reply.text == "left,right,relation\nr0,r2,same\n"
    assert reply.headers["content-disposition"] == 'attachment; filename="answers.csv"'


def test_what_goes_wrong_in_the_background_is_told(running: Running) -> None:
    asker: Any = running.session.asker
    asker.problem = RuntimeError("no memory")
    with running.client() as client:
        told = "The classifier could not be fitted: no memory"
        assert client.get("/api/state").json()["problem"] == told
        asker.problem = None  # an asker tells it once, but there are others to see it
        assert client.get("/api/state").json()["problem"] == told
        asker.points = [(20, 0.9, 0.85, 0.95)]  # the next fit went well
        assert client.get("/api/state").json()["problem"] is None


def test_suspects_are_listed_until_they_are_checked_again(running: Running) -> None:
    asker: Any = running.session.asker
    line = running.session.answer("Ann", "r0", "r1", "same")
    asker.suspected = [Question(0, 1, "random")]
    with running.client() as client:
        (suspect,) = client.get("/api/state").json()["suspects"]
        assert (suspect["line"], suspect["relation"]) == (line.line, "same")
        running.session.answer("Ben", "r0", "r1", "same", replaces=line.line)
        assert client.get("/api/state").json()["suspects"] == []


def test_requests_after_one_another_use_one_connection(running: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.door.port, timeout=10)
    headers = {"cookie": f"{running.door.cookie}={running.door.token}"}
    sockets = set()
    for _ in range(3):
        connection.request("GET", "/api/state", headers=headers)
        assert connection.getresponse().read()
        sockets.add(connection.sock)
    assert len(sockets) == 1
    connection.close()
