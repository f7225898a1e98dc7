"""Write a client for a model and run commands in it, for the tests of each language."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from polybake.base.files.templates import templates_folder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Output, parse_manifest
from polybake.generation import render_client
from polybake.generation.render import PARTS
from polybake.generation.write import write_client
from polybake.verification.report import Report
from polybake.verification.verdict import Stage, Status, Verdict
from polybake.verification.verify import verify

MINILM = Path(__file__).parents[3] / "fixtures" / "all-minilm-l6-v2" / "manifest.json"

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


def attempt(
    *command: str | Path, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command, whatever becomes of it."""
    program, *arguments = map(str, command)
    if os.name == "nt":  # where npm is npm.cmd
        program = shutil.which(program) or program
    return subprocess.run(
        [program, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed; what it printed."""
    done = attempt(*command, cwd=cwd, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def parts_of(language: str) -> list[str]:
    """The parts that clients of a language may have."""
    return [part for part in PARTS if (templates_folder() / language / "parts" / part).is_dir()]


def has_streams(language: str) -> bool:
    """Whether clients of a language have the part that streams, or are a core alone."""
    return "bulk" in parts_of(language)


def failed(report: Report) -> list[Verdict]:
    """What did not pass, without the streams that no client of a language has."""
    return [
        one
        for one in report.verdicts
        if one.status is not Status.PASS
        and (one.stage is not Stage.STREAM or has_streams(one.language))
    ]


def onnxruntime() -> Path:
    """ONNX Runtime's library in the package of this environment."""
    found = importlib.util.find_spec("onnxruntime")
    assert found is not None
    assert found.origin is not None
    (library,) = Path(found.origin).parent.glob("capi/libonnxruntime.*")
    return library


def prepare(client: Path) -> Path:
    """The folder of a client that was made runnable as its harness.json says."""
    settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=client, **settings.get("environment", {}))
    return client


def rebuild(client: Path) -> Path:
    """The folder of a client whose harness was built anew, by its harness.json's last command."""
    settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
    run(*settings["prepare"][-1], cwd=client)
    return client


def check_task(model: Path, client: Path) -> None:
    """A prepared client passes every stage of every case, with its task's own call among them."""
    report = verify(model, client)
    assert (report.exit_code(), failed(report)[:2]) == (0, [])
    assert Stage.CALL in {one.stage for one in report.verdicts}


def write(language: str, folder: Path, model: Path, **changes: Any) -> Path:
    """Write the client of ``model``, with fields of its manifest or contract changed.

    It has every part of its language, or those in ``changes["parts"]``.
    """
    parts = changes.pop("parts", parts_of(language))
    manifest = read_head(model).manifest
    contract = manifest.contract.model_copy(update=changes.pop("contract", {}))
    manifest = manifest.model_copy(update={"contract": contract, **changes})
    client = render_client(manifest, language, parts=parts)
    write_client(folder, client.files | client.binaries, client.project_files)
    return folder


def write_example(language: str, folder: Path) -> Path:
    """Write a client whose packages are those of every client of the language."""
    manifest = parse_manifest(MINILM.read_text(encoding="ascii"), str(MINILM))
    client = render_client(manifest, language)
    write_client(folder, client.files | client.binaries, client.project_files)
    return folder


def settle(client: Path, **environment: str) -> None:
    """Let the harness of a client have these variables, whoever starts it."""
    path = client / "harness.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["environment"] = settings.get("environment", {}) | environment
    path.write_text(json.dumps(settings), encoding="utf-8")


def blocks(client: Path, language: str, model: Path | None = None) -> list[str]:
    """The blocks of a language in a client's README, with the path of a model for its name."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    if model is None:
        return found
    return [re.sub(r'"[\w-]+\.onnx"', lambda _: json.dumps(str(model)), one) for one in found]
