"""The server: who may ask it for what, and that every answer is kept."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from likewise.asking.guard import LARGEST_BODY, Door

from .serving import Running, open_session, questions, write_rows


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all tests that must leave it as it is."""
    folder = tmp_path_factory.mktemp("untouched")
    with Running(open_session(write_rows(folder), folder / "answers.sqlite")) as server:
        yield server


# --- who may ask -----------------------------------------------------------------------------

EVERY_GET = [
    "/", "/ask.js", "/show.js", "/plot.js", "/style.css", "/icon.svg", "/api/state", "/api/past",
    "/api/pair?left=r0&right=r1", "/image/0", "/answers.csv", "/people.csv", "/nothing",
]  # fmt: skip
EVERY_POST = ["/api/questions", "/api/answer", "/api/undo", "/api/skip"]


@pytest.mark.parametrize("token", [None, "", "wrong", "é", "A" * 43])
def test_without_the_token_nothing_is_told(untouched: Running, token: str | None) -> None:
    with untouched.client(cookie=None) as client:
        headers: dict[bytes, bytes] = {}
        if token is not None:
            headers[b"cookie"] = f"{untouched.door.cookie}={token}".encode()
        for path in EVERY_GET:
            assert client.get(path, headers=headers).status_code == 403, path
        for path in EVERY_POST:
            reply = client.post(path, json={"person": "Ann"}, headers=headers)
            assert reply.status_code == 403, path
        assert client.get("/", params={"token": token or ""}).status_code == 403


def test_the_token_in_the_address_opens_the_page_and_nothing_else(untouched: Running) -> None:
    with untouched.client(cookie=None) as client:
        for path in ("/api/state", "/image/0", "/answers.csv"):
            assert client.get(path, params={"token": untouched.door.token}).status_code == 403
        page = client.get("/", params={"token": untouched.door.token})
        assert page.status_code == 200
        cookie = page.headers["set-cookie"]
        assert cookie.startswith(f"{untouched.door.cookie}={untouched.door.token};")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert client.get("/api/state").status_code == 200  # by the cookie
        assert "set-cookie" not in client.get("/").headers


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = {Door("127.0.0.1", 1).token for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 43  # 256 bits
    assert all(token not in repr(Door("127.0.0.1", 1, token)) for token in tokens)


def test_every_answer_carries_the_headers_that_keep_it_safe(untouched: Running) -> None:
    replies = []
    with untouched.client() as client:
        replies += [client.get(path) for path in EVERY_GET]
        replies += [client.post(path, json={"person": "Ann"}) for path in EVERY_POST]
        replies.append(client.get("/", headers={"cookie": "none"}))
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in reply.headers


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1"]
)
def test_a_foreign_origin_changes_nothing(untouched: Running, origin: str | None) -> None:
    with untouched.client(origin=origin) as client:
        for path in EVERY_POST:
            reply = client.post(path, json={"person": "Ann", "left": "r0", "right": "r1"})
            assert reply.status_code == 403, path
    assert untouched.session.lines() == []


def test_a_foreign_site_a_form_and_another_method_change_nothing(untouched: Running) -> None:
    answer = {"person": "Ann", "left": "r0", "right": "r1", "relation": "same"}
    with untouched.client() as client:
        elsewhere = {"sec-fetch-site": "cross-site"}
        assert client.post("/api/answer", json=answer, headers=elsewhere).status_code == 403
        assert client.post("/api/answer", data=answer).status_code == 415
        assert client.put("/api/answer", json=answer).status_code == 405
        assert client.delete("/api/answer").status_code == 405
    assert untouched.session.lines() == []


@pytest.mark.parametrize("path", EVERY_POST)
def test_a_get_changes_nothing(untouched: Running, path: str) -> None:
    with untouched.client() as client:
        answer = {"person": "Got", "left": "r0", "right": "r1", "relation": "same"}
        assert client.get(path, params=answer).status_code == 405
    assert untouched.session.lines() == []
    assert "Got" not in untouched.session._open


def test_gets_that_are_answered_change_nothing(untouched: Running) -> None:
    with untouched.client() as client:
        first = questions(client, "Ann")
        for path in EVERY_GET:
            client.get(path)
        assert questions(client, "Ann") == first
    assert untouched.session.lines() == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "[::1"])
def test_a_name_that_was_made_to_lead_here_is_refused(untouched: Running, host: str) -> None:
    with untouched.client() as client:
        name = host.format(port=untouched.door.port)
        assert client.get("/", headers={"host": name}).status_code in {400, 421}


def test_names_of_a_server_on_the_loopback_address_and_on_others() -> None:
    at_home, abroad = Door("127.0.0.1", 80), Door("0.0.0.0", 80)  # noqa: S104
    for name in ("127.0.0.1:80", "localhost:80", "LOCALHOST:80", "[::1]:80"):
        assert at_home.is_known_as(name), name
        assert abroad.is_known_as(name), name
    assert abroad.is_known_as("192.168.1.7:80")
    assert not at_home.is_known_as("192.168.1.7:80")
    assert not abroad.is_known_as("evil.example:80")
    assert (at_home.is_loopback, abroad.is_loopback) == (True, False)
    assert Door("::1", 80, "t").address == "http://[::1]:80/?token=t"
    assert Door("192.168.1.7", 80).is_known_as("192.168.1.7:80")


# --- how much may be sent --------------------------------------------------------------------


