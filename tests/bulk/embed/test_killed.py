"""A process that is killed loses nothing but the window that it worked on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.bulk import killed

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
def test_killed_at_every_step(suffix: str, every_feed: Path, tmp_path: Path) -> None:
    """The output is there as a whole or not at all, and the same command brings it about."""
    pytest.importorskip("pyarrow")
    (tmp_path / "texts.txt").write_text("\n".join(f"text {i}" for i in range(18)))
    command = [sys.executable, killed.__file__, every_feed, tmp_path / "texts.txt", suffix]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    *deaths, last = done.stdout.splitlines()
    assert len(deaths) > 30
    assert deaths[0].endswith("not there")
    assert deaths[-1].endswith(" there")
    assert last.startswith("through")
