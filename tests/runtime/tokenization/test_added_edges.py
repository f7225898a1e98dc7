"""Tokens that tokenizer_config.json wants around a text, beside tokenizer.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import bake_tokenizer

#: A class that keeps tokenizer.json, whose post-processor puts [CLS] and [SEP] around a text.
KEPT = {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "[CLS]", "eos_token": "[SEP]"}


def bake(folder: Path, *, post_processor: bool, **settings: object) -> None:
    write_tokenizer(folder)
    write_json(folder / "config.json", {"max_position_embeddings": 20})
    change_json(folder / "tokenizer_config.json", **KEPT | settings)
    if not post_processor:
        change_json(folder / "tokenizer.json", post_processor=None)
    bake_tokenizer(ModelFolder.at(folder))


@pytest.mark.parametrize("key", ["add_bos_token", "add_eos_token"])
def test_a_token_that_tokenizer_json_does_not_add_is_refused(key: str, tmp_path: Path) -> None:
    """Models were trained with the token, as transformers 4 adds it; both remedies are named."""
    with pytest.raises(InputError) as caught:
        bake(tmp_path, post_processor=False, **{key: True})
    assert f"tokenizer_config.json: {key} = true, expected false, as tokenizer.json adds no '[" in (
        str(caught.value)
    )
    assert f"with transformers 4, whose tokenizer.json then does so, or set {key} to false" in (
        str(caught.value)
    )


@pytest.mark.parametrize("key", ["add_bos_token", "add_eos_token"])
def test_another_token_in_its_place_is_refused(key: str, tmp_path: Path) -> None:
    """The token at the edge must be the one that the settings name."""
    with pytest.raises(InputError, match=rf"{key} = true, expected false, .* adds no '\[MASK\]'"):
        bake(tmp_path, post_processor=True, **{key: True, key.removeprefix("add_"): "[MASK]"})


def test_tokens_that_tokenizer_json_adds_are_right(tmp_path: Path) -> None:
    """Both flags may be true if tokenizer.json adds both tokens."""
    bake(tmp_path, post_processor=True, add_bos_token=True, add_eos_token=True)


def test_a_flag_that_asks_for_nothing_is_right(tmp_path: Path) -> None:
    """A flag is harmless if it is false, or if its token has no name."""
    bake(tmp_path, post_processor=False, add_bos_token=False, add_eos_token=None)
    bake(tmp_path, post_processor=False, add_eos_token=True, eos_token=None)
