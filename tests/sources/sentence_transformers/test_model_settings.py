"""config_sentence_transformers.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.tiny_folders import write_json
from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.sources.sentence_transformers.model_settings import ModelSettings, read_model_settings


def read(folder: Path, settings: dict[str, object]) -> ModelSettings:
    write_json(folder / "config_sentence_transformers.json", settings)
    return read_model_settings(ModelFolder.at(folder))


def test_without_settings(tmp_path: Path) -> None:
    """No file, an empty one and one of nulls say the same."""
    plain = ModelSettings({}, None, "cosine", ())
    assert read_model_settings(ModelFolder.at(tmp_path)) == plain
    assert read(tmp_path, {}) == plain
    names = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    assert read(tmp_path, dict.fromkeys(names)) == plain


def test_every_setting(tmp_path: Path) -> None:
    """What is set is taken; what the library only notes is passed over."""
    prompts = {"query": "query 🌊: ", "document": ""}
    settings: dict[str, object] = {
        "__version__": {"sentence_transformers": "6.2.0"},
        "prompts": prompts,
        "default_prompt_name": "document",
        "similarity_fn_name": "euclidean",
        "truncate_dim": 5,
    }
    cut = ({"step": "truncate", "dimension": 5},)
    assert read(tmp_path, settings) == ModelSettings(prompts, "document", "euclidean", cut)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("prompts", ["a"], r'prompts = \["a"\], expected texts by name'),
        ("prompts", {"query": 1}, 'prompts."query" = 1, expected a text'),
        ("prompts", {"query": None}, 'prompts."query" = null, expected a text'),
        ("prompts", {"query": "\ud800"}, r'prompts."query" = "\\ud800", expected a text'),
        ("prompts", {"\udfff": "query"}, r'prompts."\\udfff" = "query", expected a text'),
        ("default_prompt_name", "q", '"q", expected .*: none, as there are no prompts'),
        ("default_prompt_name", [1], r"default_prompt_name = \[1\], expected null or the name"),
        ("default_prompt_name", {}, r"default_prompt_name = \{\}"),
        ("similarity_fn_name", "manhattan", '"manhattan", expected "cosine" or "dot" or "eucl'),
        ("similarity_fn_name", "hamming", 'similarity_fn_name = "hamming"'),
        ("similarity_fn_name", ["dot"], r'similarity_fn_name = \["dot"\]'),
        ("truncate_dim", 0, "truncate_dim = 0, expected null or a whole number of 1 or more"),
        ("truncate_dim", True, "truncate_dim = true"),
    ],
)
def test_names_what_is_wrong(key: str, value: object, shown: str, tmp_path: Path) -> None:
    """The message names the file, the setting, its value and what was expected, in one line."""
    with pytest.raises(
        InputError, match=rf"config_sentence_transformers\.json: .*{shown}"
    ) as found:
        read(tmp_path, {key: value})
    assert ("polybake.toml" in str(found.value)) is ("prompt" in key)
    assert "; correct it there" in str(found.value)
    assert str(found.value).isprintable()