def raw_request(untouched: Running, head: str, body: Iterator[bytes]) -> tuple[int, int]:
    """Send a request by hand; return the status, and how many bytes of the body were taken."""
    lines = [
        head,
        f"Host: 127.0.0.1:{untouched.door.port}",
        f"Origin: {untouched.origin}",
        f"Cookie: {untouched.door.cookie}={untouched.door.token}",
        "Content-Type: application/json",
    ]
    sent = 0
    with socket.create_connection(("127.0.0.1", untouched.door.port), timeout=10) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        connection.settimeout(0.5)
        try:
            for part in body:
                connection.sendall(part)
                sent += len(part)
        except (TimeoutError, ConnectionError):
            pass  # nobody reads any more
        connection.settimeout(10)
        try:
            reply = connection.recv(65536)
        except ConnectionError:  # closed while we were still sending
            return 0, sent
    return int(reply.split()[1]), sent


GIGABYTE = 2**30


def endless(chunked: bool) -> Iterator[bytes]:
    part = b" " * 2**16
    for _ in range(GIGABYTE // len(part)):
        yield b"%x\r\n%s\r\n" % (len(part), part) if chunked else part


@pytest.mark.parametrize("length", [f"Content-Length: {GIGABYTE}", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("target", ["POST /api/answer", "GET /api/state"])
def test_a_gigabyte_is_refused_before_it_is_read(
    untouched: Running, length: str, target: str
) -> None:
    head = f"{target} HTTP/1.1\r\n{length}"
    status, sent = raw_request(untouched, head, endless("chunked" in length))
    assert status in {0, 413}
    assert sent < 2**24  # the rest of what the system's buffers hold
    with untouched.client() as client:  # it still answers
        assert client.get("/api/state").status_code == 200
    assert untouched.session.lines() == []


def test_a_body_just_too_large_is_refused_in_one_piece_and_in_many(untouched: Running) -> None:
    content = json.dumps({"person": "Ann"}).ljust(LARGEST_BODY + 1).encode()
    headers = {"content-type": "application/json"}
    with untouched.client() as client:
        assert client.post("/api/questions", content=content, headers=headers).status_code == 413
        parts = iter([content[:100], content[100:]])
        assert client.post("/api/questions", content=parts, headers=headers).status_code == 413
        fits = content[:LARGEST_BODY]
        assert client.post("/api/questions", content=fits, headers=headers).status_code == 200
        fits_in_parts = iter([fits[:100], fits[100:]])
        reply = client.post("/api/questions", content=fits_in_parts, headers=headers)
        assert reply.status_code == 200


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"\xff\xfe", b"NaN", b"{}", b'{"person": 3}', b'{"person": " "}',
     b'{"person": "a\\u0000b"}', json.dumps({"person": "x" * 41}).encode(), b"[" * 4000],
)  # fmt: skip
@pytest.mark.parametrize("path", EVERY_POST)
def test_nonsense_is_refused_in_a_sentence(untouched: Running, path: str, content: bytes) -> None:
    with untouched.client() as client:
        reply = client.post(path, content=content, headers={"content-type": "application/json"})
        assert reply.status_code == 400
        assert reply.json()["error"]


@pytest.mark.parametrize(
    "changed",
    [
        {"relation": "friends"},
        {"relation": "undone"},
        {"left": "nobody"},
        {"left": "r1", "right": "r1"},
        {"replaces": 99},
        {"replaces": True},
        {"replaces": 2**70},
        {"replaces": "1; DROP TABLE answers"},
        {"request": 5},
    ],
)
def test_answers_that_make_no_sense_are_refused(
    untouched: Running, changed: dict[str, Any]
) -> None:
    sent = {"person": "Ann", "left": "r0", "right": "r1", "relation": "same", **changed}
    with untouched.client() as client:
        assert client.post("/api/answer", json=sent).status_code == 400
        assert client.get("/api/past", params={"before": "x"}).status_code == 400
        assert client.get("/api/past", params={"before": "9" * 40}).status_code == 400
        assert client.get("/api/pair", params={"left": "r0"}).status_code == 400
    assert untouched.session.lines() == []


# --- images ----------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n"


def test_images_come_from_the_tables_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    secret = tmp_path / "secret.png"
    for path in (secret, folder / "here.png", folder / "sub" / "there.JPG", folder / "script.svg"):
        path.write_bytes(PNG)
    (folder / "link.png").symlink_to(secret)
    (folder / "away").symlink_to(tmp_path)
    (folder / "inside.png").symlink_to(folder / "here.png")
    (folder / "rows.txt").write_text("a secret")
    (folder / "disguised.png").symlink_to(folder / "rows.txt")
    cells = {
        "here.png": 200, "sub/there.JPG": 200, "sub/../here.png": 200, "inside.png": 200,
        "": 404, "../secret.png": 404, str(secret): 404, "link.png": 404, "away/secret.png": 404,
        "script.svg": 404, "rows.txt": 404, "disguised.png": 404, "missing.png": 404, "sub": 404,
        "/etc/passwd": 404, "%2e%2e/secret.png": 404, "file:///etc/passwd": 404, ".": 404,
        "a" * 300 + ".png": 404,
    }  # fmt: skip
    lines = [f"r{number},{number},{cell}" for number, cell in enumerate(cells)]
    table = folder / "rows.csv"
    table.write_text("\n".join(["id,size,picture", *lines]) + "\n")
    session = open_session(table, tmp_path / "answers.sqlite", image="picture")
    with Running(session) as running, running.client() as client:
        for row, (cell, status) in enumerate(cells.items()):
            assert client.get(f"/image/{row}").status_code == status, cell
        assert client.get("/image/0").headers["content-type"] == "image/png"
        assert client.get("/image/1").headers["content-type"] == "image/jpeg"
        assert client.get(f"/image/{len(cells)}").status_code == 404
        for address in (
            "/image/-1",
            "/image/../secret.png",
            "/image/%2e%2e%2fsecret.png",
            "/image/x",
        ):
            assert client.get(address).status_code == 404
