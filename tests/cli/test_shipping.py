"""polybake card, export and sign: what travels with a model file, from the command line."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from support.processes.commandline import polybake
from support.processes.fresh_home import run_silently
from support.samples.keys import write_keys

pytestmark = pytest.mark.slow

RUN = (sys.executable, "-c", "import polybake.cli.main; polybake.cli.main.main()")


def test_equal_files_have_equal_cards(tiny_tag: Path, tmp_path: Path) -> None:
    """Cards and bills are equal byte for byte, and name the file by its digest."""
    for folder in ("one", "two"):
        polybake("card", tiny_tag, "--output", folder, cwd=tmp_path)
    bill, card = sorted((tmp_path / "one").iterdir())
    for path in (bill, card):
        text = path.read_text("utf-8")
        assert text == (tmp_path / "two" / path.name).read_text("utf-8")
        assert hashlib.sha256(tiny_tag.read_bytes()).hexdigest() in text
    assert 'pipeline_tag: "token-classification"' in card.read_text("utf-8")
    component = json.loads(bill.read_text("utf-8"))["metadata"]["component"]
    assert component["modelCard"]["modelParameters"]["task"] == "tag"


@pytest.mark.parametrize(("form", "output"), [("triton", "models"), ("ort", "model.ort")])
def test_what_is_exported_is_said(every_feed: Path, tmp_path: Path, form: str, output: str) -> None:
    """The largest difference is printed, no network is used, and nothing else is written."""
    home = tmp_path / "home"
    command = [*RUN, "export", form, every_feed, "--output", output]
    printed = run_silently(home, *command, cwd=tmp_path)
    assert f"wrote {output}: every golden case, largest difference " in printed
    assert list(home.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "trace", output}


def test_a_signed_file_is_checked(every_feed: Path, tmp_path: Path) -> None:
    """The signature lies beside the file; a changed file fails by it before it is read."""
    pytest.importorskip("model_signing", reason="the extra sign is not installed")
    shutil.copyfile(every_feed, tmp_path / "model.onnx")
    write_keys(tmp_path)
    assert "wrote model.onnx.sig" in polybake(
        "sign", "model.onnx", "--private-key", "key.pem", cwd=tmp_path
    )
    check = ("check", "model.onnx", "--signature", "model.onnx.sig", "--public-key", "key.pub.pem")
    printed = polybake(*check, cwd=tmp_path)
    assert printed.startswith("signed: model.onnx, by the holder of key.pub.pem\nwhole: ")
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    printed = polybake(*check, cwd=tmp_path, code=1)
    assert printed == (
        "polybake: model.onnx: is not the file that model.onnx.sig signs; copy both again\n"
    )
