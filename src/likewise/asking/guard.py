"""Who may ask the server for anything: those with the token, from the page itself, in few bytes.

An ASGI middleware: a request that it refuses reaches no route.
"""

import hmac
import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["LARGEST_BODY", "Door", "Guard"]

LARGEST_BODY = 4096
"""Bytes of a request's body."""

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Door:
    """Where the server is, and what opens it.

    Attributes
    ----------
    host : str
    port : int
    token : str
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104 - compared only
        host = "[::1]" if host == "::" else f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: servers on other ports of the same host have their own."""
        return f"likewise_{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or _is_loopback(self.host)

    def opens(self, token: str | None) -> bool:
        """Tell whether a token is the right one, in the same time for any wrong one."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def is_known_as(self, host: str) -> bool:
        """Tell whether a request that names this host is meant for us.

        A page elsewhere may have a name that leads to this machine: then the request names it.
        """
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        name = name.strip("[]").lower()
        if name in {"localhost", self.host.lower()} or _is_loopback(name):
            return True
        return not self.is_loopback and _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_address(name) and ipaddress.ip_address(name).is_loopback


class Refused(Exception):  # noqa: N818 - says what happened
    """A request that is not answered."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """Lets requests pass that may, and puts headers on every answer.

    Parameters
    ----------
    app : ASGI application
    door : Door
    """

    def __init__(self, app: App, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return
        sending = _with_headers(send)
        try:
            gives_cookie = self._check(scope)
            body = await _whole_body(scope, receive)
        except Refused as refused:
            await _refuse(sending, refused)
            return
        if gives_cookie:
            sending = _with_headers(send, [("set-cookie", self._cookie())])
        await self._app(scope, _replay(body, receive), sending)

    def _check(self, scope: Scope) -> bool:
        """Raise unless a request may pass; return whether it brought the token in its address."""
        headers = _headers(scope)
        if not self._door.is_known_as(headers.get("host", "")):
            raise Refused(421, "This server is not known by that name.")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]
        by_address = scope["path"] == "/" and self._door.opens(given)
        if not by_address and not self._door.opens(self._cookie_of(headers)):
            raise Refused(
                403, "Open the address that likewise ask shows: this one lacks its token."
            )
        if scope["method"] == "POST":
            self._check_origin(headers)
        elif scope["method"] not in {"GET", "HEAD"}:
            raise Refused(405, "Only GET and POST are answered.")
        return by_address

    def _check_origin(self, headers: dict[str, str]) -> None:
        if headers.get("origin") != f"http://{headers['host']}":
            raise Refused(403, "Only the page itself may send answers.")
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refused(403, "Only the page itself may send answers.")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(415, "Answers are sent as JSON.")

    def _cookie(self) -> str:
        return f"{self._door.cookie}={self._door.token}; Path=/; HttpOnly; SameSite=Strict"

    def _cookie_of(self, headers: dict[str, str]) -> str | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        found = cookies.get(self._door.cookie)
        return None if found is None else found.value


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _whole_body(scope: Scope, receive: Receive) -> bytes:
    """Read a body of few bytes; stop reading a longer one."""
    headers = _headers(scope)
    length = headers.get("content-length", "0")
    has_body = "transfer-encoding" in headers or length != "0"
    if scope["method"] != "POST":
        if has_body:
            raise Refused(413, "A request of this kind has no body.")
        return b""
    if not length.isdigit() or int(length) > LARGEST_BODY:
        raise Refused(413, f"A request may have {LARGEST_BODY} bytes.")
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The request ended early.")
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"A request may have {LARGEST_BODY} bytes.")
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand on a body that has been read."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return parts.pop() if parts else await receive()

    return receive_again


def _with_headers(send: Send, more: Iterable[tuple[str, str]] = ()) -> Send:
    added = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in (*_HEADERS.items(), *more)
    ]

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = list(message.get("headers", []))
            names = {name.lower() for name, _ in there}
            message["headers"] = [*there, *(one for one in added if one[0] not in names)]
        await send(message)

    return send_with


async def _refuse(send: Send, refused: Refused) -> None:
    """Answer a request that may not pass, and end the connection: nothing more is read."""
    body = json.dumps({"error": refused.why}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
