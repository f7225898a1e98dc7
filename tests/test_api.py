"""polybake as a package: what a program or a notebook calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polybake
from faulty.subject import SubjectFiles
from models.folders.tiny_folders import write_bert
from polybake.errors import InputError
from polybake.steps import Normalize


def test_bakes_and_embeds(tmp_path: Path) -> None:
    """Steps are tables or objects, and the vectors those of the model file."""
    write_bert(tmp_path / "Tiny-BERT")
    out = tmp_path / "out.onnx"
    report = polybake.bake(
        str(tmp_path / "Tiny-BERT"),
        out,
        steps=[{"step": "pool", "mode": "mean"}, Normalize()],
        prompts={"query": "the "},
    )
    assert (report.path, report.manifest.name) == (out, "tiny-bert")
    assert report.manifest.steps == ("pool(mode=mean)", "normalize()")
    embedder = polybake.Embedder(out)
    found = embedder.embed(["river", "water"], prompt="query")
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)
    assert embedder.self_check() < 1e-6


def test_a_key_is_checked_as_in_the_file(tmp_path: Path) -> None:
    """What polybake.toml says of a model, a program can say, too."""
    shown = r"model\.precison: unknown key; .* \(did you mean precision\?\)"
    with pytest.raises(InputError, match=shown):
        polybake.bake(tmp_path, tmp_path / "out.onnx", name="m", precison="int8")


def test_generates_and_verifies(subject: SubjectFiles, tmp_path: Path) -> None:
    """Clients are generated and judged even if ONNX Runtime is not installed."""
    subject.write_client(tmp_path / "clients/tiny")
    code = (
        "import sys; sys.modules['onnx'] = sys.modules['onnxruntime'] = None\n"
        "import polybake\n"
        f"polybake.generate({str(subject.model)!r}, 'clients', languages=['ruby'])\n"
        f"report = polybake.verify({str(subject.model)!r}, 'clients/tiny')\n"
        "assert (report.exit_code(), len(report.runs)) == (0, 1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert (tmp_path / "clients/ruby/harness.json").is_file()


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"name": "json"}, "'json' would shadow a module or keyword of a client"),
        ({"encoder": "keras"}, "model.encoder: Input should be 'native' or 'torch', found"),
        ({"steps": [{"step": "poool"}]}, r"steps\[0\].step: unknown step 'poool'"),
    ],
)
def test_wrong_arguments_are_one_line(
    tmp_path: Path, change: dict[str, object], shown: str
) -> None:
    """A wrong argument gives the same words as a wrong polybake.toml."""
    write_bert(tmp_path / "tiny")
    with pytest.raises(InputError, match=shown):
        polybake.bake(tmp_path / "tiny", tmp_path / "out.onnx", **change)  # type: ignore[arg-type]
    assert not (tmp_path / "out.onnx").exists()


def test_names_are_imported_when_they_are_used() -> None:
    """The package itself imports nothing heavy, and lists what it has; its modules need no import.

    A missing package names its extra.
    """
    code = (
        "import sys, polybake\n"
        "assert not {'numpy', 'onnx', 'onnxruntime', 'pydantic'} & set(sys.modules)\n"
        "assert {'bake', 'generate', 'verify', 'Embedder'} <= set(polybake.__all__)\n"
        "import polybake.cli.main\n"
        "assert not {'onnx', 'onnxruntime'} & set(sys.modules)\n"
        "sys.modules['onnxruntime'] = None\n"
        "try: polybake.Embedder\n"
        "except polybake.errors.RequirementMissing as error: print(error)\n"
        "del sys.modules['onnxruntime']\n"
        "polybake.steps.Normalize(), polybake.layers.Linear, polybake.testing"
    )
    found = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert found == (
        'this needs the package onnxruntime; in a checkout of polybake: pip install ".[bake,cpu]"\n'
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name raises AttributeError, as in any module."""
    with pytest.raises(AttributeError, match="module 'polybake' has no attribute 'nonsense'"):
        polybake.nonsense  # noqa: B018
