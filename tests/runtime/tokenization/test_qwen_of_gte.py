"""The tokenizer of gte-Qwen2, whose own code puts a token behind each text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import bake_tokenizer

CODE = ["tokenization_qwen.Qwen2Tokenizer", "tokenization_qwen.Qwen2TokenizerFast"]
#: A token of tokenizer.json that tokenizer.json itself puts nowhere.
END = "[MASK]"


def ids(folder: Path, code: list[str], **settings: Any) -> list[list[int]]:
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", post_processor=None)
    write_json(folder / "config.json", {"max_position_embeddings": 5, "model_type": "own"})
    given = {"tokenizer_class": "Qwen2Tokenizer", "eos_token": END, "add_eos_token": True}
    given |= {"auto_map": {"AutoTokenizer": code}} | settings
    change_json(folder / "tokenizer_config.json", **given)
    return bake_tokenizer(ModelFolder.at(folder)).encode(["the river", "", "a a a a a a a"])


@pytest.mark.parametrize("repository", ["", "Alibaba-NLP/gte-Qwen2-1.5B-instruct--"])
def test_a_text_ends_in_the_token(repository: str, tmp_path: Path) -> None:
    """A text that is too long, too; 5, 7 and 16 are the river and a, 4 is the token."""
    found = ids(tmp_path, [f"{repository}{name}" for name in CODE])
    assert found == [[5, 7, 4], [4], [16, 16, 16, 16, 4]]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"add_eos_token": None}, "add_eos_token = null, expected true, as the code in auto_map"),
        ({"add_eos_token": False}, "add_eos_token = false, expected true, as the code"),
        ({"eos_token": "<end>"}, "eos_token = '<end>', expected a token that tokenizer.json adds"),
        ({"eos_token": None}, "eos_token = null, expected a token that tokenizer.json adds"),
    ],
)
def test_it_is_told_which_token(settings: dict[str, Any], shown: str, tmp_path: Path) -> None:
    """Versions of the code differ in what they do otherwise."""
    with pytest.raises(InputError) as caught:
        ids(tmp_path, CODE, **settings)
    assert f"tokenizer_config.json: {shown}" in str(caught.value)
    assert "correct it, or leave auto_map out to end texts as tokenizer.json" in str(caught.value)


def test_other_code_is_refused(tmp_path: Path) -> None:
    """By the names of both classes."""
    with pytest.raises(InputError, match=r"unknown key auto_map\.AutoTokenizer = "):
        ids(tmp_path, ["tokenization_qwen.Qwen2Tokenizer", "tokenization.Other"])
