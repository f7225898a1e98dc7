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
#: The commit of the one pull request that a repository may have, number 4.
CONVERTED = "fedcba9876543210fedcba9876543210fedcba98"

_API = re.compile(r"/api/models/(?P<repository>[^/]+/[^/]+)(?P<rest>/.*)?")
_FILE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")


@dataclass
class Hub:
    """What the server holds, and what it was asked for.

    Attributes:
        models: Folders by ``owner/name``; each has one commit, which is also ``main``.
        gated: Repositories whose files are refused.
        converted: Folders of pull request 4, by ``owner/name``.
        pull_request: What the listing says of it beside its number.
        parents: The commits before that of the pull request, newest first.
        fetched: The names of the files that were sent.
    """

    models: dict[str, Path]
    gated: set[str] = field(default_factory=set)
    converted: dict[str, Path] = field(default_factory=dict)
    pull_request: dict[str, object] = field(default_factory=dict)
    parents: list[str] = field(default_factory=lambda: [COMMIT])
    fetched: set[str] = field(default_factory=set)
    endpoint: str = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a GET or a HEAD."""
        path = path.partition("?")[0]
        api, file = _API.fullmatch(path), _FILE.fullmatch(path)
        found = api or file
        if found is None or found["repository"] not in self.models:
            return 401, {"X-Error-Code": "RepoNotFound"}, b"{}"
        repository = found["repository"]
        parts = (found["rest"] or "").split("/") if api else ["", "resolve", found["revision"]]
        if parts[1:] == ["discussions"]:
            return 200, {}, json.dumps(self._discussions(repository)).encode()
        if parts[1:] == ["commits", "refs%2Fpr%2F4"]:
            commits = [_commit(one) for one in (CONVERTED, *self.parents)]
            return 200, {}, json.dumps(commits).encode()
        revision = parts[2] if len(parts) > 2 else "main"
        folder, commit = self.models[repository], COMMIT
        if revision == CONVERTED and repository in self.converted:
            folder, commit = self.converted[repository], CONVERTED
        elif revision not in ("main", "v1", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if file:
            return self._file(repository, folder / file["name"], commit)
        names = sorted(one for one in folder.rglob("*") if one.is_file())
        return 200, {}, json.dumps(_listing(parts, folder, names, commit)).encode()

    def _discussions(self, repository: str) -> dict[str, object]:
        one = {
            "num": 4,
            "title": "Adding `safetensors` variant of this model",
            "author": {"name": "SFconvertbot"},
            "status": "open",
            "isPullRequest": True,
            "createdAt": "2026-01-01T00:00:00.000Z",
            "repo": {"name": repository, "type": "model"},
        }
        listed = [{**one, **self.pull_request}] if repository in self.converted else []
        return {"discussions": listed, "count": len(listed), "start": 0}

    def _file(self, repository: str, path: Path, commit: str) -> tuple[int, dict[str, str], bytes]:
        if repository in self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b"{}"
        if not path.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b"{}"
        body = path.read_bytes()
        return 200, {"ETag": f'"{_digest(body)}"', "X-Repo-Commit": commit}, body


def _commit(name: str) -> dict[str, object]:
    time = "2026-01-01T00:00:00.000Z"
    return {"id": name, "title": "it", "message": "", "authors": [], "date": time}


def _listing(parts: list[str], folder: Path, names: list[Path], commit: str) -> Any:
    """The repository itself, or its tree."""
    if parts[1:2] != ["tree"]:
        files = [{"rfilename": one.relative_to(folder).as_posix()} for one in names]
        return {"id": "it", "sha": commit, "siblings": files}
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
