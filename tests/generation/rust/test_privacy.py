"""The Rust client writes nothing, and asks nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.clients.conversation import EMBED, STOP, lines, start
from support.clients.rendered import onnxruntime
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.rust


def written(home: Path) -> list[Path]:
    """The files in a home."""
    return [path for path in home.rglob("*") if path.is_file()]


@pytest.fixture
def harness(client: Path) -> Callable[..., str]:
    """Runs the harness on a fresh machine, where nothing but the runtime's library is named."""
    program = client / "target/release/examples/harness"

    def run_in(runs: Callable[..., str], home: Path, model: Path, **variables: str) -> str:
        variables |= {"ORT_DYLIB_PATH": str(onnxruntime())}
        return runs(
            home, program, cwd=home.parent, text=lines([start(model), EMBED, STOP]), **variables
        )

    return run_in


def test_nothing_leaves_the_machine(
    harness: Callable[..., str], every_feed: Path, tmp_path: Path
) -> None:
    """Opening, embedding and ending write nothing and look up no name."""
    home = tmp_path / "home"
    assert len(harness(run_silently, home, every_feed).splitlines()) == 3
    assert written(home) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "trace"}


def test_who_wants_telemetry_is_obeyed(
    harness: Callable[..., str], every_feed: Path, tmp_path: Path
) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home = tmp_path / "home"
    harness(run_cut_off, home, every_feed, ORT_DISABLE_TELEMETRY="0")
    assert {path.name for path in written(home)} >= {"deviceid", "onnxruntime.db"}
