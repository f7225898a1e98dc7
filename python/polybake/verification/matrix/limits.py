"""A client whose harness may use less of the machine: processors, instruction sets."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client
from polybake.verification.matrix.combination import Combination
from polybake.verification.verdict import HarnessError, Status

#: QEMU's emulator of a single program. ONNX Runtime chooses its kernels by the processor's own
#: description, and has no option for others.
_EMULATORS = ("qemu-x86_64", "qemu-x86_64-static")

#: Languages whose harness is one process. QEMU emulates only that process: any process that it
#: starts, as Node's does, runs on the machine's own processor.
LANGUAGES = ("python",)

#: The instruction sets that vectors may depend on, in QEMU's message on what it lacks.
_LACKED = re.compile(r"feature: \S*?\.((?:avx|amx|sse|ssse|fma|f16c)[\w.-]*)")


def check_instructions(one: Combination) -> None:
    """Refuse an emulated processor if the harness would leave it.

    Raises:
        InputError: Instructions are set, and the language is not in `LANGUAGES`.
    """
    if one.instructions is not None and one.language not in LANGUAGES:
        raise InputError(
            f"verify.matrix: {one.language} with instructions; they can be chosen for: "
            f"{', '.join(LANGUAGES)}; leave them out for {one.language}"
        )


def limited(client: Client, threads: int | None, instructions: str | None) -> Client:
    """Return the client with a limited harness.

    Args:
        client: An installed client.
        threads: How many processors it may use, by its affinity mask; clients use as many threads.
        instructions: One of QEMU's processors, such as ``Haswell`` or ``Haswell,-avx2``.

    Raises:
        HarnessError: ``missing-device``: the machine has too few processors, or QEMU lacks
            instructions; ``missing-toolchain``: QEMU or taskset is missing; ``error``: QEMU does
            not know the processor, or would have to run a script.
    """
    run = client.run
    if instructions is not None:
        emulator = _emulator(instructions)
        run = (emulator, "-cpu", instructions, _program(client), *run[1:])
    if threads is not None:
        run = ("taskset", "--cpu-list", _processors(threads), *run)
    return client.model_copy(update={"run": run})


def _processors(threads: int) -> str:
    if sys.platform != "linux" or shutil.which("taskset") is None:
        raise HarnessError(
            Status.MISSING_TOOLCHAIN,
            f"threads {threads}: taskset is not on PATH; install the package util-linux",
        )
    usable = sorted(os.sched_getaffinity(0))
    if threads > len(usable):
        raise HarnessError(
            Status.MISSING_DEVICE,
            f"threads {threads}: this process may use {len(usable)} processors",
        )
    return ",".join(map(str, usable[:threads]))


def _emulator(instructions: str) -> str:
    """Return QEMU's path, if it is installed and has all requested instruction sets."""
    emulator = next(filter(None, map(shutil.which, _EMULATORS)), None)
    if emulator is None:
        raise HarnessError(
            Status.MISSING_TOOLCHAIN,
            f"instructions {instructions}: none of {', '.join(_EMULATORS)} is on PATH; "
            "install the package qemu-user",
        )
    tried = subprocess.run(  # noqa: S603 - the words of a polybake.toml, without a shell
        [emulator, "-cpu", instructions, shutil.which("true") or "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        last = "".join(tried.stderr.splitlines()[-1:])
        raise HarnessError(
            Status.ERROR,
            f"instructions {instructions}: {last}; list processors with: {emulator} -cpu help",
        )
    lacked = _LACKED.findall(tried.stderr)
    if lacked:
        raise HarnessError(
            Status.MISSING_DEVICE,
            f"instructions {instructions}: {emulator} does not emulate {', '.join(lacked)}",
        )
    return emulator


def _program(client: Client) -> str:
    """The file of the harness's program, which the emulator runs by itself."""
    path = client.full_environment().get("PATH")
    found = shutil.which(client.run[0], path=path) or client.run[0]
    place = Path(client.folder, found)
    if place.read_bytes()[:4] != b"\x7fELF":
        raise HarnessError(
            Status.ERROR, f"instructions: {found} is a script; an emulator needs a program"
        )
    return found
