"""The page's server: what it answers to which address, and how it runs.

Answers are saved before a reply says so. Whatever changes something is a POST.
"""

import csv
import io
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from likewise.asking.guard import App, Door, Guard
from likewise.asking.records import IMAGE_TYPES
from likewise.asking.session import RequestError, Session
from likewise.asking.store import StoreError
from likewise.io.answers import one_per_pair

__all__ = ["bound_socket", "make_app", "make_server"]

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/ask.js": ("ask.js", "text/javascript; charset=utf-8"),
    "/show.js": ("show.js", "text/javascript; charset=utf-8"),
    "/plot.js": ("plot.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
_FULL = 507
"""Status of an answer that could not be saved: insufficient storage."""


def make_app(session: Session, door: Door, *, title: str) -> App:
    """Return the ASGI application that asks.

    Parameters
    ----------
    session : Session
    door : Door
    title : str
        What the page is called.
    """
    routes = [
        *(Route(path, _file(*of), methods=["GET"]) for path, of in _FILES.items()),
        *_reading(session, title),
        *_changing(session),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            RequestError: _answer_error(400),
            StoreError: _answer_error(_FULL),
        },
    )
    return Guard(app, door)


def _file(name: str, kind: str) -> Callable[[Request], Response]:
    content = (_PAGE / name).read_bytes()

    def send(request: Request) -> Response:
        return Response(content, headers={"content-type": kind})

    return send


def _answer_error(status: int) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status)

    return answer


# --- reading ---------------------------------------------------------------------------------


def _reading(session: Session, title: str) -> list[Route]:
    """Return the routes that change nothing."""

    def state(request: Request) -> Response:
        return JSONResponse({"title": title, **session.state(_query(request, "person"))})

    def past(request: Request) -> Response:
        before = _number(_query(request, "before"))
        return JSONResponse(session.past(_query(request, "person"), before))

    def pair(request: Request) -> Response:
        return JSONResponse(session.pair(_query(request, "left"), _query(request, "right")))

    def image(request: Request) -> Response:
        return _image(session, request.path_params["row"])

    def answers_csv(request: Request) -> Response:
        columns, _ = one_per_pair(Path("answers"), session.lines())
        return _csv("answers.csv", list(columns), zip(*columns.values(), strict=True))

    def people_csv(request: Request) -> Response:
        found = [vars(record) for record in session.people()]
        names = ["person", "answers", "unsure", "shared", "agreement", "contradicted"]
        return _csv("people.csv", names, ([one[name] for name in names] for one in found))

    paths: dict[str, Callable[[Request], Response]] = {
        "/api/state": state,
        "/api/past": past,
        "/api/pair": pair,
        "/image/{row:int}": image,
        "/answers.csv": answers_csv,
        "/people.csv": people_csv,
    }
    return [Route(path, handle, methods=["GET"]) for path, handle in paths.items()]


def _query(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _number(text: str) -> int | None:
    """Return a whole number that fits into the database; None for no text."""
    if not text:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise RequestError(f"{text[:20]!r} is not a number of a line.")
    return int(text)


def _image(session: Session, row: int) -> Response:
    """Send the image of a row, if it lies in the table's folder."""
    path = None
    if row < len(session.records.table):
        path = session.records.image_path(row)
    if path is None:
        return JSONResponse({"error": "There is no image of this row in the table's folder."}, 404)
    kept = {"cache-control": "private, max-age=600"}  # the next question's are loaded before it
    return FileResponse(path, media_type=IMAGE_TYPES[path.suffix.lower()], headers=kept)


def _csv(name: str, header: list[str], rows: Any) -> Response:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return Response(
        text.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


# --- changing --------------------------------------------------------------------------------


def _changing(session: Session) -> list[Route]:
    """Return the routes that change something, each a POST of one JSON object."""

    def questions(sent: dict[str, Any]) -> dict[str, Any]:
        return {"questions": session.questions(_text(sent, "person"))}

    def answer(sent: dict[str, Any]) -> dict[str, Any]:
        person = _text(sent, "person")
        line = session.answer(
            person,
            _text(sent, "left"),
            _text(sent, "right"),
            _text(sent, "relation"),
            reason=_text(sent, "reason", ""),
            replaces=_line(sent.get("replaces")),
            request=_text(sent, "request", "") or None,
        )
        return {"saved": line.line, "answers": len(session), **questions(sent)}

    def undo(sent: dict[str, Any]) -> dict[str, Any]:
        request = _text(sent, "request", "") or None
        undone = session.undo(_text(sent, "person"), request=request)
        return {"undone": undone is not None, "answers": len(session), **questions(sent)}

    def skip(sent: dict[str, Any]) -> dict[str, Any]:
        session.skip(_text(sent, "person"), _text(sent, "left"), _text(sent, "right"))
        return questions(sent)

    handlers = {"questions": questions, "answer": answer, "undo": undo, "skip": skip}
    return [
        Route(f"/api/{name}", _post(handle), methods=["POST"]) for name, handle in handlers.items()
    ]


def _post(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            sent = json.loads(await request.body())
        except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, or too deep
            raise RequestError("The request is not JSON.") from error
        if not isinstance(sent, dict):
            raise RequestError("The request is not a JSON object.")
        return JSONResponse(await run_in_threadpool(handle, sent))

    return answer


def _text(sent: dict[str, Any], name: str, default: str | None = None) -> str:
    value = sent.get(name, default)
    if not isinstance(value, str):
        raise RequestError(f"{name!r} must be text.")
    return value


def _line(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise RequestError("'replaces' must be the number of a line.")
    return value


# --- running ---------------------------------------------------------------------------------


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say in a sentence why that cannot be.

    Parameters
    ----------
    host : str
    port : int
        0 for any that is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once; else they wait 40 ms each.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise ValueError(
            f"Nothing can be served on {host}, port {port}: {reason}; choose another --port or "
            "--host."
        ) from error
    return listening


def make_server(app: App) -> uvicorn.Server:
    """Return a server, whose ``run(sockets=[...])`` answers requests until interrupted.

    Parameters
    ----------
    app : ASGI application
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # addresses hold the token
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            http="h11",
            timeout_graceful_shutdown=2,
            timeout_keep_alive=120,  # longer than people think about a pair
        )
    )
