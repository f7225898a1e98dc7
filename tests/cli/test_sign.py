"""polybake sign, and check --signature: from the command line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes.commandline import polybake
from support.samples.keys import write_keys

pytestmark = pytest.mark.slow


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


def test_only_model_files_are_signed(tmp_path: Path) -> None:
    """Damaged model files and other files get no signature."""
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    printed = polybake("sign", "model.onnx", "--private-key", "key.pem", cwd=tmp_path, code=2)
    assert "model.onnx: has no polybake.manifest" in printed


@pytest.mark.parametrize("missing", ["model_signing", "OpenSSL"])
def test_a_missing_package_is_named(every_feed: Path, tmp_path: Path, missing: str) -> None:
    """If a package is missing, sign and check say what to install and end with 3."""
    (tmp_path / "key.pem").write_text("a key")
    key = ["--signature", "key.pem", "--public-key", "key.pem"]
    for command in (
        ["sign", str(every_feed), "--private-key", "key.pem"],
        ["check", str(every_feed), *key],
    ):
        code = (
            f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['polybake', *{command!r}];"
            "import polybake.cli.main; polybake.cli.main.main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 3
        assert 'pip install ".[sign]"' in done.stderr
