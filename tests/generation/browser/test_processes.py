"""The end of the processes that run the browser's client."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clients.conversation import EMBED, lines, start
from support.clients.rendered import run

pytestmark = pytest.mark.browser


def chromiums(home: Path) -> list[str]:
    """Processes of Chromium whose own folders lie in this one."""
    every = run("ps", "-ewwo", "args", cwd=home).splitlines()  # ww: whole, whatever COLUMNS says
    return [line for line in every if f"--user-data-dir={home}" in line]


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of a short name: Chromium has a socket below it, whose path may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="p", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.parametrize("ends", ["stdin", "term", "kill"])
def test_no_browser_is_left_behind(client: Path, every_feed: Path, short: Path, ends: str) -> None:
    """However the harness ends, Chromium ends, and but for a kill its folder is gone."""
    with subprocess.Popen(
        ["node", "harness/harness.js"],
        cwd=client,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(short)},
    ) as harness:
        assert harness.stdin
        assert harness.stdout
        harness.stdin.write(lines([start(every_feed), EMBED]))
        harness.stdin.flush()
        assert all('"results"' in harness.stdout.readline() for _ in range(2))
        assert chromiums(short)
        if ends == "stdin":
            harness.stdin.close()
        else:
            harness.terminate() if ends == "term" else harness.kill()
        harness.wait(20)
    for _ in range(100):
        if not chromiums(short):
            break
        time.sleep(0.1)
    assert not chromiums(short)
    assert ends == "kill" or not list(short.iterdir())
