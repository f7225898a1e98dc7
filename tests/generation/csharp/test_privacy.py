"""Nothing leaves the machine by the C# client, unless it is wished."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.clients.conversation import EMBED, STOP, lines, start
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.csharp


def use(run: Callable[..., str], home: Path, client: Path, model: Path, **wish: str) -> str:
    """What the harness answers a user who opens a model, embeds, and ends."""
    harness = client / "harness/bin/Release/net10.0/EveryFeed.Harness.dll"
    text = lines([start(model), EMBED, STOP])
    return run(home, "dotnet", harness, cwd=home.parent, text=text, **wish)


def written(home: Path) -> list[Path]:
    """The files in a home."""
    return [path for path in home.rglob("*") if path.is_file()]


def test_nothing_leaves_the_machine(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """Opening, embedding and ending write nothing to the home and look up no name."""
    printed = use(run_silently, tmp_path / "home", client, every_feed)
    assert len(printed.splitlines()) == 3
    assert written(tmp_path / "home") == []
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] in ([], ["trace"])


def test_who_wants_telemetry_is_obeyed(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    use(run_cut_off, tmp_path / "home", client, every_feed, ORT_DISABLE_TELEMETRY="0")
    names = {path.name for path in written(tmp_path / "home")}
    assert names >= {"deviceid", "onnxruntime.db"}
