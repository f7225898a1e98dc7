"""polybake bake and build: what they say, and a step of the user's own."""

import json
from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_sentence_transformers
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.base.modelfile.manifest import Deviation
from polybake.cli.bake import _deviates
from support.processes.commandline import polybake

pytestmark = pytest.mark.slow

MEAN = ("Pooling", {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True})


def test_what_was_given_up_is_said(tmp_path: Path) -> None:
    """A narrow file's cosines to the exact vectors are printed; an exact file has none."""
    folder = write_sentence_transformers(tmp_path / "tiny-bert", MEAN)
    assert "cosine" not in polybake("bake", folder, "--output", "exact.onnx", cwd=tmp_path)
    narrow = ("--set", "model.storage=float16")
    for options, said in (narrow, "float16 weights"), (("--precision", "float16"), "float16"):
        printed = polybake("bake", folder, *options, "--output", "m.onnx", cwd=tmp_path)
        manifest = read_head(tmp_path / "m.onnx").manifest
        assert manifest.deviation is not None
        mean = f"{manifest.deviation.mean_cosine:.5f}"
        assert f"{said}: cosine to the exact vectors {mean} in the mean" in printed
        assert "before you use it" not in printed
    lowered = manifest.model_copy(update={"precision": "int8"})
    said = _deviates(lowered, Deviation(max_abs=0.1, mean_cosine=0.9949, min_cosine=0.8))
    assert said.startswith("int8: cosine to the exact vectors 0.99490 in the mean, 0.8000 at least")
    assert "below 0.995: compare with float32 on texts of your own" in said


def test_build_makes_everything(tmp_path: Path) -> None:
    """One command gives the model file, the fixture and four clients; again, it changes nothing."""
    write_sentence_transformers(tmp_path / "tiny", MEAN, ("Normalize", {}))
    polybake("init", "tiny", "--name", "tiny", cwd=tmp_path)
    (tmp_path / "texts.txt").write_text("my own text\nund noch einer\n", encoding="utf-8")
    with (tmp_path / "polybake.toml").open("a") as file:
        file.write('\n[fixtures]\ntexts = ["texts.txt"]\n')
    polybake("build", cwd=tmp_path)
    cases = json.loads((tmp_path / "fixtures/tiny/cases.json").read_text())["cases"]
    assert any("my own text" in case["texts"] for case in cases)
    names = sorted(path.name for path in (tmp_path / "clients").iterdir())
    assert names == ["csharp", "node", "python", "ruby"]
    before = (tmp_path / "build/tiny.onnx").read_bytes()
    assert polybake("build", cwd=tmp_path).count(": 0 written") == 4
    assert (tmp_path / "build/tiny.onnx").read_bytes() == before
    polybake("build", "--name", "new-name", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "fixtures").iterdir()} == {"tiny", "new-name"}
    printed = polybake("init", "tiny", cwd=tmp_path, code=2)
    assert "polybake.toml: exists already; edit it, or overwrite it with --force" in printed


def vectors(project: Path) -> np.ndarray:
    cases = read_head(project / "build/tiny.onnx").fixture.cases
    return np.concatenate([decode_vectors(case.embeddings) for case in cases])


@pytest.mark.weekly
def test_a_step_from_template_to_client(tmp_path: Path) -> None:
    """The template is a step as it stands, and as it is edited; the bake proves it with NumPy."""
    write_sentence_transformers(tmp_path / "model", ("Pooling", {"pooling_mode": "mean"}))
    polybake("init", "model", "--name", "tiny", cwd=tmp_path)
    with (tmp_path / "polybake.toml").open("a") as file:
        file.write('\n[clients.python]\noutput = "client"\n')
    polybake("build", cwd=tmp_path)
    plain = vectors(tmp_path)
    told = polybake("init", "--step", "clip.py", cwd=tmp_path)
    assert 'step = "python", file = "clip.py"' in told
    with (tmp_path / "polybake.toml").open("a") as file:
        file.write('\n[[steps]]\nstep = "python"\nfile = "clip.py"\nparameters = {limit = 0.1}\n')
    printed = polybake("build", "--force", cwd=tmp_path)
    assert "python(file=clip.py, function=step, parameters={'limit': 0.1})\n" in printed
    assert vectors(tmp_path) == pytest.approx(np.clip(plain, -0.1, 0.1), abs=1e-6)
    assert "reproduced: every golden case" in polybake("check", cwd=tmp_path)
    step = tmp_path / "clip.py"
    edited = step.read_text().replace(
        "op.Clip(embedding, -limit, limit)", "op.Mul(embedding, limit)"
    )
    step.write_text(edited.replace("np.clip(embedding, -limit, limit)", "0.0"))
    printed = polybake("build", "--force", cwd=tmp_path, code=2)
    assert "reference of clip.py returned shape []" in printed
    step.write_text(edited.split("\n\ndef reference")[0])
    assert "parameters={'limit': 0.1}) unproven\n" in polybake("build", "--force", cwd=tmp_path)
    assert vectors(tmp_path) == pytest.approx(0.1 * plain, abs=1e-6)
    step.write_text("mine")
    polybake("init", "--step", "clip.py", "--force", cwd=tmp_path)
    assert "def step(" in step.read_text()


def test_settings_stand_for_those_of_the_file(tmp_path: Path) -> None:
    """Whatever polybake.toml may say can be said in a command, and is checked as there."""
    write_sentence_transformers(tmp_path / "tiny", MEAN)
    polybake("init", "tiny", "--set", "model.description=a = b", cwd=tmp_path)
    assert 'description = "a = b"' in (tmp_path / "polybake.toml").read_text()
    options = ("--set", "model.storage=float16", "--set", 'prompts={query = "q: "}', "--json")
    manifest = json.loads(polybake("bake", *options, cwd=tmp_path))["manifest"]
    assert (manifest["description"], manifest["storage"]) == ("a = b", "float16")
    assert manifest["contract"]["prompts"] == {"query": "q: "}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("model.storage", "--set model.storage: expected KEY=VALUE, such as model.encoder=torch"),
        ("model.store=1", "model.store: unknown key; choose one of: .* (did you mean storage?)"),
        ("model.name.a=1", "--set model.name.a: name is no table; write it into polybake.toml"),
        ("model.pickle=yes", "model.pickle: Input should be 'refused' or 'tensors', found 'yes'"),
        pytest.param("model.pickle=" + "9" * 5000, "model.pickle: Input should be ", id="digits"),
        pytest.param("model.pickle=" + "[" * 5000, "model.pickle: Input should be ", id="brackets"),
    ],
)
def test_a_wrong_setting_is_named(said: str, shown: str, tmp_path: Path) -> None:
    write_sentence_transformers(tmp_path / "tiny", MEAN)
    printed = polybake("bake", "tiny", "--set", said, cwd=tmp_path, code=2)
    before, _, behind = shown.partition(".*")
    assert before in printed
    assert behind in printed
    assert not (tmp_path / "build").exists()
