"""``polybake diff`` as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from models.files.varied import write_varied
from support.processes.commandline import polybake, run, without

pytestmark = pytest.mark.slow


def cased(words: dict[str, Any]) -> None:
    words["normalizer"]["lowercase"] = False


@pytest.fixture
def varied(every_feed: Path, tmp_path: Path) -> Path:
    """The model with another tokenizer, to which capitals are unknown."""
    return write_varied(every_feed, tmp_path / "b.onnx", tokenizer=cased)


def test_a_copy_is_the_same(every_feed: Path, tmp_path: Path) -> None:
    """A copy gives exit code 0, and nothing is written."""
    done = run("diff", every_feed, every_feed, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nRe-index: no. Contract, tokenizer and graph are the same.\n")
    assert not [*tmp_path.iterdir()]


def test_what_differs_is_named(every_feed: Path, varied: Path, tmp_path: Path) -> None:
    """The output names the part, its place, the stage, the text, the neighbours and the answer."""
    pytest.importorskip("matplotlib", reason='pip install ".[plots]"')
    command = ("diff", every_feed, varied, "--plot", "out/a.svg")
    lines = polybake(*command, cwd=tmp_path, code=1).splitlines()
    for line in (
        "tokenizer  normalizer.lowercase: true -> false",
        "graph      the same",
        '           the first: "Hello, world"',
        "embed_ids  424 texts have the same vectors, an element by at most 0",
    ):
        assert line in lines
    assert re.fullmatch(r"tokenize   \d+ of 424 texts have other token ids", lines[7])
    (answer,) = (line for line in lines if line.startswith("Re-index: yes. Old vectors beside new"))
    assert answer.endswith(" of 424 texts other ids.")
    assert "wrote out/a.svg" in lines
    assert {one.name for one in tmp_path.rglob("*")} == {"b.onnx", "out", "a.svg"}


def test_own_texts_decide(every_feed: Path, varied: Path, tmp_path: Path) -> None:
    """Texts without capitals have the same ids and neighbours, so they need no re-index."""
    (tmp_path / "texts.txt").write_text("".join(f"text {number}\n" for number in range(99)))
    options = ("--texts", "texts.txt", "--prompt", "document", "--json")
    found = json.loads(run("diff", every_feed, varied, *options, cwd=tmp_path).stdout)
    assert found["stages"][0]["differing"] == 1  # a golden one
    assert (found["neighbours"]["texts"], found["neighbours"]["alone"]) == (99, 1)
    assert found["verdict"]["answer"] == "no, for now"


def test_the_base_install_compares_parts(every_feed: Path, varied: Path, tmp_path: Path) -> None:
    """Equal parts need no further packages; for others it prints the parts and what to install."""
    renamed = write_varied(every_feed, tmp_path / "c.onnx", name="renamed")
    for after, code, shown in ((renamed, 0, "Re-index: no."), (varied, 3, "pip install")):
        hidden = ("onnx", "onnxruntime", "tokenizers")
        done = without(hidden, "diff", every_feed, after, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert shown in done.stdout + done.stderr
        assert "contract   the same" in done.stdout
