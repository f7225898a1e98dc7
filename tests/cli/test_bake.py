"""The output of ``polybake bake``."""

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_sentence_transformers
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Deviation
from polybake.cli.bake import _lowered
from support.processes.commandline import polybake

pytestmark = pytest.mark.slow

MEAN = ("Pooling", {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True})


def test_what_was_given_up_is_said(tmp_path: Path) -> None:
    """A narrow file's cosines to the exact vectors are printed; an exact file has none."""
    folder = write_sentence_transformers(tmp_path / "tiny-bert", MEAN)
    assert "cosine" not in polybake("bake", folder, "--output", "exact.onnx", cwd=tmp_path)
    options = ("--storage", "float16", "--output", "half.onnx")
    printed = polybake("bake", folder, *options, cwd=tmp_path)
    manifest = read_head(tmp_path / "half.onnx").manifest
    assert manifest.deviation is not None
    mean = f"{manifest.deviation.mean_cosine:.5f}"
    assert f"float16 weights: cosine to the exact vectors {mean} in the mean" in printed
    assert "before you use it" not in printed
    lowered = manifest.model_copy(update={"storage": "float16-table"})
    assert _lowered(lowered, manifest.deviation).startswith("float16 token table: cosine to")
    options = ("--precision", "float16", "--output", "narrow.onnx")
    assert "float16: cosine to the exact vectors 1.00000" in polybake(
        "bake", folder, *options, cwd=tmp_path
    )


def test_a_model_that_suffers_says_so(tmp_path: Path) -> None:
    folder = write_sentence_transformers(tmp_path / "tiny-bert", MEAN)
    polybake("bake", folder, "--output", "exact.onnx", cwd=tmp_path)
    manifest = read_head(tmp_path / "exact.onnx").manifest
    lowered = manifest.model_copy(update={"precision": "int8"})
    deviation = Deviation(max_abs=0.1, mean_cosine=0.9949, min_cosine=0.8)
    said = _lowered(lowered, deviation)
    assert said.startswith("int8: cosine to the exact vectors 0.99490 in the mean, 0.8000 at least")
    assert "below 0.995: compare with float32 on texts of your own" in said
