"""Clients of Rust, which share what is built of their crates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from shutil import ignore_patterns
from tempfile import TemporaryDirectory

import pytest

from support.clients.rendered import attempt, onnxruntime, rebuild, run, settle
from support.clients.toolchain import Toolchain


@pytest.fixture(scope="session", autouse=True)
def shared_crates(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let every client take the crates that the first one builds; a session of nox says where.

    Cargo then tells two clients of one name apart by the time of their files alone: tests that
    build the older one again give the other a name of its own, and one process has all tests of
    this language.
    """
    folder = tmp_path_factory.getbasetemp()
    os.environ.setdefault("CARGO_BUILD_BUILD_DIR", str(folder / "crates"))


def cargo(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    return run("cargo", *arguments, cwd=cwd, ORT_DYLIB_PATH=str(onnxruntime()), **environment)


class Cargo(Toolchain):
    language = "rust"
    program = ("cargo", "--version")
    of_vectors = ("--lib",)
    ran = r"test result: \w+\. (\d+) passed"
    failed = r"^---- (\S+) stdout ----$"
    skipped = r"\b(\d+) ignored;"
    suffixes = (".rs",)
    here = sys.prefix

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            settle(rebuild(client), ORT_DYLIB_PATH=str(onnxruntime()))

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        command = ("test", "--release", *dict.fromkeys(names))
        cargo(*command, "--no-run", cwd=client)
        library = {"ORT_DYLIB_PATH": str(onnxruntime())}
        return attempt("cargo", *command, "--no-fail-fast", cwd=client, **library, **given)

    def formatted(self, folder: Path) -> int:
        sources = self.sources(folder)
        run("rustfmt", "--check", "--edition", "2024", *sources, cwd=folder)
        return len(sources)

    def check_strictly(self, *clients: Path) -> None:
        """Clippy at its strictest, for all clients as one workspace."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            for client in clients:
                shutil.copytree(client, folder / client.name, ignore=ignore_patterns("target"))
            members = json.dumps([client.name for client in clients])
            manifest = f'[workspace]\nmembers = {members}\nresolver = "3"\n'
            (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
            strict = ("--", "-D", "warnings", "-W", "clippy::pedantic")
            cargo("clippy", "--release", "--workspace", "--all-targets", *strict, cwd=folder)
