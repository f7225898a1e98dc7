"""Fixtures that the tests of mutants share."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files.every_byte import write_every_byte_model
from polybake.verification.verify import verify
from support.clients.rendered import write
from support.clients.toolchain import Toolchain


@pytest.fixture(scope="session")
def every_byte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer sees every byte, with the golden cases that every model gets."""
    return write_every_byte_model(tmp_path_factory.mktemp("a model") / "every-byte.onnx")


@pytest.fixture(scope="session")
def prepared(
    every_byte: Path,
    toolchain_of: Callable[[str], Toolchain],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """The client of a language, which agrees as long as nothing of it is changed."""

    @functools.cache
    def prepare(language: str) -> Path:
        folder = write(language, tmp_path_factory.mktemp(language) / "client", every_byte)
        if language == "python":  # this environment has its packages
            (folder / ".venv").symlink_to(sys.prefix)
        else:
            toolchain_of(language).build(folder, strict=False)
        report = verify(every_byte, folder)
        assert (report.failures, report.exit_code()) == ((), 0)
        return folder

    return prepare


@pytest.fixture
def own_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a Python client's package the one in its folder, as its source is now.

    Python takes a file for unchanged that was written in the same second with the same length.
    """
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
