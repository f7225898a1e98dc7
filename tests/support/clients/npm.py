"""Clients of npm, for Node and for the browser: their packages, checkers and own tests."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from support.clients.rendered import attempt, blocks, prepare, run
from support.clients.toolchain import Ran, Toolchain


class Node(Toolchain):
    language = "node"
    program = ("node", "--version")
    of_vectors = ("embedder", "batches", "self-check")
    of_files = ("modelfile",)
    suffixes = (".js", ".ts")

    def fetch(self, client: Path, packages: Path) -> None:
        shutil.move(prepare(client) / "node_modules", packages)

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            (client / "node_modules").symlink_to(self.packages / "node_modules")

    def runner(self, *names: str) -> list[str]:
        """The command of the tests of these names, or of all."""
        named = ["node", "--test", *(f"tests/{name}.test.js" for name in names)]
        return named if names else ["npm", "test"]

    def own_tests(self, client: Path, model: Path | None, *names: str) -> Ran:
        given = {"POLYBAKE_MODEL": str(model)} if model else {}
        done = attempt(*self.runner(*names), cwd=client, **given)
        counted = dict(re.findall(r"^\S+ (pass|skipped) (\d+)$", done.stdout, re.MULTILINE))
        failed = re.findall(r"^(?:not ok(?: \d+)? -|✖) (.*)$", done.stdout, re.MULTILINE)
        passed, skipped = int(counted.get("pass", 0)), int(counted.get("skipped", 0))
        printed = done.stdout + done.stderr
        return Ran(done.returncode, passed, tuple(failed), skipped, printed)

    def formatted(self, folder: Path) -> int:
        """Biome reads its settings once, in the folder of all clients."""
        settings = [*folder.rglob("biome.json")]
        text = settings[0].read_text(encoding="utf-8").replace('"src/', '"**/src/')
        for file in settings:
            file.unlink()
        (folder / "biome.json").write_text(text, encoding="utf-8")
        biome = self.packages / "node_modules/.bin/biome"
        printed = run(biome, "ci", "--error-on-warnings", "--colors=off", ".", cwd=folder)
        return int(re.findall(r"Checked (\d+) files in \S+ No fixes applied", printed)[0])

    def check_strictly(self, *clients: Path) -> None:
        for client in clients:
            run("npm", "run", "lint", cwd=client)
            run("npm", "run", "types", cwd=client)

    def run_readme(self, client: Path, model: Path) -> None:
        example = blocks(client, "js", model)[0]
        run("node", "--input-type=module", "--eval", example, cwd=client)


class Browser(Node):
    language = "browser"
    of_vectors = (*Node.of_vectors, "tokenizer")

    def runner(self, *names: str) -> list[str]:
        return ["node", "tests/run.js", *(f"{name}.test.js" for name in names)]

    def run_readme(self, client: Path, model: Path) -> None:
        """A page is what runs it: `test_browser` has one."""
