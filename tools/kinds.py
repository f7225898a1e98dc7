"""Verify models of every kind: ``python tools/kinds.py KINDS CLIENTS [all]``.

KINDS has a folder for each contract, and in it one for each model: ``model.onnx`` and ``golden``.

The first contract of the name that most have is verified in every language, the others in one by
turns: the tests of clients cover every task, every feed, both sides of padding, and every dtype in
each language. With ``all`` every contract is verified in every language, which takes three times as
long.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from polybake.generation.languages import DEFAULT_LANGUAGES
from polybake.verification.required import VARIABLE

#: Names of clients at a time; mostly one compiler or installer after another is at work.
SIDE_BY_SIDE = 2

EVERY = DEFAULT_LANGUAGES


def verify(contract: Path, clients: Path, languages: tuple[str, ...]) -> bool:
    """Verify the models of a contract with the clients of the first of them, as after a re-bake."""
    chosen = [word for language in languages for word in ("--language", language)]
    for number, folder in enumerate(sorted(contract.iterdir())):
        model, fixture = str(folder / "model.onnx"), str(folder / "golden")
        check = ["verify", model, "--clients", str(clients), "--fixture", fixture, *chosen]
        if not number:
            run(languages, "generate", model, "--clients", str(clients), "--force", *chosen)
            check.append("--prepare")
        if run(languages, *check):
            return False
    return True


def run(languages: tuple[str, ...], *arguments: str) -> int:
    """Run polybake, and show all that it printed when it ends; other languages are not required."""
    command = ["polybake", *arguments]
    required = [name for name in os.environ.get(VARIABLE, "").split(",") if name in languages]
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | {VARIABLE: ",".join(required)},
    )
    sys.stdout.write(f"{' '.join(command)}\n{done.stdout}\n")
    sys.stdout.flush()
    return done.returncode


def main(kinds: Path, clients: Path, every: bool) -> int:
    """Verify every contract; 1 where one fails."""
    contracts = sorted(kinds.iterdir())
    names: dict[str, list[Path]] = {}
    for contract in contracts:
        names.setdefault(contract.name.rpartition("-")[0], []).append(contract)

    def failures(name: str) -> list[str]:
        """The contracts of one name that failed.

        Their clients are written over each other, so that packages are installed once; where
        all agree they go, as those of all names fill a disk.
        """
        found = []
        first = longest_first.index(name)
        for place, one in enumerate(names[name]):
            turn = (EVERY[(first + place) % len(EVERY)],)
            if not verify(one, clients / name, EVERY if every or first + place == 0 else turn):
                found.append(one.name)
        if not found:
            shutil.rmtree(clients / name)
        return found

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        longest_first = sorted(names, key=lambda name: -len(names[name]))
        failed = [name for found in pool.map(failures, longest_first) for name in found]
    sys.stdout.write(f"{len(contracts) - len(failed)} of {len(contracts)} contracts verified\n")
    sys.stdout.writelines(f"failed: {name}\n" for name in failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] == ["all"]))
