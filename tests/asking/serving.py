"""A server in a thread of this process, and people who talk to it as the page does."""

import threading
import time
import uuid
from pathlib import Path
from typing import Any

import httpx

from likewise.asking.guard import Door
from likewise.asking.records import Records
from likewise.asking.server import bound_socket, make_app, make_server
from likewise.asking.session import Session
from likewise.asking.store import AnswerStore, TableMark
from likewise.io import read_table

from .stand_in import StandIn


def write_rows(folder: Path, n_rows: int = 40, name: str = "rows.csv") -> Path:
    path = folder / name
    lines = [f"r{i},{i % 7},{'odd' if i % 2 else 'even'}" for i in range(n_rows)]
    path.write_text("\n".join(["id,number,kind", *lines]) + "\n")
    return path


def open_session(
    table: Path, answers: Path, *, overlap: float = 0.0, make_asker: Any = None, **shown: Any
) -> Session:
    """Open a session as the command does; by default with an asker that knows nothing."""
    rows = read_table(table)
    mark = TableMark.of(rows.keys.to_pylist(), [rows.id_column, *rows.columns])
    make: Any = make_asker or (lambda said: StandIn(len(rows), said))
    return Session(Records.of(rows, **shown), AnswerStore(answers, mark), make, overlap=overlap)


class Running:
    """A server that answers until the block ends."""

    def __init__(self, session: Session, title: str = "A test", port: int = 0) -> None:
        self.session = session
        self._listening = bound_socket("127.0.0.1", port)
        self.door = Door("127.0.0.1", self._listening.getsockname()[1])
        self._server = make_server(make_app(session, self.door, title=title))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listening]}, daemon=True
        )

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.door.port}"

    def __enter__(self) -> "Running":
        self._thread.start()
        until = time.monotonic() + 10
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert self._server.started
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.session.close()

    def stop(self) -> None:
        """Stop answering; the session stays open."""
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._listening.close()

    def client(self, **changed: str | None) -> httpx.Client:
        """Return a client with the page's headers; changed ones, or without those that are None."""
        return client_of(self.origin, self.door.cookie, self.door.token, **changed)


def client_of(address: str, name: str, token: str, **changed: str | None) -> httpx.Client:
    headers = {"origin": address, "cookie": f"{name}={token}", **changed}
    kept = {name: value for name, value in headers.items() if value is not None}
    return httpx.Client(base_url=address, headers=kept, timeout=20, trust_env=False)


def say(client: httpx.Client, person: str, question: Any, relation: str, **more: Any) -> Any:
    """Answer as the page does, and return the reply."""
    sent = {
        "person": person,
        "left": question["left"],
        "right": question["right"],
        "relation": relation,
        "request": uuid.uuid4().hex,
        **more,
    }
    return client.post("/api/answer", json=sent)


def questions(client: httpx.Client, person: str) -> Any:
    reply = client.post("/api/questions", json={"person": person})
    assert reply.status_code == 200, reply.text
    return reply.json()["questions"]
