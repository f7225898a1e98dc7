"""A user's own step, from the template to the model file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_sentence_transformers
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from support.processes.commandline import polybake

pytestmark = pytest.mark.slow

MEAN = ("Pooling", {"pooling_mode": "mean"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with polybake.toml of a tiny model."""
    write_sentence_transformers(tmp_path / "model", MEAN)
    polybake("init", "model", "--name", "tiny", cwd=tmp_path)
    (tmp_path / "polybake.toml").open("a").write('\n[clients.python]\noutput = "client"\n')
    return tmp_path


def vectors(project: Path) -> np.ndarray:
    cases = read_head(project / "build/tiny.onnx").fixture.cases
    return np.concatenate([decode_vectors(case.embeddings) for case in cases])


def test_from_template_to_client(project: Path) -> None:
    """The template is a step as it stands, and as it is edited; the bake proves it with NumPy."""
    polybake("build", cwd=project)
    plain = vectors(project)
    assert 'step = "python", file = "clip.py"' in polybake("init", "--step", "clip.py", cwd=project)
    with (project / "polybake.toml").open("a") as file:
        file.write('\n[[steps]]\nstep = "python"\nfile = "clip.py"\nparameters = {limit = 0.1}\n')
    printed = polybake("build", "--force", cwd=project)
    assert "python(file=clip.py, function=step, parameters={'limit': 0.1})\n" in printed
    assert vectors(project) == pytest.approx(np.clip(plain, -0.1, 0.1), abs=1e-6)
    assert "reproduced: every golden case" in polybake("check", cwd=project)
    text = (project / "clip.py").read_text()
    edited = text.replace("op.Clip(embedding, -limit, limit)", "op.Mul(embedding, limit)")
    (project / "clip.py").write_text(edited.replace("np.clip(embedding, -limit, limit)", "0.0"))
    printed = polybake("build", "--force", cwd=project, code=2)
    assert "reference of clip.py returned shape []" in printed
    (project / "clip.py").write_text(edited.split("\n\ndef reference")[0])
    assert "parameters={'limit': 0.1}) unproven\n" in polybake("build", "--force", cwd=project)
    assert vectors(project) == pytest.approx(0.1 * plain, abs=1e-6)


def test_overwrites_nothing(tmp_path: Path) -> None:
    """An existing file is kept unless --force is given; a source beside --step is refused."""
    (tmp_path / "clip.py").write_text("mine")
    printed = polybake("init", "--step", "clip.py", cwd=tmp_path, code=2)
    assert "clip.py: exists already; edit it, or overwrite it with --force" in printed
    assert (tmp_path / "clip.py").read_text() == "mine"
    polybake("init", "--step", "clip.py", "--force", cwd=tmp_path)
    assert "def step(" in (tmp_path / "clip.py").read_text()
    for arguments in (["init"], ["init", "model", "--step", "other.py"]):
        assert "give a source, " in polybake(*arguments, cwd=tmp_path, code=2)
    assert not (tmp_path / "other.py").exists()
