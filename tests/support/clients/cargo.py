"""Clients of Rust, which share what is built of their crates."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from shutil import ignore_patterns
from tempfile import TemporaryDirectory

import pytest

from support.clients.rendered import attempt, onnxruntime, rebuild, run, settle
from support.clients.toolchain import Ran, Toolchain

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


class Cargo(Toolchain):
    language = "rust"
    program = ("cargo", "--version")
    of_vectors = ("--lib",)
    of_files = ("--lib",)
    suffixes = (".rs",)

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            settle(rebuild(client), ORT_DYLIB_PATH=str(onnxruntime()))

    def own_tests(self, client: Path, model: Path | None, *names: str) -> Ran:
        command = ("test", "--release", *dict.fromkeys(names))
        cargo(*command, "--no-run", cwd=client)
        given = {"POLYBAKE_MODEL": str(model.resolve())} if model else {}
        library = str(onnxruntime())
        command = ("cargo", *command, "--no-fail-fast")
        done = attempt(*command, cwd=client, ORT_DYLIB_PATH=library, **given)
        counts = re.findall(r"test result: \w+\. (\d+) passed; \d+ failed; (\d+) ign", done.stdout)
        passed, ignored = (sum(int(count[place]) for count in counts) for place in (0, 1))
        failed = tuple(re.findall(r"^---- (\S+) stdout ----$", done.stdout, re.MULTILINE))
        return Ran(done.returncode, passed, failed, ignored, done.stdout + done.stderr)

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
