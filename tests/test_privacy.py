"""Nothing leaves the machine, and nothing is written where nobody asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.folders.tiny_folders import write_bert
from polybake.base.modelfile.container import read_head
from support.processes.commandline import polybake
from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.slow

#: A stand-in for an imported onnxruntime; the real one would send its telemetry.
IMPORTED = "import sys; sys.modules['onnxruntime'] = sys"
RUN = (sys.executable, "-c", "import polybake.cli.main; polybake.cli.main.main()")


@pytest.mark.weekly
def test_no_command_writes_to_the_home(tmp_path: Path) -> None:
    """Baking, checking, embedding and measuring write nothing there, and look up no name."""
    write_bert(tmp_path / "bert")
    home, model = tmp_path / "home", "model.onnx"
    config = tmp_path / "polybake.toml"
    config.write_text(
        f'[model]\nname = "tiny-bert"\nsource = "bert"\noutput = "{model}"\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n'
    )
    (tmp_path / "texts.txt").write_text("one\ntwo\nthree\n")
    embed = ["embed", model, "texts.txt", "-o", "vectors.parquet"]
    bench = ["bench", model, "--texts", "texts.txt", "--rounds", "1"]
    for command in (["build"], ["check"], ["fit", model, "texts.txt"], embed, bench):
        run_silently(home, *RUN, *command, cwd=tmp_path)
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(
    ("given", "code", "expected", "warned"),
    [
        (None, "import polybake", "1", False),
        ("", "import polybake", "1", False),
        ("0", f"{IMPORTED}; import polybake", "0", False),
        (None, f"{IMPORTED}; import polybake", "1", True),
    ],
)
def test_who_wants_telemetry_is_obeyed(
    given: str | None, code: str, expected: str, warned: bool
) -> None:
    """A value that the user gave stays; one that comes too late is told."""
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {} if given is None else {"ORT_DISABLE_TELEMETRY": given}
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport os; print(os.environ['ORT_DISABLE_TELEMETRY'])"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == expected
    assert ("onnxruntime was imported before polybake" in found.stderr) is warned


@pytest.mark.parametrize(("embed", "inside"), [("builtin", False), ("all", True)])
def test_own_texts_stay_outside_the_file(tmp_path: Path, embed: str, inside: bool) -> None:
    """Whoever has a model file can read its head; a user's texts are in it only when asked for."""
    write_bert(tmp_path / "bert")
    (tmp_path / "texts.txt").write_text("patient 4711\n")
    (tmp_path / "polybake.toml").write_text(
        '[model]\nname = "tiny-bert"\nsource = "bert"\noutput = "model.onnx"\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n'
        f'[fixtures]\ntexts = ["texts.txt"]\nembed = "{embed}"\n'
    )
    polybake("build", "polybake.toml", cwd=tmp_path)
    model = tmp_path / "model.onnx"
    assert (b"patient 4711" in model.read_bytes()) is inside
    assert any("user" in case.flags for case in read_head(model).fixture.cases) is inside
    written = json.loads((tmp_path / "fixtures" / "tiny-bert" / "cases.json").read_text())
    assert any(case["texts"] == ["patient 4711"] for case in written["cases"])
