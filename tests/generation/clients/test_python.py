"""What only Python has: a wheel, a service, and a user's types."""

from __future__ import annotations

from pathlib import Path

from generation.clients.conftest import Pair, alone
from support.clients.python import Python
from support.clients.rendered import blocks, run

pytestmark = alone("python")


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


def test_the_stream_of_the_readme(
    toolchain: Python, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """It gives a vector for each line of a file."""
    _, stream = blocks(client, "python", every_feed)
    (tmp_path / "texts.txt").write_text("a\nb c\n\n")
    stream = stream.replace("texts.txt", str(tmp_path / "texts.txt"))
    assert len(toolchain.evaluate(client, stream).splitlines()) == 3


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
    vectors = embedder.embed_ids(embedder.tokenize(["a"]))
"""


def test_its_types_reach_users(toolchain: Python, client: Path, tmp_path: Path) -> None:
    """A program that gives generators and arrays passes mypy, which sees what it gets back."""
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    toolchain.check_types(client, str(program))


WORDS = """
from tokenizers import Tokenizer, models
from {module}.words import MAX_LENGTH, LongTextError, check_tokens, words_of
tokenizer = Tokenizer(models.BPE({"a": 0}, []))
tokenizer.enable_truncation(MAX_LENGTH)
try:
    words_of(tokenizer, ["a" * 999], MAX_LENGTH)
except LongTextError as error:
    print("refused:", error)
check_tokens(" \\n", 0, 1)
check_tokens("a b", 2, 2)
try:
    check_tokens("a b", 2, 3)
except ValueError as error:
    print("other tokens:", error)
"""


def test_words_are_those_of_all_tokens(toolchain: Python, clients: dict[str, Pair]) -> None:
    """A word that the tokenizer cut to just a row is refused, and a text that gave other tokens."""
    _, tagger = clients["tag"]
    (words,) = tagger.glob("src/*/words.py")
    program = WORDS.replace("{module}", words.parent.name)
    printed = toolchain.evaluate(tagger, program)
    assert "refused: " in printed
    assert 'other tokens: "a b' in printed
