"""config_sentence_transformers.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.model_settings import (
    ModelSettings,
    read_model_settings,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def read(folder: Path, settings: dict[str, object]) -> ModelSettings:
    write_json(folder / "config_sentence_transformers.json", settings)
    return read_model_settings(ModelFolder.at(folder))


def test_without_settings(tmp_path: Path) -> None:
    """No file, an empty one and one of nulls say the same."""
    names = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    plain = ModelSettings()
    assert read_model_settings(ModelFolder.at(tmp_path)) == plain
    assert read(tmp_path, {}) == read(tmp_path, dict.fromkeys(names)) == plain
    assert plain.recipe == ()


def test_every_setting(tmp_path: Path) -> None:
    """What is set is taken; what the library only notes is passed over."""
    settings: dict[str, Any] = {
        "prompts": {"query": "query 🌊: ", "document": ""},
        "default_prompt_name": "document",
        "similarity_fn_name": "euclidean",
        "truncate_dim": 5,
    }
    found = read(tmp_path, settings | {"__version__": {"sentence_transformers": "6.2.0"}})
    assert found.model_dump(include={*settings}) == settings
    assert found.recipe == ({"step": "truncate", "dimension": 5},)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("prompts", ["a"], r"prompts: Input should be an object, found \['a'\]"),
        ("prompts", {"query": 1}, r"prompts\.query: Input should be a valid string, found 1"),
        ("prompts", {"query": None}, r"prompts\.query: .*, found null"),
        ("prompts", {"query": "\ud800"}, "Invalid JSON: unexpected end of hex escape"),
        ("prompts", {"\udfff": "query"}, "Invalid JSON: lone leading surrogate"),
        ("prompts", {"\x1b[0m\n": 1}, r"prompts\.\\x1b\[0m\\n: "),
        ("default_prompt_name", "q", "prompt: none, as there are no prompts, found 'q'"),
        ("default_prompt_name", [1], r"default_prompt_name: Input .*, found \[1\]"),
        ("similarity_fn_name", "manhattan", "'cosine', 'dot' or 'euclidean', found 'manhattan'"),
        ("similarity_fn_name", ["dot"], r"similarity_fn_name: .*, found \['dot'\]"),
        ("truncate_dim", 0, "truncate_dim: Input should be greater than 0, found 0"),
        ("truncate_dim", True, "truncate_dim: Input should be a valid integer, found true"),
    ],
)
def test_names_what_is_wrong(key: str, value: object, shown: str, tmp_path: Path) -> None:
    """The message names the file, the setting, its value and what was expected, in one line."""
    with pytest.raises(
        InputError, match=rf"config_sentence_transformers\.json: .*{shown}"
    ) as found:
        read(tmp_path, {key: value})
    assert "; correct it there, or remove it and list prompts and steps" in str(found.value)
    assert str(found.value).isprintable()


def test_the_default_is_one_of_the_prompts(tmp_path: Path) -> None:
    """Another name is shown with those that there are."""
    with pytest.raises(InputError, match="name of a prompt: 'query', 'document', found 'q'"):
        read(tmp_path, {"prompts": {"query": "", "document": ""}, "default_prompt_name": "q"})


def test_sparse_encoders_keep_some_elements(tmp_path: Path) -> None:
    """They are compared by dot product, and may keep the largest elements alone."""
    found = read(tmp_path, {"model_type": "SparseEncoder", "max_active_dims": 7})
    assert found.recipe == ({"step": "keep_largest", "count": 7},)
    assert (found.similarity, ModelSettings().similarity) == ("dot", "cosine")
