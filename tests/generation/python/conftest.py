"""The Python client, and the environment that its tests share."""

import sys
from pathlib import Path

import pytest

from support.clients.rendered import run, write


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the client's packages, its checkers, and those of its README."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    python = folder / "bin/python"
    packages = ["numpy", "tokenizers<0.24", "onnxruntime", "gunicorn", "fastapi", "httpx"]
    tools = ["pytest", "mypy>=2", "ruff>=0.17"]
    run(python, "-m", "pip", "install", "--quiet", *packages, *tools, cwd=folder)
    return python


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of ``every_feed``, written once."""
    return write("python", tmp_path_factory.mktemp("client"), every_feed)
