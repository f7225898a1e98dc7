"""Damaged heads, opened by a client of the language under test through its harness."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from polybake.base.modelfile.manifest import parse_manifest
from polybake.generation import render_client
from polybake.generation.write import write_client
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import read_client
from polybake.verification.harness.protocol import Errored, Results, Start, Stop

HEADS = Path(__file__).parents[3] / "fixtures" / "heads"

_SECONDS = 60.0


def write_heads_client(language: str, folder: Path, *, beside: bool = False) -> Path:
    """Write the client that the files of fixtures/heads are for, or those with weights beside."""
    path = HEADS / "manifest.json"
    manifest = parse_manifest(path.read_text(encoding="ascii"), str(path))
    client = render_client(manifest.model_copy(update={"format": 2 if beside else 1}), language)
    write_client(folder, client.files | client.binaries, client.project_files)
    return folder


def check_heads(client: Path, folder: Path, *, beside: bool = False) -> None:
    """Let one harness open every file in turn, and compare what it says.

    Args:
        client: What `write_heads_client` wrote, its packages installed.
        folder: The files are copied to it; its name has a space and a letter beyond ASCII.
        beside: Whether the client is for files with weights beside them; others know format 1.
    """
    place = folder / "a h\u00e9ad"
    shutil.copytree(HEADS, place)
    harness = Harness(read_client(client))
    wrong = []
    for case in json.loads((place / "heads.json").read_text(encoding="ascii"))["heads"]:
        path = place / f"{case['id']}.onnx"
        answer = harness.ask(Start(model=str(path), device="cpu"), _SECONDS)
        message = case["message"] if beside else case.get("older", case["message"])
        expected = message and f"{path}: {message.replace('FOLDER', str(place))}"
        if isinstance(answer, Errored):
            found: str | None = answer.message
            if answer.kind != "wrong_model":
                wrong.append(f"{case['id']}: kind {answer.kind}, expected wrong_model")
        else:
            assert isinstance(answer, Results)
            found = None
        if found:  # Node's own words begin in lower case
            found = found.replace("(no such file", "(No such file")
        if found != expected:
            wrong.append(f"{case['id']}: {found!r}, expected {expected!r}")
    harness.ask(Stop(), _SECONDS)
    harness.finish(_SECONDS)
    assert not wrong, "\n".join(wrong)
