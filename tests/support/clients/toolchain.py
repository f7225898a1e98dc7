"""What the tests of clients do in every language: build them, run their own tests, check them."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from support.clients.once import digest, once
from support.clients.rendered import run, write_example

#: What a client's own tests say without a model.
WITHOUT_MODEL = "set POLYBAKE_MODEL to the path of the baked .onnx file"


@dataclass(frozen=True)
class Ran:
    """What became of a client's own tests: how many ran, which failed, how many did not run."""

    code: int
    ran: int
    failed: tuple[str, ...]
    skipped: int
    printed: str

    def check(self) -> None:
        """Every test ran and passed, and there were some."""
        assert (self.code, self.failed, self.skipped) == (0, (), 0), self.printed
        assert self.ran > 0, self.printed

    def check_caught(self) -> None:
        """The client was built, its tests ran, and at least one of them failed."""
        assert self.code != 0, self.printed
        assert self.failed, self.printed


class Toolchain:
    """A language's tools, with the packages that all clients of a run share.

    Attributes:
        program: Prints the toolchain's version.
        of_vectors: Own tests of what depends on the model; others are run with one model alone.
        whole: What lets all of them look for more, which takes long.
        ran: Finds in what own tests print how many of them ran, or each that did.
        failed: Finds the name of each that failed.
        skipped: Finds how many were skipped, or each that was.
        suffixes: Of the files that the formatter must see.
        here: The environment of Python whose packages are used.
        small: The environment of a process that takes no more memory than it needs.
    """

    language: ClassVar[str]
    program: ClassVar[tuple[str, ...]]
    of_vectors: ClassVar[tuple[str, ...]]
    ran: ClassVar[str]
    failed: ClassVar[str]
    skipped: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    whole: ClassVar[tuple[str, ...]] = ()
    here: ClassVar[str] = ""
    small: ClassVar[Mapping[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        """Bring the packages, unless a test of this run did.

        Args:
            folder: What is prepared once a run is below it.
        """
        self.folder = folder
        version = run(*self.program, cwd=Path.cwd())
        with TemporaryDirectory() as name:
            example = write_example(self.language, Path(name) / "example")
            fetch = functools.partial(self.fetch, example)
            self.packages = once(folder, fetch, self.language, version, self.here, digest(example))

    def prepare(self, write: Callable[[Path], None]) -> Path:
        """A folder of clients that are built together, once a run; ``write`` renders them."""
        with TemporaryDirectory() as name:
            rendered = Path(name) / "rendered"
            write(rendered)

            def build(folder: Path) -> None:
                shutil.copytree(rendered, folder, dirs_exist_ok=True)
                self.build(*sorted(path.parent for path in folder.glob("*/harness.json")))

            return once(self.folder, build, str(self.packages), digest(rendered))

    def fetch(self, client: Path, packages: Path) -> None:
        """Bring the packages of a client, which those of other models need as well."""

    def build(self, *clients: Path, strict: bool = True) -> None:
        """Make clients of different names runnable: their harness and their own tests.

        Args:
            clients: Lie in one folder.
            strict: A warning of the compiler is an error.
        """
        raise NotImplementedError

    def own_tests(self, client: Path, model: Path | None, *names: str) -> Ran:
        """Run a client's own tests, or those of these names, as its user does."""
        done = self.run_tests(client, *names, **({"POLYBAKE_MODEL": str(model)} if model else {}))
        printed = done.stdout + done.stderr

        def count(pattern: str) -> int:
            found = re.findall(pattern, printed, re.MULTILINE)
            return sum(int(one) if one.isdigit() else 1 for one in found)

        failed = tuple(re.findall(self.failed, printed, re.MULTILINE))
        return Ran(done.returncode, count(self.ran), failed, count(self.skipped), printed)

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        """Run them, with these variables in the environment."""
        raise NotImplementedError

    def formatted(self, folder: Path) -> int:
        """The formatter changes nothing in the clients of a folder; how many files it saw."""
        raise NotImplementedError

    def check_strictly(self, *clients: Path) -> None:
        """Compilers and linters that judge more than a line find nothing in clients."""

    def run_readme(self, client: Path, model: Path) -> None:
        """Run the README's first example beside the client, where that needs no project."""

    def quiet(self, temporary: Path) -> dict[str, str]:
        """The environment of a harness that has a folder for temporary files."""
        return {"TMPDIR": str(temporary)}

    def sources(self, folder: Path) -> list[Path]:
        """The files that the formatter must see."""
        return [
            path
            for path in folder.rglob("*")
            if path.suffix in self.suffixes and "node_modules" not in path.parts
        ]
