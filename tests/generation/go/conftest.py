"""The Go client, built, and the ONNX Runtime that it loads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.clients.rendered import onnxruntime, rebuild, write


@pytest.fixture(scope="session")
def library() -> str:
    """The shared library of ONNX Runtime in this environment, which all clients load."""
    path = str(onnxruntime())
    os.environ["ONNXRUNTIME_LIBRARY_PATH"] = path
    return path


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its harness built."""
    return rebuild(write("go", tmp_path_factory.mktemp("client"), every_feed))
