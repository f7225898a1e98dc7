"""Vectors asked of a command that speaks the protocol, or of a service over HTTP."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.container import read_head
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.study.diagnose.asked import asked, golden_texts
from support.servers.served import served

#: A harness that opens the model it is told, and takes every text for a query.
HARNESS = """
import base64, json, sys
from polybake.runtime.embedder import Embedder
for line in sys.stdin:
    request = json.loads(line)
    results = None
    if request["cmd"] == "start":
        embedder = Embedder(request["model"])
    elif request["cmd"] == "embed":
        x = embedder.embed(request["texts"], prompt="query")
        data = base64.b64encode(x.tobytes()).decode()
        results = {"dtype": "float32", "shape": list(x.shape), "data": data}
    print(json.dumps({"seq": request["seq"], "results": results}), flush=True)
"""

TEXTS = ["a boat"] * 40 + ["the river"]


def command(folder: Path, code: str) -> str:
    (folder / "harness.py").write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, str(folder / "harness.py")])


def test_a_command_s_vectors(prompted: Path, tmp_path: Path) -> None:
    """The command's own vectors are kept, in the order of the texts, over several requests."""
    found = asked(command(tmp_path, HARNESS), prompted, TEXTS, "document", 60).vectors
    own = Embedder(prompted).embed(TEXTS, prompt="query")
    np.testing.assert_allclose(found, own, atol=1e-6)


def test_a_service_s_vectors(prompted: Path) -> None:
    """A service of this very file is asked for the prompt by name."""
    with served(prompted) as service:
        found = asked(f"{service.url}/embed", prompted, TEXTS, "document", 60)
    assert found.fingerprint == read_head(prompted).manifest.fingerprint
    np.testing.assert_allclose(
        found.vectors, Embedder(prompted).embed(TEXTS, prompt="document"), atol=1e-6
    )


def test_the_golden_texts(prompted: Path) -> None:
    """Each golden text is taken once, however many cases have it."""
    texts = golden_texts(prompted)
    assert len(texts) == len(set(texts)) > 10
    assert "" in texts


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit(3)", "crash: ended with exit code 3"),
        ("print('{}', flush=True); input()", "error: "),
        (HARNESS.replace('"float32"', '"float99"'), "dtype, shape and data"),
    ],
    ids=["ends", "no protocol", "no vectors"],
)
def test_who_gives_none(code: str, message: str, prompted: Path, tmp_path: Path) -> None:
    """The message says why no vectors came."""
    with pytest.raises(CheckFailed, match=message):
        asked(command(tmp_path, code), prompted, ["a"], None, 60)


def test_wrong_input(prompted: Path) -> None:
    """Wrong input is refused before anything is asked."""
    with pytest.raises(InputError, match="program 'nowhere' is not there"):
        asked("nowhere", prompted, ["a"], None, 60)
    with pytest.raises(InputError, match="expected seconds above 0"):
        asked("true", prompted, ["a"], None, 0)
