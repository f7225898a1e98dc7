"""Write a client for a model and run commands in it, for the tests of each language."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from polybake.base.files.templates import templates_folder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Output
from polybake.generation import render_client
from polybake.generation.render import PARTS
from polybake.generation.write import write_client
from polybake.verification.harness.harness_file import read_client
from polybake.verification.verdict import Stage, Status
from polybake.verification.verify import verify

#: Model names that formatters could treat differently: a short, a plain and the longest one.
NAMES = ("ab1", "every-feed", "a" * 24 + "-" + "b" * 25)


#: What quantized models give, by the precision of the step.
OUTPUTS = {
    "int8": Output(name="vector", dtype="int8", dimension=7),
    "uint8": Output(name="vector", dtype="uint8", dimension=7),
    "binary": Output(name="vector", dtype="int8", dimension=7, packed_bits=True),
    "ubinary": Output(name="vector", dtype="uint8", dimension=7, packed_bits=True),
}

#: By default glibc keeps some of what is freed, and more of it from turn to turn.
RETURNS_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "65536"}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed; what it printed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def has_streams(language: str) -> bool:
    """Whether clients of the language have the part that streams."""
    return (templates_folder() / language / "parts" / "bulk").is_dir()


def check_task(model: Path, client: Path) -> None:
    """A prepared client passes every stage of every case, with its task's own call among them."""
    report = verify(model, client)
    streams = has_streams(read_client(client).language)
    failed = [
        one
        for one in report.verdicts
        if one.status is not Status.PASS and (streams or one.stage is not Stage.STREAM)
    ]
    assert (report.exit_code(), failed[:2]) == (0, [])
    assert Stage.CALL in {one.stage for one in report.verdicts}


def write(language: str, folder: Path, model: Path, **changes: Any) -> Path:
    """Write the client of ``model``, with fields of its manifest or contract changed.

    It has every part, or those in ``changes["parts"]``.
    """
    parts = changes.pop("parts", PARTS)
    manifest = read_head(model).manifest
    contract = manifest.contract.model_copy(update=changes.pop("contract", {}))
    manifest = manifest.model_copy(update={"contract": contract, **changes})
    client = render_client(manifest, language, parts=parts)
    write_client(folder, client.files, client.project_files)
    return folder
