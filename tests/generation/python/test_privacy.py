"""Nothing leaves the machine by the Python client, unless it is wished."""

from pathlib import Path

import pytest

from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.python

USE = """
import sys
from every_feed import Embedder
with Embedder(sys.argv[1]) as embedder:
    print(embedder.embed(["a"]).shape, embedder.self_check() >= 0)
"""


def test_nothing_leaves_the_machine(
    python: Path, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """Opening, embedding and ending leave an empty home empty, and look up no name."""
    home = tmp_path / "home"
    printed = run_silently(home, python, "-c", USE, every_feed, cwd=client, PYTHONPATH="src")
    assert printed == "(1, 7) True\n"
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(("given", "kept"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_who_wants_telemetry_is_obeyed(
    python: Path, client: Path, tmp_path: Path, given: dict[str, str], kept: str
) -> None:
    """The variable is set for C code, and stays where it has a value; here is no onnxruntime."""
    (tmp_path / "onnxruntime.py").write_text("import os; os.system('echo $ORT_DISABLE_TELEMETRY')")
    environment = given | {"PYTHONPATH": f"{tmp_path}:src"}
    command = [python, "-c", "import every_feed"]
    assert run_silently(tmp_path, *command, cwd=client, **environment) == f"{kept}\n"
