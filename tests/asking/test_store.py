"""The file of answers: what it keeps, what it refuses, and that nothing is lost."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.asking.store import AnswerStore, StoreError, TableMark
from likewise.io import read_pairs, read_table
from likewise.io.answers import APPLICATION_ID, read_answers

MARK = TableMark.of(["a", "b", "c", "d"], ["id", "size"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


def said(store: AnswerStore) -> list[tuple[str, str, str, str]]:
    return [(one.person, one.left, one.right, one.relation) for one in store.current()]


def all_lines(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT * FROM answers ORDER BY line").fetchall()


def test_an_answer_is_there_for_who_opens_the_file_next(path: Path) -> None:
    with AnswerStore(path, MARK) as store:
        line = store.append("Ann", "a", "b", "same", "random")
    assert (line.line, line.replaces, line.reason) == (1, None, "random")
    with AnswerStore(path, MARK) as store:
        assert said(store) == [("Ann", "a", "b", "same")]


def test_a_change_and_an_undo_are_lines_of_their_own(path: Path) -> None:
    with AnswerStore(path, MARK) as store:
        store.append("Ann", "a", "b", "same", "random")
        store.append("Ann", "c", "d", "unsure", "random")
        changed = store.append("Ann", "b", "a", "different", "random")
        assert changed.replaces == 1
        assert said(store) == [("Ann", "c", "d", "unsure"), ("Ann", "b", "a", "different")]
        undone = store.undo("Ann")
        assert undone is not None
        assert undone.line == 3
        assert said(store) == [("Ann", "c", "d", "unsure")]
        assert store.undo("Ben") is None
        assert store.undo("Ann") is not None
        assert store.undo("Ann") is None
    assert len(all_lines(path)) == 5


def test_lines_can_neither_be_changed_nor_deleted(path: Path) -> None:
    with AnswerStore(path) as store:
        store.append("Ann", "a", "b", "same", "random")
    for statement in ("DELETE FROM answers", "UPDATE answers SET relation = 'different'"):
        with (
            closing(sqlite3.connect(path)) as file,
            pytest.raises(sqlite3.IntegrityError, match="never"),
        ):
            file.execute(statement)


def test_a_request_that_is_sent_twice_is_saved_once(path: Path) -> None:
    with AnswerStore(path) as store:
        first = store.append("Ann", "a", "b", "same", "random", request="x")
        again = store.append("Ann", "a", "b", "same", "random", request="x")
        assert first == again
        assert len(store.after(0)) == 1
        store.append("Ann", "c", "d", "same", "random", request="y")
        assert store.undo("Ann", request="z") == store.undo("Ann", request="z")
        assert said(store) == [("Ann", "a", "b", "same")]


def test_two_people_may_answer_one_pair_and_one_may_replace_the_others(path: Path) -> None:
    with AnswerStore(path) as store:
        first = store.append("Ann", "a", "b", "same", "random")
        store.append("Ben", "a", "b", "different", "overlap")
        assert len(store.current()) == 2
        store.append("Ben", "a", "b", "unsure", "random", replaces=first.line)
        late = store.append("Cid", "a", "b", "different", "random", replaces=first.line)
        assert late.replaces == 3  # what stands in its place by now
        assert [line.line for line in store.current()] == [2, 4]
        with pytest.raises(ValueError, match="no answer 1 about 'c' and 'd'"):
            store.append("Cid", "c", "d", "same", "random", replaces=1)


def test_the_file_is_written_ahead_and_to_the_disk(path: Path) -> None:
    with AnswerStore(path) as store:
        connection = store._connection
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.mark.parametrize(
    ("content", "message"),
    [("left,right\na,b\n", "not a file of answers"), ("sqlite", "database of something else")],
)
def test_a_file_that_is_not_ours_is_refused_and_not_touched(
    path: Path, content: str, message: str
) -> None:
    if content == "sqlite":
        with closing(sqlite3.connect(path)) as file:
            file.execute("CREATE TABLE cats (name TEXT)")
    else:
        path.write_text(content)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        AnswerStore(path, MARK)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_of_a_later_version_is_refused(path: Path) -> None:
    AnswerStore(path).close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 7")
    with pytest.raises(ValueError, match="later version of likewise"):
        AnswerStore(path)
    with pytest.raises(ValueError, match="later version of likewise"):
        read_answers(path)


@pytest.mark.parametrize(
    ("ids", "columns", "message"),
    [
        (["a", "b", "c"], ["id", "size"], "with 4 rows, not 3"),
        (["a", "b", "c", "e"], ["id", "size"], "whose rows have other ids"),
        (["a", "b", "c", "d"], ["id", "weight"], "with the columns id, size"),
    ],
)
def test_answers_about_another_table_are_refused(
    path: Path, ids: list[str], columns: list[str], message: str
) -> None:
    AnswerStore(path, MARK).close()
    with pytest.raises(ValueError, match=f"another table, {message}"):
        AnswerStore(path, TableMark.of(ids, columns))


def test_rows_in_another_order_are_the_same_table(path: Path) -> None:
    AnswerStore(path, MARK).close()
    AnswerStore(path, TableMark.of(["d", "c", "b", "a"], ["size", "id"])).close()


def test_a_full_disk_is_said_and_loses_nothing(path: Path) -> None:
    with AnswerStore(path, MARK) as store:
        store.append("Ann", "a", "b", "same", "random")
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="the disk is full"):  # noqa: PT012
            for number in range(1000):
                store.append("Ann", "a", f"b{number}", "same", "x" * 500)
        kept = len(store.current())
        assert kept >= 1
        store._connection.execute(f"PRAGMA max_page_count = {pages + 100}")
        store.append("Ann", "c", "d", "same", "random")
        assert len(store.current()) == kept + 1
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert file.execute("SELECT count(*) FROM answers").fetchone() == (kept + 1,)


def test_a_file_that_may_not_be_written_is_said(path: Path) -> None:
    with AnswerStore(path) as store:
        store._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="may not be written"):
            store.append("Ann", "a", "b", "same", "random")


def test_many_threads_and_two_stores_on_one_file_lose_and_double_nothing(path: Path) -> None:
    stores = [AnswerStore(path, MARK) for _ in range(2)]

    def write(number: int) -> None:
        for count in range(25):
            stores[number % 2].append(f"p{number}", f"l{number}", f"r{count}", "same", "random")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(store.current()) for store in stores] == [100, 100]
    assert len({(one.person, one.right) for one in stores[0].current()}) == 100
    for store in stores:
        store.close()


@pytest.mark.slow
def test_two_programs_may_make_the_file_at_once(path: Path) -> None:
    code = (
        "import sys; from likewise.asking.store import AnswerStore; sys.stdin.readline()\n"
        "with AnswerStore(sys.argv[1]) as store: store.append(sys.argv[2], 'a', 'b', 'same', '')"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, path, name], stdin=subprocess.PIPE)  # noqa: S603
        for name in ("Ann", "Ben")
    ]
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.close()
    assert [program.wait(60) for program in programs] == [0, 0]
    with AnswerStore(path) as store:
        assert sorted(line.person for line in store.current()) == ["Ann", "Ben"]


def test_the_export_has_one_line_per_pair_and_no_unsure(path: Path) -> None:
    exported = path.with_name("pairs.csv")
    with AnswerStore(path) as store:
        store.append("Ann", "a", "b", "same", "random")
        store.append("Ben", "b", "a", "same", "overlap")
        store.append("Ann", "c", "d", "unsure", "random")
        store.append("Ann", "a,x", 'd"q', "different", "random")
        store.append("Ann", "a", "d", "same", "random")
        store.append("Ben", "a", "d", "different", "overlap")
        assert store.export_csv(exported) == 2
    assert exported.read_text() == 'left,right,relation\na,b,same\n"a,x","d""q",different\n'


def test_statements_are_read_from_the_file_as_from_its_export(path: Path) -> None:
    rows = path.with_name("rows.csv")
    rows.write_text("id,size\na,1\nb,2\nc,3\nd,4\n")
    exported = path.with_name("pairs.csv")
    with AnswerStore(path) as store:
        store.append("Ann", "a", "b", "same", "random")
        store.append("Ann", "c", "b", "different", "random")
        store.append("Ann", "c", "a", "same", "random")
        store.append("Ann", "c", "d", "same", "random")
        store.append("Ben", "c", "d", "different", "overlap")
        store.undo("Ann")
        store.append("Ann", "c", "d", "same", "random")
        store.export_csv(exported)
        table = read_table(rows)
        pairs = read_pairs(path, table)  # while the store is open
    assert np.asarray(pairs.similar).tolist() == [[0, 1], [2, 0]]
    assert pairs.dissimilar.tolist() == [[2, 1]]
    assert pairs.notes == (f"{path}: left out, since people disagree: 1 pair.",)
    from_csv = read_pairs(exported, table)
    assert np.asarray(from_csv.similar).tolist() == np.asarray(pairs.similar).tolist()
    assert from_csv.dissimilar.tolist() == pairs.dissimilar.tolist()
    again = read_pairs(path, table)  # when it is closed
    assert np.asarray(again.similar).tolist() == np.asarray(pairs.similar).tolist()


def test_answers_can_be_read_where_nothing_can_be_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AnswerStore(path) as store:
        store.append("Ann", "a", "b", "same", "random")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert read_answers(path)[0]["left"] == ["a"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_database_of_something_else_is_no_file_of_pairs(path: Path) -> None:
    rows = path.with_name("rows.csv")
    rows.write_text("id,size\na,1\nb,2\n")
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE cats (name TEXT)")
    with pytest.raises(ValueError, match="database of something else"):
        read_pairs(path, read_table(rows))
