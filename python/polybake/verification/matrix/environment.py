"""A copy of a client with its own packages, which a later run uses again."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client, read_client
from polybake.verification.harness.prepare import check_programs, run_prepare
from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.packages import NEWEST, install_commands
from polybake.verification.verdict import HarnessError, Status

#: The file in each environment that says what it was made of; empty until it is finished.
MARK = ".polybake-matrix"

#: Files and folders that a client's tools leave in its folder.
_MADE = (".venv*", "node_modules", "vendor", "bin", "obj", "build", "dist", "__pycache__")


def installed(client: Client, combination: Combination, folder: Path, seconds: float) -> Client:
    """Return the combination's client, copied below ``folder`` and installed if necessary.

    Args:
        client: The client to copy, as read from its folder.
        combination: The combination, with the versions to install.
        folder: The folder of all environments.
        seconds: The time limit of each command.

    Raises:
        HarnessError: ``missing-toolchain``: a program is missing, or a command fails; ``timeout``.
        InputError: Its language cannot have versions, or something else is in its place.
    """
    check_programs(client)
    place, made_of = folder / combination.environment, _made_of(client, combination)
    finished = _mark(place) == made_of
    if not finished:
        _copy(client.folder, place)
    copy = read_client(place).on(combination.device)
    commands = install_commands(copy, combination)
    if not finished:
        commands = (*copy.prepare, *commands)
    elif NEWEST not in (combination.runtime, combination.tokenizer):
        return copy
    (place / MARK).write_text("", encoding="utf-8")
    try:
        run_prepare(copy.model_copy(update={"prepare": commands}), seconds)
    except HarnessError as error:
        if error.status is Status.TIMEOUT:
            raise
        raise HarnessError(Status.MISSING_TOOLCHAIN, error.message) from error
    (place / MARK).write_text(made_of, encoding="utf-8")
    return copy


def _mark(place: Path) -> str | None:
    """Return what the environment was made of; None if there is none.

    Raises:
        InputError: Something is there that no matrix made.
    """
    if not place.exists():
        return None
    try:
        return (place / MARK).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{place}: is no environment of a matrix; choose another place with --folder"
        ) from error


def _copy(source: Path, place: Path) -> None:
    """Begin anew, with the mark as the first file: whatever ends here can be removed."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / MARK).write_text("", encoding="utf-8")
    shutil.copytree(source, place, ignore=shutil.ignore_patterns(*_MADE), dirs_exist_ok=True)


def _made_of(client: Client, combination: Combination) -> str:
    """A digest of the client's files, of the commands, and of the Python that they run."""
    digest = hashlib.sha256()
    on = client.on(combination.device)
    commands = (*on.prepare, *install_commands(on, combination))
    digest.update(json.dumps([sys.version, commands, on.environment], sort_keys=True).encode())
    for path in sorted(_files(client.folder)):
        digest.update(json.dumps([str(path.relative_to(client.folder))]).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    ignored = shutil.ignore_patterns(*_MADE)
    for place, folders, names in os.walk(folder):
        skipped = ignored(place, [*folders, *names])
        folders[:] = (name for name in folders if name not in skipped)
        yield from (Path(place, name) for name in names if name not in skipped)
