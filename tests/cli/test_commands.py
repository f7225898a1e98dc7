"""The commands on MiniLM's real weights, one after the other, as a user calls them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from support.processes.commandline import polybake

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, minilm: Path) -> Path:
    """A folder in which init and build have run."""
    folder = tmp_path_factory.mktemp("project")
    polybake("init", minilm, "--name", "minilm", cwd=folder)
    text = (folder / "polybake.toml").read_text()
    (folder / "texts.txt").write_text("my own text\nund noch einer\n", encoding="utf-8")
    (folder / "polybake.toml").write_text(text + '\n[fixtures]\ntexts = ["texts.txt"]\n')
    polybake("build", cwd=folder)
    return folder


def test_init_writes_the_source_s_own_steps(project: Path) -> None:
    """The written file lists what modules.json says."""
    settings = tomllib.loads((project / "polybake.toml").read_text())
    assert settings["steps"] == [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
    assert settings["model"]["name"] == "minilm"
    printed = polybake("init", "build", cwd=project, code=2)
    assert "polybake.toml: exists already; edit it, or overwrite it with --force" in printed


def test_build_makes_everything(project: Path) -> None:
    """One command gives the model file, the fixture and four clients."""
    assert (project / "build/minilm.onnx").stat().st_size > 90_000_000
    cases = json.loads((project / "fixtures/minilm/cases.json").read_text())["cases"]
    assert any("my own text" in case["texts"] for case in cases)
    names = sorted(path.name for path in (project / "clients").iterdir())
    assert names == ["csharp", "node", "python", "ruby"]


def test_build_again_changes_nothing(project: Path) -> None:
    """Equal input gives equal bytes, and no generated file is touched."""
    before = (project / "build/minilm.onnx").read_bytes()
    printed = polybake("build", cwd=project)
    assert (project / "build/minilm.onnx").read_bytes() == before
    assert printed.count(": 0 written") == 4


def test_check_passes_and_finds_a_stale_client(project: Path, tmp_path: Path) -> None:
    """Golden cases are reproduced; a changed client file ends with exit code 1."""
    printed = polybake("check", cwd=project)
    assert "whole: " in printed
    assert "reproduced: every golden case" in printed
    assert "fresh: python, node, ruby, csharp" in printed
    polybake("generate", "--clients", tmp_path, "--language", "ruby", cwd=project)
    (file,) = tmp_path.glob("ruby/lib/*/embedder.rb")
    file.write_text(file.read_text() + "# mine\n")
    arguments = ("check", "build/minilm.onnx", "--clients", tmp_path, "--language", "ruby")
    assert f"not fresh: {file}" in polybake(*arguments, cwd=project, code=1)
    printed = polybake("generate", "--clients", tmp_path, "--language", "ruby", cwd=project, code=2)
    assert "was changed by hand" in printed
    polybake("generate", "--clients", tmp_path, "--language", "ruby", "--force", cwd=project)
    assert "fresh: ruby" in polybake(*arguments, cwd=project)


def test_inspect_shows_and_extracts(project: Path, minilm: Path, tmp_path: Path) -> None:
    """A model file shows what a client would do; its parts come out as files."""
    printed = polybake("inspect", "build/minilm.onnx", cwd=project)
    assert "input_ids (input_ids), attention_mask (attention_mask)" in printed
    assert "at most 256 tokens, padded on the right with 0" in printed
    polybake("inspect", project / "build/minilm.onnx", "--extract", "parts", cwd=tmp_path)
    manifest = json.loads((tmp_path / "parts/manifest.json").read_text())
    assert manifest == json.loads(polybake("inspect", "build/minilm.onnx", "--json", cwd=project))
    tokenizer = json.loads((tmp_path / "parts/tokenizer.json").read_text())
    assert tokenizer["truncation"]["max_length"] == 256
    assert tokenizer["padding"] is None
    assert json.loads(polybake("inspect", minilm, "--json", cwd=tmp_path))["encoder"] == "bert"


def test_a_language_asked_for_may_not_be_skipped(project: Path) -> None:
    """--language with a missing toolchain ends with 3 and says what is missing."""
    settings = {"PATH": str(project), "COLUMNS": "200"}
    printed = polybake("verify", "--language", "ruby", cwd=project, code=3, **settings)
    assert "missing-toolchain" in printed
    assert "ruby is required" in printed
