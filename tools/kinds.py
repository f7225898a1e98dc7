"""Verify models of every kind in every language: ``python tools/kinds.py KINDS CLIENTS``.

KINDS has a folder for each contract, and in it one for each model: ``model.onnx`` and ``golden``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: Names of clients at a time; mostly one compiler or installer after another is at work.
SIDE_BY_SIDE = 2


def verify(contract: Path, clients: Path) -> bool:
    """Verify the models of a contract with the clients of the first of them, as after a re-bake."""
    for number, folder in enumerate(sorted(contract.iterdir())):
        model, fixture = str(folder / "model.onnx"), str(folder / "golden")
        check = ["verify", model, "--clients", str(clients), "--fixture", fixture]
        if not number:
            run("generate", model, "--clients", str(clients), "--force")
            check.append("--prepare")
        if run(*check):
            return False
    return True


def run(*arguments: str) -> int:
    """Run polybake, and show all that it printed when it ends."""
    command = ["polybake", *arguments]
    done = subprocess.run(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    sys.stdout.write(f"{' '.join(command)}\n{done.stdout}\n")
    sys.stdout.flush()
    return done.returncode


def main(kinds: Path, clients: Path) -> int:
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
        found = [one.name for one in names[name] if not verify(one, clients / name)]
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
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
