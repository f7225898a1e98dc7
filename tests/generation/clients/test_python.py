"""What only Python has: a tokenizer that panics, a wheel, and a user's types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generation.clients.conftest import Pair, alone
from polybake.base.modelfile import container
from support.clients.python import Python
from support.clients.rendered import blocks, run

pytestmark = alone("python")


def test_a_panic_is_an_error(
    toolchain: Python, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """A pattern that its engine gives up on is no PanicException, which nobody catches."""
    head = container.read_head(every_feed)
    tokenizer = json.loads(head.tokenizer)
    pattern = {"type": "Split", "behavior": "Isolated", "invert": False}
    tokenizer["pre_tokenizer"] = pattern | {"pattern": {"Regex": "(x+x+)+y"}}
    tail, model = tmp_path / "tail", tmp_path / "m.onnx"
    tail.write_bytes(every_feed.read_bytes()[head.tail_offset :])
    words = json.dumps(tokenizer)
    container.write(model, tail, head.digests.tail, head.manifest, words, head.fixture)
    script = """
import sys
from every_feed import Embedder, Error
try:
    Embedder(sys.argv[1]).embed(["x" * 40])
except Error as error:
    print(type(error.__cause__).__name__, error)
"""
    printed = toolchain.evaluate(client, script, model)
    assert "PanicException tokenizers cannot tokenize the texts: " in printed


def test_the_package_works_elsewhere(
    toolchain: Python, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """The wheel, installed in an empty project, runs the README's three lines."""
    pip = (toolchain.python, "-m", "pip")
    run(*pip, "wheel", "--quiet", "--no-deps", "-w", tmp_path, ".", cwd=client)
    (built,) = tmp_path.glob("every_feed-0.1.0-*.whl")
    project = tmp_path / "an empty project"
    project.mkdir()
    install = ("install", "--quiet", "--no-deps", "--target", "packages")
    run(*pip, *install, built, cwd=project)
    (metadata,) = project.glob("packages/*.dist-info/METADATA")
    assert "Classifier: Private :: Do Not Upload" in metadata.read_text()
    lines = blocks(client, "python", every_feed)[0]
    printed = run(toolchain.python, "-c", lines, cwd=project, PYTHONPATH="packages")
    assert printed == "(1, 7)\n"


SERVED = """
from fastapi.testclient import TestClient
print(len(TestClient(app).post("/embed", json=["a", "b c"]).json()))
"""


def test_the_readme(
    toolchain: Python,
    client: Path,
    every_feed: Path,
    clients: dict[str, Pair],
    tmp_path: Path,
) -> None:
    """Its service gives a vector for each text, its stream for each line; bits have a distance."""
    _, service, stream = blocks(client, "python", every_feed)
    assert toolchain.evaluate(client, service + SERVED) == "2\n"
    (tmp_path / "texts.txt").write_text("a\nb c\n\n")
    stream = stream.replace("texts.txt", str(tmp_path / "texts.txt"))
    assert len(toolchain.evaluate(client, stream).splitlines()) == 3
    model, of_bits = clients["every_feed_bits"]
    search = blocks(of_bits, "python", model)[2]
    assert toolchain.evaluate(of_bits, search).strip() in search


def test_it_says_which_extra_is_missing(toolchain: Python, client: Path) -> None:
    """Without onnxruntime the import fails with what brings it, from the client's own folder."""
    script = 'import sys; sys.modules["onnxruntime"] = None; import every_feed'
    with pytest.raises(AssertionError, match=r'ImportError: every_feed needs .*"\.\[cpu\]"'):
        toolchain.evaluate(client, script)


TYPED = """
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


def test_its_types_reach_users(toolchain: Python, client: Path, tmp_path: Path) -> None:
    """A program that gives generators and arrays passes mypy, which sees what it gets back."""
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    toolchain.check_types(client, str(program))
