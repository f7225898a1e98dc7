"""Clients of Python, in an environment with what this one has, their checkers besides."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from support.clients.rendered import attempt, blocks, run, settle
from support.clients.toolchain import Toolchain

#: The folder of programs in an environment of Python.
BIN = "Scripts" if os.name == "nt" else "bin"


class Python(Toolchain):
    language = "python"
    program = (sys.executable, "--version")
    of_vectors = ("client",)
    ran = r"\b(\d+) passed"
    failed = r"^(?:FAILED|ERROR) (\S+)"
    skipped = r"\b(\d+) skipped"
    suffixes = (".py",)
    here = sys.prefix

    @property
    def python(self) -> Path:
        return self.packages / BIN / "python"

    def fetch(self, client: Path, packages: Path) -> None:
        run(sys.executable, "-m", "venv", packages, cwd=client)
        python = packages / BIN / "python"
        run(python, "-m", "pip", "install", "--quiet", "mypy>=2", "ruff>=0.17", cwd=client)
        site = Path(sysconfig.get_path("purelib", vars={"base": str(packages)}))
        (site / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            (client / ".venv").symlink_to(self.packages)
            settle(client, PYTHONPATH="src")

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        tests = [f"tests/test_{name}.py" for name in names] or ["tests"]
        alone = {"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
        return attempt(self.python, *command, cwd=client, **alone, **given)

    def formatted(self, folder: Path) -> int:
        run(self.python, "-m", "ruff", "check", "--no-cache", ".", cwd=folder)
        command = ("-m", "ruff", "format", "--no-cache", "--check", ".")
        printed = run(self.python, *command, cwd=folder)
        return int(re.findall(r"(\d+) files already formatted", printed)[0])

    def check_strictly(self, *clients: Path) -> None:
        for client in clients:
            self.check_types(client, "src", "harness")

    def check_types(self, client: Path, *paths: str) -> None:
        """Mypy finds nothing."""
        cache = f"--cache-dir={self.packages}/mypy-cache"
        run(self.python, "-m", "mypy", cache, *paths, cwd=client, MYPYPATH="src")

    def run_readme(self, client: Path, model: Path) -> None:
        for example in blocks(client, "python", model):
            self.evaluate(client, example)

    def evaluate(
        self, client: Path, script: str, *arguments: str | Path, **environment: str
    ) -> str:
        """Run a script beside the client's package, two minutes at most; what it prints."""
        command = ["timeout", "--kill-after=5", "120", self.python, "-c", script, *arguments]
        return run(*command, cwd=client, PYTHONPATH="src", **environment)
