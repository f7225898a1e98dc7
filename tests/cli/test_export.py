"""polybake export: a model file in other forms, from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.processes.commandline import polybake
from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.slow

RUN = (sys.executable, "-c", "import polybake.cli.main; polybake.cli.main.main()")


@pytest.mark.parametrize(("form", "output"), [("triton", "models"), ("ort", "model.ort")])
def test_what_is_written_is_said(every_feed: Path, tmp_path: Path, form: str, output: str) -> None:
    """The largest difference is printed, no network is used, and nothing else is written."""
    home = tmp_path / "home"
    command = [*RUN, "export", form, every_feed, "--output", output]
    printed = run_silently(home, *command, cwd=tmp_path)
    assert f"wrote {output}: every golden case, largest difference " in printed
    assert list(home.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "trace", output}


def test_a_changed_graph_is_not_exported(every_feed: Path, tmp_path: Path) -> None:
    """One flipped bit of the graph is found before anything is written."""
    data = bytearray(every_feed.read_bytes())
    data[-1] ^= 1
    (tmp_path / "copy.onnx").write_bytes(data)
    for form, output in (("triton", "models"), ("ort", "model.ort")):
        printed = polybake("export", form, "copy.onnx", "-o", output, cwd=tmp_path, code=1)
        assert "the graph does not match its digest" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["copy.onnx"]
