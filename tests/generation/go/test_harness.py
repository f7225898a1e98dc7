"""The Go harness speaks the protocol, and refuses what every reader refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.conversation import ask, check_protocol, resident, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.rendered import rebuild

pytestmark = [pytest.mark.go, pytest.mark.usefixtures("library")]


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that Go's JSON reader would mend."""
    cuda, _ = check_protocol(client, every_feed, "go")
    assert "name the GPU build of ONNX Runtime" in cuda["message"]


def test_a_library_that_is_not_there(client: Path, every_feed: Path) -> None:
    """The error says what is missing, and what names it."""
    (answer,) = ask(client, start(every_feed), ONNXRUNTIME_LIBRARY_PATH="/no/libonnxruntime.so")
    assert answer["kind"] == "device"
    assert answer["message"].startswith("ONNX Runtime cannot be loaded (")
    assert answer["message"].endswith("name the library of version 1.24 or newer")


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("go", tmp_path / "client", beside=beside)
    check_heads(rebuild(client), tmp_path, beside=beside)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(client: Path, every_feed: Path) -> None:
    """Thirty times opened, used and closed, a model takes hardly more memory than three times."""
    kilobytes = resident(client, every_feed, 30)
    assert kilobytes[-1] <= 1.3 * kilobytes[2], kilobytes
