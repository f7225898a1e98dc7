"""The graph in a browser: Netron's pages, without weights, other files, or other sites."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import onnx
import pytest

from support.clients.hostile import HOSTILE

pytest.importorskip("netron", reason='pip install ".[view]"')

from polybake.study.inspect.view import graph_server


@pytest.fixture(scope="module")
def server(every_feed: Path) -> Iterator[ThreadingHTTPServer]:
    with graph_server(every_feed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ask(server: ThreadingHTTPServer, path: str, **headers: str) -> tuple[int, str | None, bytes]:
    """The status, the policy and the content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Content-Security-Policy"), answer.read()


def test_it_listens_to_this_machine_alone(server: ThreadingHTTPServer) -> None:
    """The address is loopback's, and a foreign site that took a name for it is refused."""
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/", Host="evil.example:80")[0] == 403
    assert ask(server, "/graph.onnx", Host="127.0.0.1.evil.example")[0] == 403


def test_the_page_reaches_no_other_site(server: ThreadingHTTPServer) -> None:
    """Whatever its scripts name, a browser lets them read and send here alone."""
    for path in ("/", "/index.js", "/missing"):
        policy = ask(server, path)[1] or ""
        assert policy.startswith("default-src 'self'; ")
        assert not re.search(r"https?:|\*", policy)


def test_the_graph_has_no_weights(server: ThreadingHTTPServer, every_feed: Path) -> None:
    """All operators are there, with shapes; the tokenizer and the data of weights are not."""
    status, _, content = ask(server, "/graph.onnx?cb=1")
    assert status == 200
    shown, whole = onnx.ModelProto.FromString(content), onnx.load(every_feed)
    assert [one.name for one in shown.graph.node] == [one.name for one in whole.graph.node]
    assert len(shown.graph.value_info) > 0
    assert max(len(one.value) for one in shown.metadata_props) <= 4096
    assert all(len(one.raw_data) <= 512 for one in shown.graph.initializer)


def test_nothing_else_is_served(server: ThreadingHTTPServer, every_feed: Path) -> None:
    """The model's folder stays closed: its file, and paths that climb, are not found."""
    for path in (f"/data/{every_feed.name}", f"/{every_feed.name}", "/../../../etc/passwd"):
        assert ask(server, path)[0] == 404


def test_a_name_is_no_markup(every_feed: Path, tmp_path: Path) -> None:
    """A file's name is text of the page, of which Netron has one to begin with."""
    name = f"{HOSTILE.replace('/', '')}<script>.onnx"
    path = tmp_path / name
    path.write_bytes(every_feed.read_bytes())
    with graph_server(path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = ask(server, "/")[2].decode()
        server.shutdown()
    assert page.count("<script") == 1
    assert '<meta name="file" content="/graph.onnx">' in page
    assert '<meta name="date"' not in page
