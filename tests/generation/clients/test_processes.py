"""What a process with a client leaves behind: no file, no look-up of a name, no memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from generation.clients.conftest import only
from models.mutated.mutated import Parts, write_mutated
from polybake.generation import LANGUAGES
from polybake.verification.harness.harness_file import read_client
from support.clients.conversation import EMBED, STOP, lines, resident, start
from support.clients.toolchain import Toolchain
from support.processes.fresh_home import run_cut_off, run_silently

#: Chromium has many files and sockets of its own.
LOCAL = [language for language in LANGUAGES if language != "browser"]

#: Elsewhere ONNX Runtime's package has no telemetry, or Python's test is of the variable.
WITH_TELEMETRY = ("ruby", "csharp", "java", "go", "rust")

#: Rows of seven numbers, of 42 MB: enough to be missed where they are not freed.
ROWS = 1_500_000


@pytest.fixture
def session(
    toolchain: Toolchain, client: Path, every_feed: Path, tmp_path: Path
) -> Callable[..., list[str]]:
    """Lets a user open, embed and end on a fresh machine; the names of the files left there."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    harness = read_client(client)

    def use(runs: Callable[..., str], **wish: str) -> list[str]:
        asked = lines([start(every_feed), EMBED, STOP])
        given = harness.environment | toolchain.quiet(temporary) | wish
        probing = {"probing": True} if runs is run_silently and toolchain.language == "java" else {}
        printed = runs(home, *harness.run, cwd=client, text=asked, **probing, **given)
        assert printed.count('"results"') == 3, printed
        found = [*home.rglob("*"), *temporary.rglob("*")]
        return sorted(path.name for path in found if path.is_file())

    return use


@pytest.mark.parametrize("wish", [{}, {"ORT_DISABLE_TELEMETRY": ""}], ids=["unset", "empty"])
@pytest.mark.parametrize("language", only(*LOCAL), indirect=True)
def test_nothing_leaves_the_machine(
    session: Callable[..., list[str]], wish: dict[str, str]
) -> None:
    """Opening, embedding and ending write nothing that stays, and look up no name.

    Java itself opens sockets, to see whether there is IPv6.
    """
    assert session(run_silently, **wish) == []


@pytest.mark.parametrize("language", only(*WITH_TELEMETRY), indirect=True)
def test_who_wants_telemetry_is_obeyed(session: Callable[..., list[str]]) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    left = session(run_cut_off, ORT_DISABLE_TELEMETRY="0")
    assert {"deviceid", "onnxruntime.db"} <= set(left)


@pytest.fixture(scope="module")
def heavy(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of every_feed with many rows of zeros, which each of its tokens looks up."""

    def add_rows(parts: Parts) -> None:
        graph = parts.graph
        zeros = np.zeros((ROWS, 7), np.float32)
        graph.initializer.append(onnx.numpy_helper.from_array(zeros, "zeros"))
        (first,) = (node for node in graph.node if "sum1" in node.output)
        first.input[0] = "looked_up"
        graph.node.insert(0, onnx.helper.make_node("Gather", ["zeros", "ids"], ["nothing"]))
        places = [node.output[0] for node in graph.node].index("tokens") + 1
        added = onnx.helper.make_node("Add", ["tokens", "nothing"], ["looked_up"])
        graph.node.insert(places, added)

    path = tmp_path_factory.mktemp("a model") / every_feed.name
    return write_mutated(every_feed, path, add_rows)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
@pytest.mark.parametrize("language", only(*LOCAL), indirect=True)
def test_closing_frees(toolchain: Toolchain, client: Path, heavy: Path) -> None:
    """Ten times opened, used and closed, a model takes hardly more memory than twice."""
    kilobytes = resident(client, heavy, 10, **toolchain.small)
    # A collector may keep the last one a while, but not all of them.
    one = heavy.stat().st_size / 1024
    assert kilobytes[-1] <= 1.3 * kilobytes[1] + one, kilobytes
