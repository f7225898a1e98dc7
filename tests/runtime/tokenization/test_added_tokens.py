"""Tokens that are added beside tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.folders.tiny_folders import VOCABULARY, change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer

BOAT, S = VOCABULARY.index("boat"), VOCABULARY.index("##s")
X = VOCABULARY.index("x")


def baked(folder: Path, **settings: object) -> BakedTokenizer:
    write_tokenizer(folder)
    change_json(folder / "tokenizer_config.json", **settings)
    return bake_tokenizer(ModelFolder.at(folder))


@pytest.mark.parametrize(
    "settings",
    [
        {"added_tokens_decoder": {"8": {"content": "boat"}}},
        {"additional_special_tokens": ["boat"]},
        {"extra_special_tokens": ["boat"], "additional_special_tokens": ["##s"]},
        {"extra_special_tokens": {"a": "boat"}},
        {"extra_special_tokens": [{"content": "boat", "lstrip": False}]},
        {"mask_token": "boat"},
        {"image_token": "boat"},
    ],
)
def test_a_word_becomes_a_token(settings: dict[str, object], tmp_path: Path) -> None:
    """An added token is found inside a word, and never split."""
    assert baked(tmp_path).encode(["xboats"]) != [[2, X, BOAT, VOCABULARY.index("s"), 3]]
    assert baked(tmp_path, **settings).encode(["xboats"]) == [
        [2, X, BOAT, VOCABULARY.index("s"), 3]
    ]


def test_added_tokens_json_adds_beside_no_decoder(tmp_path: Path) -> None:
    """The older file counts where tokenizer_config.json lists none."""
    write_json(tmp_path / "added_tokens.json", {"boat": BOAT})
    added = json.loads(baked(tmp_path).json)["added_tokens"]
    assert added[-1] == {
        "id": BOAT,
        "content": "boat",
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": True,
        "special": False,
    }
    assert len(json.loads(baked(tmp_path, added_tokens_decoder={}).json)["added_tokens"]) == 5


@pytest.mark.parametrize("key", ["additional_special_tokens", "extra_special_tokens"])
def test_refuses_a_token_without_an_id(key: str, tmp_path: Path) -> None:
    """The id of such a token would depend on what was added before it."""
    with pytest.raises(InputError, match=rf"{key} has the token '<q>', .*save the tokenizer again"):
        baked(tmp_path, **{key: ["<q>"]})


def test_keeps_what_is_whole(tmp_path: Path) -> None:
    """Tokens that tokenizer.json has stay as they are there."""
    before = json.loads(baked(tmp_path).json)
    mask = {"content": "[MASK]", "lstrip": True}
    assert json.loads(baked(tmp_path, mask_token=mask, add_bos_token=True).json) == before
