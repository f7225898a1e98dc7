"""Build Rust clients, which share what is built of their crates."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.clients.rendered import onnxruntime, rebuild, run

#: As little work for the compiler as can be, and arithmetic that is checked.
PROFILE = {
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS": "true",
    "CARGO_INCREMENTAL": "0",
    "CARGO_TERM_COLOR": "never",
    "CARGO_TERM_QUIET": "true",
}


@pytest.fixture(scope="session", autouse=True)
def shared_crates(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let every client take the crates that the first one of this process builds.

    Cargo then tells two clients of one name apart by the time of their files alone: tests that
    build the older one again give the other a name of its own. Processes beside this one have
    crates of their own: they would take a client of the same name from under a test that runs.
    """
    folder = tmp_path_factory.getbasetemp()
    os.environ.setdefault("CARGO_BUILD_BUILD_DIR", str(folder / "crates"))
    for name, value in PROFILE.items():
        os.environ.setdefault(name, value)


def cargo(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    return run("cargo", *arguments, cwd=cwd, ORT_DYLIB_PATH=str(onnxruntime()), **environment)


def prepare(client: Path) -> Path:
    """The client's folder, its harness built, and this environment's ONNX Runtime beside it."""
    installed = client / ".onnxruntime"
    if not installed.exists():
        installed.mkdir()
        (installed / "onnxruntime").symlink_to(onnxruntime().parents[1])
    return rebuild(client)
