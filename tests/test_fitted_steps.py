"""Steps that name a corpus: a build fits them, to what NumPy computes, and only where it must."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.runtime.embedder import Embedder
from support.processes.commandline import polybake, run
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

TEXTS = [f"{first} {second}" for first in "abcdef" for second in ("boat", "river", "c d e")]

SETTINGS = """
[model]
name = "tiny"
source = "bert"
output = "build/tiny.onnx"
[clients.ruby]
[[steps]]
step = "pool"
mode = "mean"
"""


def settings(*steps: str) -> str:
    return SETTINGS + "".join(f"[[steps]]\n{one}\n" for one in steps)


SUBTRACT = 'step = "subtract"\nfit = "corpus.txt"'
WHITEN = 'step = "whiten"\nfit = { texts = "corpus.txt", size = 3 }'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_bert(tmp_path / "bert")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS) + "\n")
    (tmp_path / "polybake.toml").write_text(settings(SUBTRACT))
    return tmp_path


def vectors(model: Path) -> NDArray[np.float64]:
    return np.asarray(Embedder(model).embed(TEXTS), np.float64)


@pytest.fixture
def pooled(project: Path) -> NDArray[np.float64]:
    """The corpus's vectors before any step that is fitted."""
    (project / "pooled.toml").write_text(SETTINGS.replace("build/tiny", "pooled"))
    polybake("bake", "pooled.toml", cwd=project)
    return vectors(project / "pooled.onnx")


def test_mean_debiasing_is_one_line(project: Path, pooled: NDArray[np.float64]) -> None:
    """The corpus's own mean is 0 afterwards, and the lock has the corpus and the array."""
    polybake("build", cwd=project)
    debiased = vectors(project / "build/tiny.onnx")
    np.testing.assert_allclose(debiased, pooled - pooled.mean(axis=0), atol=1e-6)
    lock = (project / "polybake.lock").read_text()
    for name in ("corpus.txt", "fitted/subtract/mean.npy", "fitted/subtract/fit.json"):
        assert f'"{name}" = "' in lock
    polybake("check", "--complete", cwd=project)


def test_steps_are_fitted_one_behind_the_other(project: Path, pooled: NDArray[np.float64]) -> None:
    """Whitening of what is debiased already: no mean, and variance 1 in each direction."""
    twice = settings(SUBTRACT, 'step = "scale"\nfactor = 2.0', SUBTRACT, WHITEN)
    (project / "polybake.toml").write_text(twice)
    polybake("build", cwd=project)
    white = vectors(project / "build/tiny.onnx")
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=1e-3)
    names = {path.name for path in (project / "fitted").iterdir()}
    assert names == {"subtract", "subtract-2", "whiten"}
    second = np.load(project / "fitted/subtract-2/mean.npy")
    np.testing.assert_allclose(second, 0, atol=1e-6)
    assert pooled.shape[1] == len(second)


@pytest.mark.weekly
def test_what_did_not_change_is_not_fitted_again(project: Path) -> None:
    """A corpus is embedded again only where it, the model before it, or what is asked changed."""
    (project / "polybake.toml").write_text(settings(SUBTRACT, WHITEN))

    def fitted() -> list[int]:
        """How often texts were embedded."""
        done = run("build", "--force", cwd=project)
        assert done.returncode == 0, done.stderr
        return [
            line.startswith("embedding texts: 18 of") for line in done.stderr.split("\n")
        ].count(True)

    assert fitted() == 2
    assert fitted() == 0
    (project / "polybake.toml").write_text(settings(SUBTRACT, WHITEN.replace("3", "2")))
    assert fitted() == 1
    (project / "fitted/whiten/matrix.npy").unlink()
    assert fitted() == 1
    text = settings(SUBTRACT, WHITEN.replace("3", "2")).replace('"mean"\n', '"max"\n')
    (project / "polybake.toml").write_text(text)
    assert fitted() == 2


def test_an_array_that_was_edited_is_not_lost(project: Path) -> None:
    """Neither is it taken for one that was fitted."""
    polybake("build", cwd=project)
    array = project / "fitted/subtract/mean.npy"
    np.save(array, np.ones(12, np.float32))
    edited = array.read_bytes()
    assert "was changed since it was fitted; to keep it, name it in polybake.toml" in polybake(
        "build", cwd=project, code=2
    )
    assert array.read_bytes() == edited


