"""Show a graph in a browser: Netron's pages, served to this machine alone.

Netron's own server also hands out the other files of the model's folder, and its pages send usage
figures. Here a page may read this server and nothing else.
"""

import re
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import netron

from polybake.base.files.printable import escaped
from polybake.study.inspect.graph import read_skeleton_graph

_PAGES = Path(netron.__file__).parent

#: Where the page finds the graph; the name says what format it has.
_GRAPH = "/graph.onnx"

#: A page that names another site would reach it from the browser; this keeps it from doing so.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; frame-src 'none'; form-action 'none'"
)

#: The names by which this machine calls itself: any other in a request is a foreign page's.
_LOOPBACK = ("127.0.0.1", "localhost")


def view(path: Path, tell: Callable[[str], None]) -> None:
    """Serve the graph of an ONNX file, and tell the address, until the process is told to end."""
    with graph_server(path) as server:
        tell(f"http://127.0.0.1:{server.server_port}")
        server.serve_forever()


def graph_server(path: Path) -> ThreadingHTTPServer:
    """Return a server of the graph at a free port of the loopback interface."""
    answers = {"/": _page(path.name).encode(), _GRAPH: read_skeleton_graph(path)}
    return ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, answers))


class _Handler(SimpleHTTPRequestHandler):
    """Answers with the page, the graph, or a file of Netron's."""

    def __init__(self, answers: dict[str, bytes], *arguments: object) -> None:
        self._answers = answers
        super().__init__(*arguments, directory=str(_PAGES))  # type: ignore[arg-type]

    def send_head(self) -> BinaryIO | None:
        path = self.path.partition("?")[0]
        if self.headers.get("Host", "").rpartition(":")[0] not in _LOOPBACK:
            self.send_error(HTTPStatus.FORBIDDEN)
            return None
        if path not in self._answers:
            return super().send_head()
        content = self._answers[path]
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type("index.html" if path == "/" else path))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return BytesIO(content)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-store")
        # Without it the page asks whether it may send the figures that the policy keeps back.
        self.send_header("Set-Cookie", "consent=none; Path=/; SameSite=Strict")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


def _page(name: str) -> str:
    """Return Netron's page with the graph's address and name.

    Version 0.0.0 is what Netron calls a build that reports no errors. A page without a date does
    not refuse to work half a year after its release.
    """
    page = (_PAGES / "index.html").read_text(encoding="utf-8")
    page = re.sub(r'<meta name="date"[^>]*>\n', "", page)
    tags = {"type": "Python", "version": "0.0.0", "file": _GRAPH, "name": name}
    lines = "\n".join(f'<meta name="{key}" content="{escaped(tags[key])}">' for key in tags)
    page, times = re.subn(r'<meta name="version"[^>]*>', lambda _: lines, page)
    if times != 1:
        raise RuntimeError(f"{_PAGES / 'index.html'} has {times} versions, expected 1")
    return page
