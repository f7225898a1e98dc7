"""Clients of Go, with the ONNX Runtime of this environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.clients.rendered import attempt, blocks, onnxruntime, rebuild, run, settle
from support.clients.toolchain import Toolchain

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"


class Go(Toolchain):
    language = "go"
    program = ("go", "version")
    of_vectors = (".",)
    whole = ("-race",)
    ran = "^--- PASS: "
    failed = r"^--- FAIL: (\S+)"
    skipped = "--- SKIP: "
    suffixes = (".go",)
    here = sys.prefix

    @property
    def library(self) -> dict[str, str]:
        return {"ONNXRUNTIME_LIBRARY_PATH": str(onnxruntime())}

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            settle(rebuild(client), **self.library)

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        chosen = [name for name in names if name not in self.whole]
        options = [*({*names} & {*self.whole}), *([f"-run={'|'.join(chosen)}"] if chosen else [])]
        for tags in ("", "harness"):
            run("go", "vet", f"-tags={tags}", "./...", cwd=client)
        command = ("go", "test", "-p=1", "-v", *options, "./...")
        return attempt(*command, cwd=client, **self.library, **given)

    def formatted(self, folder: Path) -> int:
        sources = self.sources(folder)
        assert run("gofmt", "-l", "-s", *sources, cwd=folder) == ""
        return len(sources)

    def check_strictly(self, *clients: Path) -> None:
        for client in clients:
            run("go", "run", STATICCHECK, "-checks=all", "-tags=harness", "./...", cwd=client)

    def run_readme(self, client: Path, model: Path) -> None:
        (program,) = blocks(client, "go", model)
        folder = client / "example"
        folder.mkdir(exist_ok=True)
        (folder / "main.go").write_text(program, encoding="utf-8")
        run("go", "run", "./example", cwd=client, **self.library)
