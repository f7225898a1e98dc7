"""The device that embeds, and how many of its processors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.processors import processors


@dataclass(frozen=True)
class Machine:
    """The device that embeds; by default all processors of the CPU.

    Attributes:
        device: ``cpu`` or ``cuda``.
        threads: Processors of the CPU; None takes all that the process may use.
    """

    device: str = "cpu"
    threads: int | None = None

    def open(self, model: Path) -> Embedder:
        """Open a model file."""
        if self.device != "cpu":
            return Embedder(model, device=self.device, threads=self.threads)
        if self.threads is not None and not 1 <= self.threads <= processors():
            raise InputError(
                f"--threads {self.threads}: expected 1 to {processors()}, the processors that this "
                "process may use"
            )
        # Batches side by side need no agreement between threads, and their vectors are the same
        # to the last bit on any number of processors.
        return Embedder(model, threads=1, at_once=self.threads or processors())
