"""A peer's process is stopped with all that it starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest
import runner

#: Starts a child that never rests, and answers as protocol/answer.py says.
PEER = """
import os, subprocess, sys
busy = "import os; parent = os.getppid()\\nwhile os.getppid() == parent: pass"
child = subprocess.Popen([sys.executable, "-c", busy])
print('{"versions": {"child": "%d"}}' % child.pid, flush=True)
for _ in sys.stdin:
    print('{"seconds": [0.5]}', flush=True)
"""


def test_a_child_stands_still_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its processor time is the peer's, and while nobody asks it takes none."""
    monkeypatch.setattr(runner, "_IDLE_SECONDS", 0.2)
    command = [sys.executable, "-c", PEER]
    peer = runner.Runner(command, tmp_path, dict(os.environ), tmp_path / "peer.log")
    try:
        child = psutil.Process(int(peer.versions["child"]))
        assert peer.idle > 0
        assert child.status() == psutil.STATUS_STOPPED
        assert peer.ask(["a text"], 1) == [0.5]
        assert child.status() == psutil.STATUS_STOPPED
        assert peer.peak() > 0
    finally:
        peer.finish()
