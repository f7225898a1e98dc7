"""harness.json: how a client's harness is prepared and run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from polybake.base.files.validation import first_fault
from polybake.base.modelfile.fixture import Device
from polybake.errors import InputError
from polybake.verification.harness.protocol import LANGUAGE
from polybake.verification.harness.services.address import check_address, is_address

HARNESS_FILE = "harness.json"


#: The values of words in braces on this machine.
_HERE = {"{python}": sys.executable, "{bin}": "Scripts" if sys.platform == "win32" else "bin"}


def _filled(argv: tuple[str, ...]) -> tuple[str, ...]:
    for word, here in _HERE.items():
        argv = tuple(part.replace(word, here) for part in argv)
    return argv


Argv = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_filled)]


class OnDevice(BaseModel):
    """The settings of one device; null keeps the setting of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prepare: tuple[Argv, ...] | None = None
    run: Argv | None = None
    environment: dict[str, str] | None = None


class HarnessFile(BaseModel):
    """The content of a harness.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str = Field(pattern=LANGUAGE)
    requires: Annotated[tuple[str, ...], AfterValidator(_filled)] = Field(
        default=(), description="Programs that must be on PATH."
    )
    prepare: tuple[Argv, ...] = Field(
        default=(), description="Commands that make the client runnable, in order."
    )
    run: Argv = Field(
        description="The command that starts the harness; {python} and {bin} are replaced."
    )
    environment: dict[str, str] = Field(
        default_factory=dict, description="Added to the environment of every command."
    )
    cuda: OnDevice | None = Field(default=None, description="What takes their place on cuda.")


class Client(HarnessFile):
    """A client that verify can start, in its folder; a foreign client is named by its command.

    A service over HTTP is named by its address, and nothing is started.
    """

    language: str
    folder: Path
    foreign: bool = False
    service: bool = False

    def on(self, device: Device) -> Client:
        """Return the client with the commands for a device."""
        changes = self.cuda if device == "cuda" else None
        parts = dict(changes) if changes else {}
        return self.model_copy(update={k: part for k, part in parts.items() if part is not None})

    def full_environment(self) -> dict[str, str]:
        """The environment of this process with the client's own variables added.

        Whatever runtime a client has sends no telemetry, unless the user wants that.
        """
        return {"ORT_DISABLE_TELEMETRY": "1"} | os.environ | self.environment


def find_clients(directory: Path) -> tuple[Client, ...]:
    """Read every client in ``directory``, by name: the folders in it with a harness.json."""
    if (directory / HARNESS_FILE).is_file():
        return (read_client(directory),)
    files = sorted(directory.glob(f"*/{HARNESS_FILE}"))
    if not files:
        raise InputError(
            f"{directory}: no folder in it has a {HARNESS_FILE}; "
            "write clients with: polybake generate"
        )
    return tuple(read_client(file.parent) for file in files)


def read_client(folder: Path) -> Client:
    """Read the harness.json of a client's folder."""
    path = folder / HARNESS_FILE
    try:
        harness = HarnessFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); write the client with: polybake generate"
        ) from error
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}; see docs/protocol.md") from error
    return Client(**dict(harness), folder=folder.absolute())


def _words(command: str) -> tuple[str, ...]:
    """Split a command line as a shell does; on Windows a backslash is a part of a path."""
    words = shlex.shlex(command, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, ""
    if sys.platform == "win32":
        words.escape = ""
    return tuple(words)


def foreign_client(command: str) -> Client:
    """Return a client that is not generated, from a command line such as ``go run ./harness``.

    It runs in the current folder. Its answer to ``start`` names its language; until then the
    command is its name. An address such as ``http://localhost:8080/embed`` is a service.
    """
    if is_address(command):
        check_address(command)
        return Client(
            language=command, folder=Path.cwd(), run=(command,), foreign=True, service=True
        )
    try:
        run = _words(command)
    except ValueError as error:
        raise InputError(f"harness {command!r}: {error}; quote it as for a shell") from error
    if not run or shutil.which(run[0]) is None:
        program = run[0] if run else ""
        raise InputError(
            f"harness {command!r}: program {program!r} is not there; "
            "give a command such as: --harness 'go run ./harness'"
        )
    return Client(language=command, folder=Path.cwd(), run=run, foreign=True)
