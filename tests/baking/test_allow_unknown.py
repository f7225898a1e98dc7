"""Keys that polybake does not know, and that the user takes responsibility for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polybake
from models.folders.tiny_folders import (
    CONFIG,
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.bake_config import bake_config
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.config import Config
from polybake.errors import InputError

MEAN = [{"step": "pool", "mode": "mean"}]


def bake(source: Path, out: Path, *keys: str) -> Manifest:
    polybake.bake(source, out, name="tiny", steps=MEAN, allow_unknown=keys)
    return read_head(out).manifest


def test_they_stand_in_the_manifest(tmp_path: Path) -> None:
    """The manifest lists allowed keys; without any it is as earlier versions wrote it."""
    folder = write_bert(tmp_path / "m", CONFIG | {"voice_id": 3})
    with pytest.raises(InputError, match=r"config\.json: unknown key voice_id = 3, which may"):
        bake(folder, tmp_path / "tiny.onnx")
    allowed = bake(folder, tmp_path / "tiny.onnx", "voice_id")
    assert allowed.source.allow_unknown == ("voice_id",)
    plain = bake(write_bert(tmp_path / "m"), tmp_path / "tiny.onnx")
    assert plain.source.allow_unknown == ()
    assert "allow_unknown" not in json.dumps(plain.model_dump(mode="json"))
    assert plain.fingerprint == allowed.fingerprint


def test_one_that_nothing_has_is_refused(tmp_path: Path) -> None:
    """An allowed key may be misspelled or left over from another model."""
    with pytest.raises(InputError, match=r"model\.allow_unknown: no file .* 'voice_id'; leave"):
        bake(write_bert(tmp_path / "m"), tmp_path / "tiny.onnx", "voice_id")
    assert not (tmp_path / "tiny.onnx").exists()


def test_keys_of_modules_are_allowed_alike(tmp_path: Path) -> None:
    """An unknown key may stand in any file of the folder, also in an exported encoder's."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", {"pooling_mode_foo": True}))
    write_json(folder / "config_sentence_transformers.json", {"rank": 2})
    keys = {"source": folder, "allow_unknown": ("pooling_mode_foo", "rank")}
    table = {"name": "tiny", "output": tmp_path / "tiny.onnx", **keys}
    bake_config(Config.model_validate({"model": table}))
    exported = write_encoder(tmp_path / "x")
    change_json(exported.parent / "tokenizer_config.json", voice_id=3)
    bake(exported, tmp_path / "exported.onnx", "voice_id")
