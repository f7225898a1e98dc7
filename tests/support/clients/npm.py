"""Clients of npm, for Node and for the browser: their packages, checkers and own tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from support.clients.rendered import attempt, blocks, prepare, run
from support.clients.toolchain import Toolchain


class Node(Toolchain):
    language = "node"
    program = ("node", "--version")
    of_vectors = ("client",)
    ran = r"^\S+ pass (\d+)$"
    failed = r"^(?:not ok(?: \d+)? -|✖) (.*)$"
    skipped = r"^\S+ skipped (\d+)$"
    suffixes = (".js", ".ts")

    def fetch(self, client: Path, packages: Path) -> None:
        shutil.move(prepare(client) / "node_modules", packages)

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            (client / "node_modules").symlink_to(self.packages / "node_modules")

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        named = ["node", "--test", *(f"tests/{name}.test.js" for name in names)]
        return attempt(*(named if names else ["npm", "test"]), cwd=client, **given)

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

    def run_readme(self, client: Path, model: Path) -> None:
        """A page is what runs it: `test_browser` has one."""
