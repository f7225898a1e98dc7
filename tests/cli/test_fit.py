"""``polybake fit`` as a user calls it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, write_bert
from polybake.runtime.embedder import Embedder
from support.processes.commandline import polybake, run

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    texts = [f"{first} {second}" for first in "abcdef" for second in ("boat", "river", "")]
    (tmp_path / "corpus.txt").write_text("\n".join(texts), encoding="utf-8")
    return tmp_path


def test_writes_arrays_and_shows_their_steps(every_feed: Path, project: Path) -> None:
    """The tables that are printed name the files that were written; progress is plain lines."""
    arguments = ("--pca", "3", "--remove-components", "1", "--output", "out")
    done = run("fit", every_feed, "corpus.txt", *arguments, cwd=project)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "embedding texts: 18 of 18\n"
    first, tables = done.stdout.split("\n", 1)
    assert first == "fitted mean.npy, components.npy, top.npy to 18 texts, in out"
    pca, remove = tomllib.loads(tables)["steps"]
    assert (pca["step"], remove["step"]) == ("pca", "remove_components")
    assert np.load(project / pca["mean"]).shape == (7,)
    assert np.load(project / pca["components"]).shape == (3, 7)
    assert np.load(project / remove["components"]).shape == (1, 7)


def test_a_mean_stands_behind_the_steps_that_it_was_fitted_to(project: Path) -> None:
    """The table says where; put where it is printed, the mean of the corpus is 0 behind it."""
    write_bert(project / "bert")
    (project / "polybake.toml").write_text(
        '[model]\nname = "tiny"\nsource = "bert"\noutput = "one.onnx"\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n[[steps]]\nstep = "normalize"\n'
    )
    polybake("bake", cwd=project)
    tables = run("fit", "one.onnx", "corpus.txt", cwd=project).stdout.split("\n", 1)[1]
    assert "# directly behind: pool(mode=mean) -> normalize()\n" in tables
    assert [step["step"] for step in tomllib.loads(tables)["steps"]] == ["subtract", "normalize"]
    settings = (project / "polybake.toml").read_text()
    (project / "right.toml").write_text(settings + tables)
    polybake("bake", "right.toml", "--output", "two.onnx", cwd=project)
    texts = (project / "corpus.txt").read_text().split("\n")
    vectors = Embedder(project / "one.onnx").embed(texts) - np.load(project / "fitted" / "mean.npy")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(Embedder(project / "two.onnx").embed(texts), vectors, atol=1e-5)
    pool = settings.split('[[steps]]\nstep = "normalize"')[0]
    (project / "wrong.toml").write_text(pool + tables)
    shown = polybake("bake", "wrong.toml", "--output", "three.onnx", cwd=project, code=2)
    assert (
        "steps[1].vector: fitted/mean.npy was fitted to the vectors behind pool(mode=mean) -> "
        "normalize(), and stands behind pool(mode=mean); move the step"
    ) in shown
    assert not (project / "three.onnx").exists()


def test_a_file_that_has_taken_a_mean_off_is_named(project: Path) -> None:
    """What is fitted then is the mean of the rest: said on standard error, and in the JSON."""
    write_bert(project / "bert")
    np.save(project / "mean.npy", np.full(CONFIG["hidden_size"], 0.25, np.float32))
    (project / "polybake.toml").write_text(
        '[model]\nname = "tiny"\nsource = "bert"\noutput = "one.onnx"\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n'
        '[[steps]]\nstep = "subtract"\nvector = "mean.npy"\n'
    )
    polybake("bake", cwd=project)
    said = "one.onnx already has the step subtract("
    done = run("fit", "one.onnx", "corpus.txt", cwd=project)
    assert f"note: {said}" in done.stderr
    assert 'fit = "corpus.txt"' in done.stderr
    assert said not in done.stdout
    done = run("fit", "one.onnx", "corpus.txt", "--json", cwd=project)
    assert json.loads(done.stdout)["note"].startswith(said)
    assert "note" not in json.loads((project / "fitted" / "fit.json").read_text())
    assert said not in run("fit", "one.onnx", "corpus.txt", "--ranges", cwd=project).stderr


def test_ranges_show_the_step_that_takes_them(every_feed: Path, project: Path) -> None:
    """The table of quantize is printed, and names the file; --json prints the record alone."""
    done = run("fit", every_feed, "corpus.txt", "--ranges", cwd=project)
    assert done.returncode == 0, done.stderr
    (quantize,) = tomllib.loads(done.stdout.split("\n", 1)[1])["steps"]
    assert quantize == {"step": "quantize", "precision": "int8", "ranges": "fitted/ranges.npy"}
    assert np.load(project / quantize["ranges"]).shape == (2, 7)
    arguments = ("--prompt", "query", "--output", "query", "--json")
    record = json.loads(run("fit", every_feed, "corpus.txt", *arguments, cwd=project).stdout)
    assert record == json.loads((project / "query" / "fit.json").read_text())
    assert record["model"]["prompt"] == "query"
