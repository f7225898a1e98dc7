"""What a process of the Java client leaves behind: no file, no look-up of a name, no memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.clients.conversation import EMBED, lines, resident, start
from support.clients.java import Java
from support.clients.rendered import write
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.java


@pytest.mark.parametrize("wish", [{}, {"ORT_DISABLE_TELEMETRY": ""}])
def test_nothing_leaves_the_machine(
    client: Path, every_feed: Path, tmp_path: Path, wish: dict[str, str]
) -> None:
    """Opening, embedding and ending write nothing that stays, and look up no name.

    Java itself opens sockets, to see whether there is IPv6.
    """
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    asked = lines([start(every_feed), EMBED])
    printed = run_silently(
        home,
        *harness(client, home, temporary),
        cwd=client,
        text=asked,
        probing=True,
        **wish,
    )
    assert len(re.findall('"results"', printed)) == 2
    assert not [*home.rglob("*")]
    assert [path for path in temporary.rglob("*") if path.is_file()] == []


def test_who_wants_telemetry_is_obeyed(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home, wish = tmp_path / "home", {"ORT_DISABLE_TELEMETRY": "0"}
    asked = lines([start(every_feed)])
    run_cut_off(home, *harness(client, home, tmp_path), cwd=client, text=asked, **wish)
    names = {path.name for path in home.rglob("*") if path.is_file()}
    assert names == {"deviceid", "onnxruntime.db"}


def harness(client: Path, home: Path, temporary: Path) -> tuple[str | Path, ...]:
    """The harness with folders of its own; Java asks the system for the home, not the variable."""
    folders = (f"-Duser.home={home}", f"-Djava.io.tmpdir={temporary}", "-XX:-UsePerfData")
    return "java", *folders, "-jar", client / "target/client-harness.jar"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(java: Java, baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and closed, a model takes at most 1.3 times the memory of twice."""
    client = write("java", tmp_path / "client", baked_minilm)
    java.build(client)
    command = ("java", "-Xmx64m", "-XX:+UseSerialGC", "-jar", "target/client-harness.jar")
    kilobytes = resident(client, baked_minilm, 10, command)
    assert kilobytes[-1] <= 1.3 * kilobytes[1], kilobytes
