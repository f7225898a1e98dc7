"""The types of modules.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_json, write_router
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

GENERATIONS = (
    "sentence_transformers.models.{}",
    "sentence_transformers.base.modules.pooling.{}",
    "sentence_transformers.sentence_transformer.modules.{}",
)


def read(folder: Path, kind: str) -> list[Module]:
    write_json(folder / "modules.json", [{"type": kind, "path": "1_Pooling"}])
    return read_modules(ModelFolder.at(folder), {})


@pytest.mark.parametrize("generation", GENERATIONS)
def test_types_of_every_generation(generation: str, tmp_path: Path) -> None:
    """A module of the library is known by its last name."""
    assert read(tmp_path, generation.format("Pooling")) == [Module("Pooling", "1_Pooling")]


def test_code_that_is_known(tmp_path: Path) -> None:
    """Perplexity's quantizer lies beside its models; nothing of it is run."""
    found = read(tmp_path, "st_quantize.FlexibleQuantizer")
    assert found == [Module("FlexibleQuantizer", "1_Pooling")]


def test_code_of_a_known_encoder(tmp_path: Path) -> None:
    """Only before the weights that its code is known for; others name their modules alike."""
    inner = tmp_path / "1_Pooling"
    inner.mkdir()
    config = {"model_type": "xlm-roberta", "position_embedding_type": "rotary"}
    write_json(inner / "config.json", config)
    assert read(tmp_path, "custom_st.Transformer") == [Module("Transformer", "1_Pooling")]
    write_json(inner / "config.json", {"model_type": "xlm-roberta"})
    with pytest.raises(InputError, match=r"'custom_st\.Transformer' is none of"):
        read(tmp_path, "custom_st.Transformer")


@pytest.mark.parametrize(
    "kind",
    [
        "mine.FlexibleQuantizer",
        "st_quantize.Pooling",
        "custom_st.Transformer",
        "custom.Pooling",
        "Transformer",
        "mine.Router",
        "pylate.models.Dense",
    ],
)
def test_refuses_code_of_others(kind: str, tmp_path: Path) -> None:
    """A class of the same last name would run other code."""
    with pytest.raises(InputError, match=f"'{kind}' is none of sentence-transformers.*expected"):
        read(tmp_path, kind)


def test_refuses_code_of_others_in_a_route(tmp_path: Path) -> None:
    """The modules of a Router are read by the same rule."""
    write_router(tmp_path / "1_Pooling", {"query": ["one"]}, {"one": "custom.Pooling"})
    with pytest.raises(InputError, match=r"'custom\.Pooling' is none of sentence-transformers"):
        read(tmp_path, "sentence_transformers.models.Router")


def test_names_the_way_around(tmp_path: Path) -> None:
    """A module of the library that is not baked is named with what can be done."""
    with pytest.raises(InputError, match=r"'\S*CLAPModel'; known are: .*; put the encoder's .onnx"):
        read(tmp_path, "sentence_transformers.models.CLAPModel")
