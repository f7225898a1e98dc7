"""What is compared: the peers of peers.toml, and how each is installed and started."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.process import check_programs, run_prepare
from polybake.verification.verdict import HarnessError

HERE = Path(__file__).parent

_PATIENCE = 1800.0


@dataclass(frozen=True)
class Peer:
    """A row of the comparison.

    Attributes:
        title: The tool, and what is special about this row.
        language: As the clients name it, such as csharp.
        folder: Where its program and its pinned versions are, below this one.
        arguments: Of its program, behind the number of threads.
        precision: int8 rows are approximations: shown with their cosine.
        absent: Why it could not be installed where this was written; it then has no folder.
    """

    title: str
    language: str
    folder: str = ""
    arguments: tuple[str, ...] = ()
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    absent: str = ""


def read_peers(file: Path = HERE / "peers.toml") -> list[Peer]:
    """The rows in their order."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["peers"]
    return [Peer(**row | {"arguments": tuple(row.get("arguments", ()))}) for row in rows]


def client(peer: Peer, file: Path = HERE / "peers.toml") -> Client:
    """How the peer's environment is made, and its program started."""
    language = tomllib.loads(file.read_text(encoding="utf-8"))["languages"][peer.language]
    return Client(language=peer.language, folder=HERE / peer.folder, **language)


def command(peer: Peer, threads: int, places: Mapping[str, Path]) -> list[str]:
    """The peer's program with its arguments, for its folder."""
    arguments = [word.format_map(places) for word in peer.arguments]
    return [*client(peer).run, str(threads), *arguments]


def install(peers: list[Peer]) -> dict[str, str]:
    """Make every folder's environment; what cannot be made here is said, and the rest goes on.

    Returns:
        For each folder that failed, why.
    """
    failed = {}
    for folder in dict.fromkeys(peer.folder for peer in peers if not peer.absent):
        one = client(next(peer for peer in peers if peer.folder == folder))
        print(f"installing {folder}", flush=True)
        try:
            check_programs(one)
            run_prepare(one, _PATIENCE)
        except HarnessError as error:
            failed[folder] = error.message
    return failed
