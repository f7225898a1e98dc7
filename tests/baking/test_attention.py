"""``attention`` of polybake.toml, where only a decoder's own code says what tokens attend to."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import polybake
from models.folders.tiny_folders import VOCABULARY, write_bert, write_json, write_tokenizer
from models.formulas.decoder_numpy import DECODER, decoder_weights
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.same_settings import check_same_settings
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.config import Config
from polybake.errors import CheckFailed, InputError
from support.processes import commandline

CODE = {"auto_map": {"AutoModel": "modeling.OwnModel"}}
MEAN = [{"step": "pool", "mode": "mean"}]


def write(folder: Path, **keys: Any) -> Path:
    config = DECODER | {"model_type": "qwen3", "head_dim": 10} | keys
    return write_bert(folder, config, decoder_weights(10, norms=True))


def bake(folder: Path, out: Path, attention: str | None) -> Manifest:
    polybake.bake(folder, out, name="tiny", steps=MEAN, attention=attention)
    return read_head(out).manifest


def test_stands_for_the_key_of_config_json(tmp_path: Path) -> None:
    """The files are the same as of a folder that says it itself; the manifest names the setting."""
    own, said = write(tmp_path / "a" / "m", **CODE), write(tmp_path / "b" / "m", is_causal=False)
    both = bake(own, tmp_path / "both.onnx", "both")
    causal = bake(own, tmp_path / "causal.onnx", "causal")
    expected = bake(said, tmp_path / "said.onnx", None)
    assert both.fingerprint == expected.fingerprint != causal.fingerprint
    assert (both.source.attention, causal.source.attention) == ("both", "causal")
    assert "attention" not in json.dumps(expected.source.model_dump(mode="json"))


def test_another_setting_is_another_file(tmp_path: Path) -> None:
    """``polybake check`` sees that it was edited."""
    table = {"name": "tiny", "source": write(tmp_path / "m", **CODE), "output": tmp_path / "o.onnx"}
    manifest = bake(tmp_path / "m", tmp_path / "o.onnx", "both")
    for attention, same in (("both", True), ("causal", False)):
        read = {"model": table | {"attention": attention}, "steps": tuple(MEAN)}
        config = Config.model_validate(read)
        if same:
            check_same_settings(config, manifest)
        else:
            with pytest.raises(CheckFailed, match=r"with attention 'both', and polybake.toml says"):
                check_same_settings(config, manifest)


def test_is_refused_where_no_decoder_reads_it(tmp_path: Path) -> None:
    """An encoder attends to both sides, whatever is said."""
    leave = r"leave out attention"
    with pytest.raises(InputError, match=rf"config\.json: is no decoder .*{leave} = \"both\""):
        open_source(write_bert(tmp_path / "bert"), attention="both")
    with pytest.raises(InputError, match=rf"has no decoder whose attention could be .*{leave}"):
        open_source(write_encoder(tmp_path / "x"), attention="both")
    with pytest.raises(InputError, match=rf"PyTorch runs the model's class as it is; {leave}"):
        open_source(write(tmp_path / "m"), "torch", attention="both")
    static = tmp_path / "static"
    static.mkdir()
    write_tokenizer(static)
    write_json(static / "config.json", {"model_type": "model2vec", "normalize": True})
    table = np.ones((len(VOCABULARY), 3), np.float32)
    save_file({"embeddings": table}, static / "model.safetensors")
    open_source(static)
    with pytest.raises(InputError, match=rf"static: has no decoder whose .*{leave}"):
        open_source(static, attention="both")


def test_is_refused_where_config_json_says_otherwise(tmp_path: Path) -> None:
    """The message names the file and the key."""
    folder = write(tmp_path / "m", is_causal=False)
    with pytest.raises(InputError, match=r"m/config\.json: is_causal contradicts attention = \"ca"):
        open_source(folder, attention="causal")


@pytest.mark.slow
def test_init_and_bake_take_it(tmp_path: Path) -> None:
    """``init`` writes what it was given."""
    write(tmp_path / "m", **CODE)
    refused = commandline.polybake("init", "m", cwd=tmp_path, code=2)
    assert 'attention = "both"' in refused
    commandline.polybake("init", "m", "--attention", "both", cwd=tmp_path)
    settings = tomllib.loads((tmp_path / "polybake.toml").read_text("utf-8"))
    assert settings["model"]["attention"] == "both"
    commandline.polybake("bake", cwd=tmp_path)
    commandline.polybake("bake", "--attention", "causal", cwd=tmp_path)
    assert read_head(tmp_path / "build" / "m.onnx").manifest.source.attention == "causal"
