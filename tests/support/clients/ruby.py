"""Clients of Ruby, whose bundles share their gems."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from support.clients.rendered import blocks, run
from support.clients.toolchain import Toolchain

#: For what must end: a hang is what some tests look for.
SECONDS = 300


class Ruby(Toolchain):
    language = "ruby"
    program = ("ruby", "--version")
    of_vectors = ("client",)
    ran = r"\b(\d+) runs"
    failed = r"^ +\d+\) (?:Failure|Error):\n(\S+)"
    skipped = r"\b(\d+) skips"
    suffixes = (".rb", ".gemspec")

    @property
    def bundle(self) -> dict[str, str]:
        """Where Bundler has its gems."""
        return {"BUNDLE_PATH": str(self.packages / "gems")}

    def fetch(self, client: Path, packages: Path) -> None:
        gems = {"BUNDLE_PATH": str(packages / "gems")}
        run("bundle", "install", "--quiet", cwd=client, **gems)
        shutil.copytree(client, packages / "linter")

    def build(self, *clients: Path, strict: bool = True) -> None:  # noqa: ARG002
        for client in clients:
            (client / "vendor").mkdir()
            (client / "vendor/bundle").symlink_to(self.packages / "gems")
            run("bundle", "install", "--quiet", "--local", cwd=client, **self.bundle)

    def environment(self) -> dict[str, str]:
        """What Ruby is told of its gems and its texts."""
        (path,) = self.packages.glob("gems/ruby/*")
        return {"LANG": "C.UTF-8", "GEM_PATH": str(path)}

    def ruby(
        self, client: Path, *arguments: str | Path, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Ruby with the client and its gems, and with nothing else of this environment."""
        return subprocess.run(
            [str(part) for part in ("ruby", "-I", client / "lib", "-w", *arguments)],
            cwd=client,
            env={"PATH": os.environ["PATH"], **self.environment()} | more,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    def evaluate(self, client: Path, model: Path, script: str, **more: str) -> str:
        """What a script printed that must succeed; ``MODEL`` is the model's path."""
        (gemspec,) = client.glob("*.gemspec")
        done = self.ruby(client, "-r", gemspec.stem, "-e", script, MODEL=str(model), **more)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        """As its Rakefile does."""
        files = f"test/**/{{{','.join(names) or '*'}}}_test.rb"
        script = f'Dir["{files}"].each {{ |path| require "./#{{path}}" }}'
        return self.ruby(client, "-e", script, **given)

    def formatted(self, folder: Path) -> int:
        command = ("exec", "standardrb", "--no-fix", "--format", "json", folder)
        printed = run("bundle", *command, cwd=self.packages / "linter", **self.bundle)
        summary = json.loads(printed)["summary"]
        assert summary["offense_count"] == 0, printed
        return int(summary["inspected_file_count"])

    def run_readme(self, client: Path, model: Path) -> None:
        self.evaluate(client, model, blocks(client, "ruby", model)[1])
