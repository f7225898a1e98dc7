"""A hub of one's own: the endpoints that a download needs, served from a folder by HTTP."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"

_API = re.compile(r"/api/models/(?P<repository>[^/]+/[^/]+)(?P<rest>/.*)?")
_FILE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")


@dataclass
class Hub:
    """What the server holds, and what it was asked for.

    Attributes:
        models: Folders by ``owner/name``; each has one commit, which is also ``main``.
        gated: Repositories whose files are refused.
        fetched: The names of the files that were sent.
    """

    models: dict[str, Path]
    gated: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)
    endpoint: str = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a GET or a HEAD."""
        path = path.partition("?")[0]
        api, file = _API.fullmatch(path), _FILE.fullmatch(path)
        found = api or file
        if found is None or found["repository"] not in self.models:
            return 401, {"X-Error-Code": "RepoNotFound"}, b"{}"
        folder = self.models[found["repository"]]
        parts = (found["rest"] or "").split("/") if api else ["", "resolve", found["revision"]]
        if len(parts) > 2 and parts[2] not in ("main", "v1", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if file:
            return self._file(found["repository"], folder / file["name"])
        names = sorted(one for one in folder.rglob("*") if one.is_file())
        return 200, {}, json.dumps(_listing(parts, folder, names)).encode()

    def _file(self, repository: str, path: Path) -> tuple[int, dict[str, str], bytes]:
        if repository in self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b"{}"
        if not path.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b"{}"
        body = path.read_bytes()
        return 200, {"ETag": f'"{_digest(body)}"', "X-Repo-Commit": COMMIT}, body


def _listing(parts: list[str], folder: Path, names: list[Path]) -> Any:
    """The repository itself, or its tree."""
    if parts[1:2] != ["tree"]:
        files = [{"rfilename": one.relative_to(folder).as_posix()} for one in names]
        return {"id": "it", "sha": COMMIT, "siblings": files}
    return [
        {
            "type": "file",
            "path": one.relative_to(folder).as_posix(),
            "size": one.stat().st_size,
            "oid": _digest(one.read_bytes()),
        }
        for one in names
    ]


def _digest(body: bytes) -> str:
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve on a port of the loopback until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._send(with_body=False)

        def do_GET(self) -> None:
            self._send(with_body=True)

        def _send(self, *, with_body: bool) -> None:
            status, headers, body = hub.answer(self.path)
            found = _FILE.fullmatch(self.path)
            if with_body and status == 200 and found:
                hub.fetched.add(found["name"])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
