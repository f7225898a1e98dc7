"""The environments that clients are judged in, as a polybake.toml asks for them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from polybake.base.modelfile.fixture import Device
from polybake.config import MatrixTable


@dataclass(frozen=True)
class Combination:
    """The environment of a row of the matrix.

    Attributes:
        language: The client's language.
        device: ``cpu`` or ``cuda``.
        runtime, tokenizer: Versions to install, ``newest``, or None for the client's own choice.
        threads: How many processors the harness may use; None means all.
        instructions: The processor that QEMU emulates; None means the machine's own.
    """

    language: str
    device: Device = "cpu"
    runtime: str | None = None
    tokenizer: str | None = None
    threads: int | None = None
    instructions: str | None = None

    @property
    def environment(self) -> str:
        """The name of the folder that its client is installed in; combinations may share it."""
        parts = [self.language, self.device]
        parts += [f"runtime-{self.runtime}"] if self.runtime else []
        parts += [f"tokenizer-{self.tokenizer}"] if self.tokenizer else []
        return "-".join(parts)

    def __str__(self) -> str:
        parts = [
            f"{self.language} on {self.device}",
            self.runtime and f"runtime {self.runtime}",
            self.tokenizer and f"tokenizer {self.tokenizer}",
            f"threads {self.threads}" if self.threads else None,
            self.instructions and f"instructions {self.instructions}",
        ]
        return ", ".join(filter(None, parts))


def combinations(tables: Iterable[MatrixTable]) -> tuple[Combination, ...]:
    """Return every combination of every table once; an environment's are consecutive."""
    return tuple(dict.fromkeys(one for table in tables for one in _combinations(table)))


def _combinations(table: MatrixTable) -> Iterator[Combination]:
    for device, runtime, tokenizer, threads, instructions in product(
        table.devices,
        table.runtimes or (None,),
        table.tokenizers or (None,),
        table.threads or (None,),
        table.instructions or (None,),
    ):
        yield Combination(table.language, device, runtime, tokenizer, threads, instructions)
