"""What the tests of clients do in every language: build them, run their own tests, check them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from support.clients.once import digest, once
from support.clients.rendered import run, write_heads_client

#: What a client's own tests say without a model.
WITHOUT_MODEL = "set POLYBAKE_MODEL to the path of the baked .onnx file"


@dataclass(frozen=True)
class Ran:
    """What became of a client's own tests: how many passed, and which did not."""

    code: int
    passed: int
    failed: tuple[str, ...]
    skipped: int
    printed: str

    def check(self) -> None:
        """Every test ran and passed, and there were some."""
        assert (self.code, self.failed, self.skipped) == (0, (), 0), self.printed
        assert self.passed > 0, self.printed

    def check_caught(self) -> None:
        """The client was built, its tests ran, and at least one of them failed."""
        assert self.code != 0, self.printed
        assert self.failed, self.printed


class Toolchain:
    """A language's tools, with the packages that all clients of a run share.

    Attributes:
        program: Prints the toolchain's version.
        of_vectors: Own tests of what depends on the model; others are run with one model alone.
        of_files: Own tests of the model file.
        suffixes: Of the files that the formatter must see.
        small: The environment of a process that takes no more memory than it needs.
    """

    language: ClassVar[str]
    program: ClassVar[tuple[str, ...]]
    of_vectors: ClassVar[tuple[str, ...]]
    of_files: ClassVar[tuple[str, ...]]
    suffixes: ClassVar[tuple[str, ...]]
    small: ClassVar[Mapping[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        """Bring the packages, unless a test of this run did.

        Args:
            folder: What is prepared once a run is below it.
        """
        self.folder = folder
        self.version = run(*self.program, cwd=Path.cwd())
        with_example = self._packages_of_an_example
        self.packages = once(folder, with_example, self.language, self.version)

    def prepare(self, write: Callable[[Path], None]) -> Path:
        """A folder of clients that are built together, once a run; ``write`` renders them."""

        def build(folder: Path) -> None:
            write(folder)
            self.build(*sorted(path.parent for path in folder.glob("*/harness.json")))

        rendered = digest(write)
        return once(self.folder, build, self.language, self.version, rendered)

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

    def _packages_of_an_example(self, folder: Path) -> None:
        client = write_heads_client(self.language, folder / "example")
        self.fetch(client, folder)
        shutil.rmtree(client)
