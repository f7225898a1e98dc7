"""A model file that the workers of a cluster open, once in each process."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.bulk.embed.machine import Machine
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt
from polybake.runtime.runner import Runner


@dataclass(frozen=True)
class ModelFile:
    """A model file as it is sent to workers, which open it themselves.

    Attributes:
        path: The driver's path of the file.
        manifest: The manifest of the driver's file; a worker's file must have the same fingerprint.
        prompt: The prompt that texts are embedded with.
    """

    path: Path
    manifest: Manifest
    prompt: Prompt

    @classmethod
    def read(cls, path: str | os.PathLike[str], prompt: Prompt) -> ModelFile:
        """Check the file before work is sent to workers.

        Args:
            path: A baked model file of the task ``embed``.
            prompt: A prompt that the model has.

        Raises:
            InputError: The file or the prompt is not what was expected.
        """
        file = Path(path).absolute()  # a worker has a working folder of its own
        manifest = read_head(file).manifest
        if manifest.contract.task != "embed":
            raise InputError(
                f"{file}: is made for the task {manifest.contract.task!r}, expected 'embed'; ask "
                "it by a client: polybake generate"
            )
        prompt.contract(manifest.contract)
        return cls(file, manifest, prompt)

    @property
    def prompt_name(self) -> str | None:
        """The name of the model's prompt that is used, if any."""
        return self.prompt.contract(self.manifest.contract).default_prompt

    def runner(self, path: Path | None = None) -> Runner:
        """Return the open model with its prompt, in a worker.

        Args:
            path: The worker's path of the file; None is the driver's path.

        Raises:
            InputError: The file cannot be read, or is not the driver's file.
        """
        runner = opened(path or self.path, self.manifest.fingerprint).runner
        return replace(runner, contract=self.prompt.contract(runner.contract))


class OneCore(Machine):
    """A single core, as engines start a worker per core; a model stays open until its end."""

    def open(self, model: Path) -> Embedder:
        """Open a model file, unless this process has it open already."""
        return opened(model, read_head(model).manifest.fingerprint)


@cache
def opened(path: Path, fingerprint: str) -> Embedder:
    """Open a model file on one thread, once in this process."""
    check_fingerprint(path, read_head(path).manifest, fingerprint)
    return Machine(threads=1).open(path)


def check_fingerprint(path: Path, found: Manifest, expected: str) -> None:
    """Refuse a file with an unexpected fingerprint.

    Raises:
        InputError: The fingerprint differs.
    """
    if found.fingerprint != expected:
        raise InputError(
            f"{path}: has the fingerprint {found.fingerprint} here, expected {expected}; give "
            "every worker the same file, and one that replaces it another name"
        )
