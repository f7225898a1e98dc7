"""The modules after the encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.recorded_keys import recorded_keys
from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


@pytest.mark.parametrize("kind", ["Pooling", "Dense"])
def test_needs_the_configuration(kind: str, tmp_path: Path) -> None:
    """An incomplete folder is named; its module's defaults would be other settings."""
    with pytest.raises(InputError, match=r"1_Module: has no config\.json; download the whole"):
        module_recipe(ModelFolder.at(tmp_path), [Module(kind, "1_Module")], pooled=True)


@pytest.mark.parametrize("kind", ["Normalize", "Dropout", "LayerNorm"])
def test_modules_saved_without_a_configuration(kind: str, tmp_path: Path) -> None:
    """Nothing of theirs stands in it that is computed."""
    assert module_recipe(ModelFolder.at(tmp_path), [Module(kind, "1_Module")], pooled=True)


def test_perplexitys_quantizer(tmp_path: Path) -> None:
    """It gives int8 unless a call asks otherwise."""
    (step,) = module_recipe(ModelFolder.at(tmp_path), [Module("FlexibleQuantizer", "2_F")])
    assert step == {"step": "quantize", "precision": "int8", "function": "tanh"}


def test_refuses_other_poolings(tmp_path: Path) -> None:
    """A key that no version of Pooling has is refused by its name."""
    (tmp_path / "1_Pooling").mkdir()
    config = {"word_embedding_dimension": 12, "pooling_mode_foo": True}
    write_json(tmp_path / "1_Pooling" / "config.json", config)
    with pytest.raises(
        InputError, match=r"config\.json: unknown key pooling_mode_foo = true, .*; put the"
    ):
        module_recipe(ModelFolder.at(tmp_path), [Module("Pooling", "1_Pooling")])


@pytest.mark.parametrize("kind", FOLLOWING)
def test_refuses_keys_that_are_not_known(kind: str, tmp_path: Path) -> None:
    """In the configuration of every module."""
    (tmp_path / "1_Module").mkdir()
    needed = {"hidden_dim": 3, "vocab": ["a"]}
    keys = {key: needed[key] for key in needed.keys() & FOLLOWING[kind].saved.model_fields.keys()}
    write_json(tmp_path / "1_Module" / FOLLOWING[kind].file, keys | {"scale": 2, "shift": 3})
    with pytest.raises(InputError, match=r"json: unknown keys scale = 2, shift = 3, which may"):
        FOLLOWING[kind].parameters(ModelFolder.at(tmp_path / "1_Module"))


@pytest.mark.parametrize("kind", sorted(FOLLOWING.keys() - {"FlexibleQuantizer"}))
def test_every_key_of_a_module_is_known(kind: str) -> None:
    """A module that sentence-transformers saves is refused for no key that its class has."""
    saved, (recorded,) = FOLLOWING[kind].saved, recorded_keys("sentence-transformers ")
    unknown = {*recorded["modules"][kind]} - saved.model_fields.keys()
    assert all(saved.passes_over(key, "x") for key in unknown), unknown
