"""Build Go clients and run their own tests, with the ONNX Runtime of this environment."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from support.clients.rendered import onnxruntime, rebuild, run, write

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "GoldenCases|Neighbours|Feeds|Prompts|SelfCheck|Limits|Texts"


@pytest.fixture(scope="session")
def go_library() -> str:
    """The shared library of ONNX Runtime in this environment, which all clients load."""
    path = str(onnxruntime())
    os.environ["ONNXRUNTIME_LIBRARY_PATH"] = path
    return path


@pytest.fixture(scope="session")
def go_client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its harness built."""
    return rebuild(write("go", tmp_path_factory.mktemp("client"), every_feed))


def own_tests(client: Path, model: Path, names: str = ".", *options: str) -> int:
    """Vet the client and run its own tests of these names; how many passed."""
    run("go", "vet", "./...", cwd=client)
    command = ("go", "test", "-p=1", "-v", f"-run={names}", *options, "./...")
    printed = run(*command, cwd=client, POLYBAKE_MODEL=str(model))
    assert "--- SKIP" not in printed
    return len(re.findall(r"^--- PASS: ", printed, re.MULTILINE))