#: A step, what the message says, and the step as the message wants it.
REFUSED: dict[str, tuple[str, str, str]] = {
    "a step that is fitted to nothing": (
        'step = "normalize"\nfit = "corpus.txt"',
        "steps[1].fit: 'normalize' is fitted to no texts; steps that are: subtract, pca, ",
        SUBTRACT,
    ),
    "an array beside it": (
        'step = "subtract"\nfit = "corpus.txt"\nvector = "mean.npy"',
        "steps[1].vector: stands beside fit, which gives it; drop one",
        SUBTRACT,
    ),
    "no size": (
        'step = "whiten"\nfit = "corpus.txt"',
        'steps[1].fit.size: is missing; say fit = { texts = "…", size = 256 }',
        WHITEN,
    ),
    "a size of a mean": (
        'step = "subtract"\nfit = { texts = "corpus.txt", size = 3 }',
        "steps[1].fit.size: is 3, and 'subtract' has none; drop it",
        'step = "subtract"\nfit = { texts = "corpus.txt" }',
    ),
    "another key": (
        'step = "whiten"\nfit = { texts = "corpus.txt", sise = 3, size = 3 }',
        "steps[1].fit: sise",
        WHITEN,
    ),
    "no corpus": (
        'step = "subtract"\nfit = "none.txt"',
        "none.txt: cannot be read",
        SUBTRACT,
    ),
    "too few texts": (
        'step = "whiten"\nfit = { texts = "corpus.txt", size = 12 }',
        "12",
        WHITEN,
    ),
}


@pytest.mark.parametrize("what", weekly_but(1, REFUSED))
def test_what_cannot_be_fitted_is_refused(project: Path, what: str) -> None:
    """Nothing is written, the key is named, and what the message wants builds."""
    step, message, corrected = REFUSED[what]
    (project / "polybake.toml").write_text(settings(step))
    printed = polybake("build", cwd=project, code=2)
    assert message in printed
    assert not (project / "build").exists()
    assert not (project / "fitted").exists()
    (project / "polybake.toml").write_text(settings(corrected))
    polybake("build", cwd=project)


def test_a_bake_alone_fits_nothing(project: Path) -> None:
    """It says who does."""
    message = "steps[1].fit: a step of polybake.toml's own list is fitted, by: polybake build"
    assert message in polybake("bake", cwd=project, code=2)


@pytest.mark.parametrize("weights", weekly_but(1, ["inside", "beside"]))
def test_an_array_of_another_model_is_refused(project: Path, weights: str) -> None:
    """One that a person fitted and named is taken until the weights before it change."""
    plain = SETTINGS.replace("[clients.ruby]", f'weights = "{weights}"\n[clients.ruby]')
    (project / "polybake.toml").write_text(plain)
    polybake("bake", cwd=project)
    polybake("fit", "build/tiny.onnx", "corpus.txt", "--output", "mine", cwd=project)
    step = '[[steps]]\nstep = "subtract"\nvector = "mine/mean.npy"\n'
    (project / "polybake.toml").write_text(plain + step)
    polybake("build", cwd=project)
    shutil.rmtree(project / "bert")
    others = {name: -one for name, one in bert_weights(CONFIG).items()}
    write_bert(project / "bert", weights=others)
    printed = polybake("build", cwd=project, code=2)
    assert (
        "steps[1].vector: mine/mean.npy was fitted to vectors of tiny with fingerprint" in printed
    )
    (project / "mine/fit.json").unlink()
    polybake("build", cwd=project)


def add_text(project: Path) -> None:
    with (project / "corpus.txt").open("a") as file:
        file.write("one more\n")


def change_record(project: Path) -> None:
    record = project / "fitted/subtract/fit.json"
    told = json.loads(record.read_text())
    told["model"]["fingerprint"] = "0" * 64
    record.write_text(json.dumps(told))


@pytest.mark.parametrize("change", weekly_but(1, [add_text, change_record]))
def test_check_sees_it(project: Path, change: Callable[[Path], None]) -> None:
    """What an array comes from is an input like any other."""
    polybake("build", cwd=project)
    change(project)
    assert "changed since the build; polybake build" in polybake("check", cwd=project, code=1)
    polybake("build", cwd=project)
    polybake("check", "--complete", cwd=project)
