"""config_sentence_transformers.json and sentence_bert_config.json, as every version wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.model_settings import (
    ModelSettings,
    read_model_settings,
)
from polybake.baking.sources.sentence_transformers.transformer import (
    read_transformer_settings,
    takes_messages,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    MessageSettings,
    TransformerSettings,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}


def of_model(folder: Path, settings: dict[str, Any]) -> ModelSettings:
    """What config_sentence_transformers.json says."""
    write_json(folder / "config_sentence_transformers.json", settings)
    return read_model_settings(ModelFolder.at(folder))


def of_transformer(folder: Path, settings: dict[str, Any]) -> TransformerSettings:
    """What sentence_bert_config.json says."""
    write_json(folder / "sentence_bert_config.json", settings)
    return read_transformer_settings(ModelFolder.at(folder), TransformerSettings)


def of_messages(folder: Path, settings: dict[str, Any]) -> MessageSettings:
    """The same of a model whose texts are messages."""
    modalities = {"modality_config": {"text": TEXT, "message": TEXT}}
    write_json(folder / "sentence_bert_config.json", modalities | settings)
    return read_transformer_settings(ModelFolder.at(folder), MessageSettings)


def test_without_settings(tmp_path: Path) -> None:
    """No file, an empty one and one of nulls say the same."""
    names = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    plain = ModelSettings()
    assert read_model_settings(ModelFolder.at(tmp_path)) == plain
    assert of_model(tmp_path, {}) == of_model(tmp_path, dict.fromkeys(names)) == plain
    assert (plain.recipe, plain.similarity) == ((), "cosine")


def test_sparse_encoders_keep_some_elements(tmp_path: Path) -> None:
    """They are compared by dot product, and may keep the largest elements alone."""
    found = of_model(tmp_path, {"model_type": "SparseEncoder", "max_active_dims": 7})
    assert (found.recipe, found.similarity) == (({"step": "keep_largest", "count": 7},), "dot")


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
def test_a_model_s_setting_is_named(key: str, value: object, shown: str, tmp_path: Path) -> None:
    """The file, the setting, its value and what was expected, in one line."""
    with pytest.raises(InputError, match=f"config_sentence_transformers.json: .*{shown}") as found:
        of_model(tmp_path, {key: value})
    assert str(found.value).isprintable()


@pytest.mark.parametrize(
    ("settings", "limit", "lowercase"),
    [
        ({}, None, None),
        ({"max_seq_length": 20, "do_lower_case": False}, 20, False),
        ({"max_seq_length": None, "do_lower_case": True}, None, True),
        ({"max_seq_length": 8192, "model_args": {"trust_remote_code": True}}, 8192, None),
    ],
)
def test_as_every_version_saved_it(
    settings: dict[str, Any], limit: int | None, lowercase: bool | None, tmp_path: Path
) -> None:
    """A limit and the case, or none; tests/oracle/test_transformer_settings.py has the others."""
    found = of_transformer(tmp_path, settings)
    assert (found.max_seq_length, found.do_lower_case) == (limit, lowercase)


POOLER = {"text": TEXT | {"method_output_name": "pooler_output"}}
MESSAGE = {"text": TEXT, "message": TEXT}


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        *(("max_seq_length", value, "max_seq_length") for value in (20.0, "20", True, 0, -1)),
        ("do_lower_case", "false", "do_lower_case: Input should be a valid boolean, found 'fa"),
        ("transformer_task", "fill-mask", "Input should be 'feature-extraction', found 'fill-"),
        ("module_output_name", "sentence_embedding", "module_output_name"),
        ("modality_config", {}, r"modality_config\.text: is missing"),
        ("modality_config", None, "modality_config: .*, found null"),
        ("modality_config", POOLER, r"method_output_name: .* 'last_hidden_state', found 'pooler"),
        ("modality_config", MESSAGE, r"modality_config\.message"),
        ("processing_kwargs", {"text": {"max_length": 9}}, r"processing_kwargs\.text\.max_length"),
        ("processing_kwargs", {"text": {"padding": False}}, "should be true or 'longest', found f"),
        ("processing_kwargs", {"common": {"padding": False}}, r"common\.padding: .* found false"),
        ("processor_kwargs", {"truncation_side": "left"}, r"processor_kwargs\.truncation_side"),
        ("tokenizer_args", {"model_max_length": 9}, r"tokenizer_args\.model_max_length: .* 9"),
        ("config_args", {"num_hidden_layers": 1}, r"config_args\.num_hidden_layers: .* found 1"),
        ("config_kwargs", {"hidden_act": "relu"}, r"config_kwargs\.hidden_act"),
        ("model_args", {"attn_implementation": "my/kernel"}, r"attn_implementation.*sdpa"),
        ("model_kwargs", None, "model_kwargs: .* found null"),
        ("query_length", 0, "query_length: .* greater than 0, found 0"),
        ("document_length", "8", "document_length: .* found '8'"),
        ("query_expansion", {}, r"query_expansion: .* found \{\}"),
        ("tokenizer_name_or_path", "other", "tokenizer_name_or_path"),
    ],
)
def test_a_transformer_s_setting_is_named(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """One that changes the embeddings, and one that is unknown, with its value."""
    with pytest.raises(InputError, match=f"bert_config.json: {key}.*; put the enc") as raised:
        of_transformer(tmp_path, {key: value})
    assert raised.match(shown)


def test_the_first_file_that_says_something(tmp_path: Path) -> None:
    """An empty file is passed over, and the file at fault is named."""
    write_json(tmp_path / "sentence_roberta_config.json", {"query_length": 0})
    with pytest.raises(InputError, match=r"sentence_roberta_config\.json: query_length: .* 0"):
        of_transformer(tmp_path, {})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"modality_config": None}, False),
        ({"modality_config": {"text": {}, "message": None}}, False),
        ({"modality_config": {"message": {}}}, True),
    ],
)
def test_whether_texts_are_messages(
    settings: dict[str, object], expected: bool, tmp_path: Path
) -> None:
    """It is said, not found in the template."""
    write_json(tmp_path / "sentence_bert_config.json", settings)
    assert takes_messages(ModelFolder.at(tmp_path)) == expected


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"query_length": 8}, "query_length: .* found 8"),
        ({"document_length": 8}, "document_length: .* found 8"),
        ({"modality_config": MESSAGE | {"image": TEXT}}, "image: is not kn"),
        ({"processing_kwargs": {"chat_template": {"truncation": False}}}, "truncation changes how"),
    ],
)
def test_settings_that_messages_do_not_have(
    changes: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """Limits of queries, templates of images, and what cuts a text otherwise."""
    with pytest.raises(InputError, match=shown):
        of_messages(tmp_path, changes)


def test_variables_of_the_template(tmp_path: Path) -> None:
    """Without a flag that is the library's own."""
    given = {"restore_suffix": True, "add_generation_prompt": True}
    found = of_messages(tmp_path, {"processing_kwargs": {"chat_template": given}})
    assert found.variables == {"add_generation_prompt": True}
