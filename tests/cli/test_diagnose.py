"""``polybake diagnose``: its output and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.files.prompted import write_prompted
from polybake.base.modelfile.container import read_head
from polybake.cli import diagnose
from polybake.runtime.embedder import Embedder
from support.processes.commandline import polybake, run
from support.servers.served import served

pytestmark = pytest.mark.slow

TEXTS = ["a boat", "the river", "rivering", "water, the boat.", "boats on the water"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, texts, and their vectors as queries."""
    folder = tmp_path_factory.mktemp("project")
    write_prompted(folder / "m.onnx")
    (folder / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    np.save(folder / "v.npy", Embedder(folder / "m.onnx").embed(TEXTS, prompt="query"))
    return folder


def test_a_gap_is_explained(project: Path) -> None:
    """The verdict comes first, then what explains it, then texts. The exit code is a verdict's."""
    asked = ("diagnose", "m.onnx", "--vectors", "v.npy", "--texts", "texts.txt")
    lines = polybake(*asked, cwd=project, code=1).splitlines()
    assert lines[0].startswith("explained: 5 vectors: elements differ by 0.")
    assert lines[1].strip() == "100.0%  puts the prompt 'query' before texts"
    assert "shown best by:" in lines
    assert any("'the river'" in line for line in lines)
    data = json.loads(run(*asked, "--json", cwd=project).stdout)
    assert data["verdict"] == "explained"
    assert data["explanations"][0]["explained"] == pytest.approx(1, abs=1e-5)
    same = polybake(*asked, "--query", cwd=project)
    assert same.startswith("the same: 5 vectors: elements differ by ")


@pytest.mark.weekly
def test_whoever_answers_is_asked(project: Path) -> None:
    """A service of another file is judged all the same, with a note; one of this file agrees."""
    with served(write_prompted(project / "other.onnx", seed=2)) as service:
        asked = ("--harness", f"{service.url}/embed", "--query")
        same = polybake("diagnose", "other.onnx", *asked, cwd=project)
        printed = polybake("diagnose", "m.onnx", *asked, cwd=project, code=1)
    assert same.startswith("the same: ")
    assert "another model file" not in same
    other = read_head(project / "other.onnx").manifest.fingerprint
    assert printed.startswith("unexplained: ")
    assert f"serves another model file, of fingerprint {other}; compare" in printed


def test_progress_is_said_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal it is said after some seconds, with the best so far."""
    monkeypatch.setattr(diagnose, "_PAUSE", -1.0)
    diagnose._told(lambda _: None)("trying known differences, 3 tried; best so far: 50.0% pools")
    printed = capsys.readouterr()
    assert (printed.out, printed.err.startswith("trying known differences, 3 tried")) == ("", True)
