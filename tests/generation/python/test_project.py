"""The Python client in a user's project: what its README promises, and its types."""

from pathlib import Path

import pytest

from generation.python.commands import run_script
from support.clients.readme import blocks
from support.clients.rendered import run, write

pytestmark = pytest.mark.python


def test_the_package_works_elsewhere(
    python: Path, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """The wheel, installed in an empty project, runs the README's three lines."""
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ".", cwd=client)
    (built,) = tmp_path.glob("every_feed-0.1.0-*.whl")
    project = tmp_path / "an empty project"
    project.mkdir()
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", "packages"]
    run(python, *install, built, cwd=project)
    (metadata,) = project.glob("packages/*.dist-info/METADATA")
    assert "Classifier: Private :: Do Not Upload" in metadata.read_text()
    lines = blocks(client, "python", every_feed)[0]
    assert " " in str(every_feed)
    assert run(python, "-c", lines, cwd=project, PYTHONPATH="packages") == "(1, 7)\n"


SERVED = """
from fastapi.testclient import TestClient
print(len(TestClient(app).post("/embed", json=["a", "b c"]).json()))
"""


def test_the_service_answers(python: Path, client: Path, every_feed: Path) -> None:
    """The README's web service gives a vector for each text."""
    service = blocks(client, "python", every_feed)[1]
    assert run_script(python, client, service + SERVED) == "2\n"


def test_the_stream_works(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A file's lines are embedded one after another."""
    (tmp_path / "texts.txt").write_text("a\nb c\n\n")
    example = blocks(client, "python", every_feed)[2]
    example = example.replace("texts.txt", str(tmp_path / "texts.txt"))
    assert len(run_script(python, client, example).splitlines()) == 3


def test_the_recipe_for_bits_runs(python: Path, every_feed_bits: Path, tmp_path: Path) -> None:
    """Packed bits are compared by their Hamming distance."""
    folder = write("python", tmp_path / "client", every_feed_bits)
    recipe = blocks(folder, "python", every_feed_bits)[2]
    assert run_script(python, folder, recipe).strip() in recipe


def test_it_says_which_extra_is_missing(python: Path, client: Path) -> None:
    """Without onnxruntime the import fails with what brings it, from the client's own folder."""
    script = 'import sys; sys.modules["onnxruntime"] = None; import every_feed'
    with pytest.raises(AssertionError, match=r'ImportError: every_feed needs .*"\.\[cpu\]"'):
        run_script(python, client, script)


def test_a_users_types(python: Path, client: Path) -> None:
    """A program that gives generators and arrays passes mypy, which sees what it gets back."""
    program = """
from collections.abc import Iterator
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from every_feed import Embedder
from every_feed.bulk import each

def lines() -> Iterator[str]:
    yield "a"

with Embedder(Path("m.onnx"), device="cpu", threads=1) as embedder:
    vectors: NDArray[np.float32] = embedder.embed(lines(), prompt="query")
    vectors = embedder.embed_documents(text for text in ("a", "b"))
    for vector in each(embedder.embed, lines()):
        assert vector.ndim == 1
    vectors = embedder.embed_ids(np.array([[1, 2]]))
    vectors = embedder.embed_ids([np.array([1, 2]), np.array([3])])
    vectors = embedder.embed_ids(embedder.tokenize(["a"]))
"""
    (client / "program.py").write_text(program)
    cache = f"--cache-dir={python.parent}/mypy-cache"
    run(python, "-m", "mypy", cache, "program.py", cwd=client, MYPYPATH="src")
    (client / "program.py").unlink()
