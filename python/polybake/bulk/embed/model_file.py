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
    """What travels to workers in the place of an open session.

    Attributes:
        path: Where the driver has the file.
        manifest: The driver's; the file of a worker must have its fingerprint, too.
        prompt: What texts are embedded with.
    """

    path: Path
    manifest: Manifest
    prompt: Prompt

    @classmethod
    def read(cls, path: str | os.PathLike[str], prompt: Prompt) -> ModelFile:
        """Look at the file before work is sent anywhere.

        Args:
            path: A baked model file of the task ``embed``.
            prompt: One that the model has.

        Raises:
            InputError: the file or the prompt is not what was expected.
        """
        place = Path(path).absolute()  # a worker has a working folder of its own
        manifest = read_head(place).manifest
        if manifest.contract.task != "embed":
            raise InputError(
                f"{place}: is made for the task {manifest.contract.task!r}, expected 'embed'; ask "
                "it by a client: polybake generate"
            )
        prompt.contract(manifest.contract)
        return cls(place, manifest, prompt)

    @property
    def prompt_name(self) -> str | None:
        """The name of the model's prompt that is used, if one is."""
        return self.prompt.contract(self.manifest.contract).default_prompt

    def runner(self, path: Path | None = None) -> Runner:
        """The open model with its prompt, in a worker.

        Args:
            path: Where the worker has the file; None is where the driver has it.

        Raises:
            InputError: it cannot be read, or is not the file that the driver has.
        """
        runner = opened(path or self.path, self.manifest.fingerprint).runner
        return replace(runner, contract=self.prompt.contract(runner.contract))


class OneCore(Machine):
    """One core, as engines have a worker for each; a model stays open until the process ends."""

    def open(self, model: Path) -> Embedder:
        """Open a model file, unless this process has it open already."""
        return opened(model, read_head(model).manifest.fingerprint)


@cache
def opened(path: Path, fingerprint: str) -> Embedder:
    """Open a model file on one thread, once in this process.

    Raises:
        InputError: it cannot be read, or has another fingerprint.
    """
    check_fingerprint(path, read_head(path).manifest, fingerprint)
    return Machine(threads=1).open(path)


def check_fingerprint(path: Path, found: Manifest, expected: str) -> None:
    """Refuse a file that is not the one expected.

    Raises:
        InputError: its fingerprint is another.
    """
    if found.fingerprint != expected:
        raise InputError(
            f"{path}: has the fingerprint {found.fingerprint} here, expected {expected}; give "
            "every worker the same file, and one that replaces it another name"
        )
