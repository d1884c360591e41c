"""Fixtures: no test reaches the internet or the user's folders; a small OpenML stands in."""

import hashlib
import json
import os
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import URLError

import pytest

from likewise.datasets.catalogue import CATALOGUE, Entry

NAMED_FOLDER = os.environ.get("LIKEWISE_DATA")
"""As it was before the tests below hid it."""


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the real benchmarks, where there is one."""
    if not NAMED_FOLDER or not Path(NAMED_FOLDER).is_dir():
        pytest.skip("needs the benchmark files: set LIKEWISE_DATA to their folder")
    monkeypatch.setenv("LIKEWISE_DATA", NAMED_FOLDER)
    return Path(NAMED_FOLDER)


class _Rerouted(urllib.request.HTTPSHandler):
    """Sends every https request to a local address instead, or nowhere."""

    def __init__(self, address: str | None) -> None:
        super().__init__()
        self._address = address

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        if self._address is None:
            raise URLError(f"no network in tests: {req.full_url}")
        local = urllib.request.Request(self._address + req.selector, headers=req.headers)  # noqa: S310
        response: HTTPResponse = self.parent.open(local)
        return response


def _reroute(address: str | None) -> None:
    # Without the proxy handler, a proxy named in the environment would be asked first.
    no_proxy = urllib.request.ProxyHandler({})
    urllib.request.install_opener(urllib.request.build_opener(no_proxy, _Rerouted(address)))


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)  # the pauses between retries
    _reroute(None)
    yield
    urllib.request.install_opener(None)  # back to the default


@dataclass
class FakeOpenML:
    """A server that answers like OpenML, for sets published on it."""

    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    close: Callable[[], None] = lambda: None
    cut_short: bool = False

    def publish(
        self,
        data_id: int,
        arff: str,
        *,
        columns: dict[str, str],
        target: str,
        sparse: bool = False,
        md5: str | None = None,
        rows: int | None = None,
    ) -> None:
        """Put a set on the server; `columns` maps names to "numeric" or "nominal"."""
        body = arff.encode()
        suffix = "sparse_arff" if sparse else "arff"
        description = {
            "id": str(data_id),
            "name": "tiny",
            "version": "1",
            "description": "A tiny set.",
            "format": "Sparse_ARFF" if sparse else "ARFF",
            "licence": "Public",
            "url": f"https://www.openml.org/data/v1/download/{data_id}/tiny.{suffix}",
            "file_id": str(data_id),
            "default_target_attribute": target,
            "visibility": "public",
            "status": "active",
            "md5_checksum": md5 or hashlib.md5(body).hexdigest(),  # noqa: S324
        }
        features = [
            {
                "index": str(index),
                "name": name,
                "data_type": kind,
                "is_target": str(name == target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for index, (name, kind) in enumerate(columns.items())
        ]
        qualities = [{"name": "NumberOfInstances", "value": f"{rows}.0"}] if rows else []
        api = "/api/v1/json/data"
        self._answer(f"{api}/{data_id}", {"data_set_description": description})
        self._answer(f"{api}/features/{data_id}", {"data_features": {"feature": features}})
        self._answer(f"{api}/qualities/{data_id}", {"data_qualities": {"quality": qualities}})
        self.answers[f"/data/v1/download/{data_id}/tiny.{suffix}"] = (200, body)

    def _answer(self, path: str, document: object) -> None:
        self.answers[path] = (200, json.dumps(document).encode())


@pytest.fixture
def fake_openml() -> Iterator[FakeOpenML]:
    """A running server; the client's https requests go there."""
    site = FakeOpenML()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            status, body = site.answers.get(self.path, (404, b"not here"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            is_file = self.path.startswith("/data/")
            self.wfile.write(body[: len(body) // 2] if site.cut_short and is_file else body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()

    def close() -> None:
        if thread.is_alive():
            server.shutdown()
            thread.join()
            server.server_close()

    site.close = close
    _reroute(f"http://127.0.0.1:{server.server_port}")
    yield site
    close()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that gives a name of the catalogue other facts, for the time of a test."""

    def shrink(name: str, rows: int, dims: int, positives: int, **facts: object) -> None:
        entry = Entry(rows, dims, positives, "yes", "made up", **facts)  # type: ignore[arg-type]
        monkeypatch.setitem(CATALOGUE, name, entry)

    return shrink
