"""What the Rust client answers, and what it says of damaged files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import read_client
from polybake.verification.harness.protocol import Errored, Start
from support.clients.cargo import prepare
from support.clients.conversation import check_protocol, resident
from support.clients.heads import check_heads, write_heads_client
from support.clients.rendered import write

pytestmark = pytest.mark.rust

SECONDS = 60.0


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that is no Unicode."""
    _, started = check_protocol(client, every_feed, "rust")
    for name in ("runtime_version", "tokenizer_version"):
        assert re.match(r"\d+\.\d+\.\d+", started["results"]["client"][name])


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("rust", tmp_path / "client", beside=beside)
    check_heads(prepare(client), tmp_path, beside=beside)


@pytest.mark.parametrize("library", ["no such library", "README.md"])
def test_the_runtime_must_be_there(client: Path, every_feed: Path, library: str) -> None:
    """Without ONNX Runtime's library the error says what is needed, and how to name it."""
    path = str(client / library)
    harness = Harness(
        read_client(client).model_copy(update={"environment": {"ORT_DYLIB_PATH": path}})
    )
    answer = harness.ask(Start(model=str(every_feed), device="cpu"), SECONDS)
    harness.kill()
    assert isinstance(answer, Errored)
    assert answer.message.startswith(f"{path} cannot be loaded (")
    remedy = "1.24 or newer is needed; name its library by ORT_DYLIB_PATH or in the options"
    assert answer.message.endswith(remedy)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_dropping_frees(baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and dropped, a model takes at most 1.3 times the memory of once."""
    client = prepare(write("rust", tmp_path / "client", baked_minilm))
    kilobytes = resident(client, baked_minilm, 10)
    assert kilobytes[-1] <= 1.3 * kilobytes[0], kilobytes
