"""A panic of the tokenizer in the Python client."""

import json
from pathlib import Path

import pytest

from generation.python.commands import run_script
from polybake.base.modelfile import container

pytestmark = pytest.mark.python


def test_a_panic_is_an_error(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
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
    printed = run_script(python, client, script, model)
    assert "PanicException tokenizers cannot tokenize the texts: " in printed
