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


LATE = """
import atexit
import sys
import threading
from every_feed import Embedder
model = Embedder(sys.argv[1], concurrency=2)

def embed(told):
    print(told, len(model.embed([" ".join(["word"] * 9)] * 500)))

def late():
    threading.main_thread().join()
    embed("a thread")

threading.Thread(target=late).start()
atexit.register(embed, "the end")
"""


def test_it_embeds_once_the_main_thread_has_ended(
    toolchain: Python, client: Path, every_feed: Path
) -> None:
    """Then no pool takes work: the batches run one after another."""
    printed = toolchain.evaluate(client, LATE, every_feed)
    assert sorted(printed.splitlines()) == ["a thread 500", "the end 500"]


WITHOUT_CUDNN = """
import sys
from every_feed import DeviceError, Embedder, session
session.PROVIDERS["cuda"] = session.PROVIDERS["cpu"]
session._CUDA.clear()

def feeds(*rows):
    raise RuntimeError("libcudnn.so.9 is not there")

session.feeds = feeds
try:
    Embedder(sys.argv[1], device="cuda")
except DeviceError as error:
    print(error)
"""


def test_a_device_that_opens_and_does_not_run_is_not_there(
    toolchain: Python, client: Path, every_feed: Path
) -> None:
    """As CUDA is without cuDNN, which onnxruntime looks for at the first run."""
    printed = toolchain.evaluate(client, WITHOUT_CUDNN, every_feed)
    assert 'device "cuda" could not be started (libcudnn.so.9 is not there)' in printed


WINDOWS = """
import sys
from {module} import Tagger, model, tagger
opened = Tagger(sys.argv[1])
texts = ["a b", "", "b", "c a", "a"]
whole, of, seen = opened.tag(texts), tagger.words_of, []

def words_of(tokenizer, texts, room):
    seen.append(len(texts))
    if len(seen) == 2:
        opened.close()  # a call in flight goes on to its end
    return of(tokenizer, texts, room)

model.WINDOW = tagger.WINDOW = 2
tagger.words_of = words_of
print(opened.tag(texts) == whole, seen)
"""


def test_words_are_found_window_by_window(toolchain: Python, clients: dict[str, Pair]) -> None:
    """The words of a long list are not in memory before its first text is run."""
    path, client = clients["tag"]
    (words,) = client.glob("src/*/words.py")
    program = WINDOWS.replace("{module}", words.parent.name)
    assert toolchain.evaluate(client, program, path) == "True [2, 2, 1]\n"


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
