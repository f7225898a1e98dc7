"""What is refused before PyTorch is asked to export anything, and how it is asked."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_bert, write_json
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.sources import open_source
from polybake.cli.init import init
from polybake.cli.inspect import source_facts
from polybake.config import EncoderMaker
from polybake.errors import InputError, RequirementMissing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of an architecture that is not among our own."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", model_type="ernie")
    return folder


def test_an_unknown_architecture_names_the_remedy(folder: Path) -> None:
    """Exporting by PyTorch is never chosen silently."""
    with pytest.raises(InputError, match=r"'ernie'.*--encoder torch \(in polybake.toml: encoder ="):
        open_source(folder)


def test_opens_without_pytorch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded before the bake, which names the extra where PyTorch is missing."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "polybake.baking.sources.torch.model", raising=False)
    source = open_source(folder, "torch")
    assert source_facts(source)["encoder"] == "torch:ernie"
    with pytest.raises(
        RequirementMissing,
        match=r'package torch; in a checkout of polybake: pip install "\.\[torch\]"',
    ):
        source.encoder.place()


def test_init_writes_who_makes_the_encoder(folder: Path, tmp_path: Path) -> None:
    """The key stands in polybake.toml, and only where it is not the default."""
    init(folder, output=tmp_path / "a.toml", name="tiny", encoder="torch")
    assert tomllib.loads((tmp_path / "a.toml").read_text())["model"]["encoder"] == "torch"
    init(write_bert(tmp_path / "bert"), output=tmp_path / "b.toml", name="tiny")
    assert "encoder" not in tomllib.loads((tmp_path / "b.toml").read_text())["model"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("auto_map", {"AutoModel": "modeling_own.OwnModel"}),
        ("quantization_config", {"quant_method": "bitsandbytes"}),
    ],
)
def test_refuses_code_and_quantized_weights(key: str, value: object, folder: Path) -> None:
    """A model that brings its own code is named, and its code is not looked at."""
    change_json(folder / "config.json", **{key: value})
    (folder / "modeling_own.py").write_text("raise SystemExit('ran')")
    with pytest.raises(InputError, match=rf"config.json: {key}: .*; no code of a model is run"):
        open_source(folder, "torch")


def test_refuses_pickles(folder: Path) -> None:
    """A folder with pickled weights alone is refused by the file's name."""
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no model.safetensors \(pytorch_model.bin is a pickle"):
        open_source(folder, "torch")


@pytest.mark.parametrize("encoder", ["native", "torch"])
def test_an_index_lists_safetensors_only(encoder: EncoderMaker, tmp_path: Path) -> None:
    """A pickle does not come in as a shard, and no list of nothing stands for all weights."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-1.bin")
    index = folder / "model.safetensors.index.json"
    for named, shown in (
        ({"a": "model-1.bin"}, r"weight_map\.a: .* pattern .*, found 'model-1\.bin'"),
        ({"a": "model-1.safetensors"}, "has no model-1.safetensors; download the whole model"),
        ({}, "weight_map: Dictionary should have at least 1 item"),
    ):
        write_json(index, {"weight_map": named})
        with pytest.raises(InputError, match=shown):
            open_source(folder, encoder)


def test_refuses_links_that_lead_out(folder: Path, tmp_path: Path) -> None:
    """PyTorch gets to see no file from outside the model's folder."""
    (folder / "model.safetensors").rename(tmp_path / "elsewhere.safetensors")
    (folder / "model.safetensors").symlink_to(tmp_path / "elsewhere.safetensors")
    with pytest.raises(InputError, match="outside the model's folder"):
        open_source(folder, "torch")


def test_an_onnx_file_is_exported_already(tmp_path: Path) -> None:
    """The choice is for model folders."""
    with pytest.raises(InputError, match=r"is exported already; leave out encoder 'torch'"):
        open_source(write_encoder(tmp_path / "file"), "torch")
