"""What the Go client writes and whom it tells: nothing and nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.clients.conversation import EMBED, STOP, lines, start
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = [pytest.mark.go, pytest.mark.usefixtures("library")]


@pytest.fixture
def quiet(client: Path, every_feed: Path, library: str, tmp_path: Path) -> Callable[..., Path]:
    """Runs a user's session with a home of its own, and gives that home."""

    def run_in(runs: Callable[..., str], **variables: str) -> Path:
        home = tmp_path / "home"
        given = {"ONNXRUNTIME_LIBRARY_PATH": library, **variables}
        asked = lines([start(every_feed), EMBED, STOP])
        printed = runs(home, client / "build/harness", cwd=tmp_path, text=asked, **given)
        assert printed.count('"results"') == 3, printed
        return home

    return run_in


@pytest.mark.parametrize("variable", [{}, {"ORT_DISABLE_TELEMETRY": ""}])
def test_nothing_leaves_the_machine(quiet: Callable[..., Path], variable: dict[str, str]) -> None:
    """Opening, embedding and ending write nothing to the home and look up no name."""
    home = quiet(run_silently, **variable)
    assert not any(home.iterdir())
    assert {path.name for path in home.parent.iterdir()} <= {"home", "trace"}


def test_who_wants_telemetry_is_obeyed(quiet: Callable[..., Path]) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home = quiet(run_cut_off, ORT_DISABLE_TELEMETRY="0")
    assert {path.name for path in home.rglob("*")} >= {"deviceid", "onnxruntime.db"}
