"""The harness of the browser's client: the protocol, and what it says of what is missing."""

import subprocess
from pathlib import Path

import pytest

from support.clients.conversation import ask, check_protocol, lines, start
from support.clients.rendered import run

pytestmark = pytest.mark.browser


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only."""
    cuda, _ = check_protocol(client, every_feed, "browser")
    assert cuda["message"] == 'unknown device "cuda"; choose one of: cpu'


def test_a_file_that_is_not_there(client: Path, tmp_path: Path) -> None:
    """A path that an address would have to escape is what the error names."""
    path = tmp_path / 'a "h\u00e9ad" % # $& ?.onnx'
    (answer,) = ask(client, start(path))
    remedy = "give the address of a baked .onnx file"
    assert answer["message"] == f"{path}: cannot be read (404 Not Found); {remedy}"


def test_a_machine_without_chromium_says_so(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """The error names what is looked for, and what to set."""
    (tmp_path / "node").symlink_to(run("which", "node", cwd=client).strip())
    done = subprocess.run(
        [tmp_path / "node", "harness/harness.js"],
        cwd=client,
        env={"PATH": str(tmp_path)},
        input=lines([start(every_feed)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Chromium on PATH (chromium, " in done.stderr
    assert "set CHROME_PATH" in done.stderr
