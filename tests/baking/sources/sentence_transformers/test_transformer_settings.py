"""sentence_bert_config.json, as every version wrote it and as no version bakes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.transformer import read_transformer_settings
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    MessageSettings,
    TransformerSettings,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

FILE = "sentence_bert_config.json"
TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}


def read(folder: Path, settings: dict[str, Any]) -> TransformerSettings:
    write_json(folder / FILE, settings)
    return read_transformer_settings(ModelFolder.at(folder), TransformerSettings)


@pytest.mark.parametrize(
    ("settings", "limit", "lowercase"),
    [
        ({}, None, False),
        ({"max_seq_length": 20, "do_lower_case": False}, 20, False),
        ({"max_seq_length": None, "do_lower_case": True}, None, True),
        ({"max_seq_length": 8192, "model_args": {"trust_remote_code": True}}, 8192, False),
        (
            {
                "transformer_task": "feature-extraction",
                "modality_config": {"text": TEXT},
                "module_output_name": "token_embeddings",
            },
            None,
            False,
        ),
    ],
)
def test_as_every_version_saved_it(
    settings: dict[str, Any], limit: int | None, lowercase: bool, tmp_path: Path
) -> None:
    """Versions before 6 wrote a limit and the case, version 6 how texts reach the model."""
    found = read(tmp_path, settings)
    assert (found.max_seq_length, found.do_lower_case is True) == (limit, lowercase)


def test_settings_of_other_inputs(tmp_path: Path) -> None:
    """What no text meets changes nothing, and neither does what only says how to compute."""
    image = {"method": "get_image_features", "method_output_name": "pooler_output"}
    chat = {"chat_template": {"add_generation_prompt": True}}
    settings = {
        "modality_config": {"text": TEXT, "image": image, "image+text": TEXT},
        "processing_kwargs": {"image": {"size": 4}, "text": {"padding": True}, **chat},
        "model_kwargs": {"attn_implementation": "sdpa", "dtype": "bfloat16"},
        "config_kwargs": {},
        "unpad_inputs": True,
        "query_expansion": None,
    }
    found = read(tmp_path, settings)
    assert (found.max_seq_length, found.do_lower_case) == (None, None)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        *(("max_seq_length", value, "max_seq_length") for value in (20.0, "20", True, 0, -1)),
        ("do_lower_case", "false", "do_lower_case: Input should be a valid boolean, found 'fa"),
        ("transformer_task", "fill-mask", "Input should be 'feature-extraction', found 'fill-"),
        ("module_output_name", "sentence_embedding", "module_output_name"),
        ("modality_config", {}, r"modality_config\.text: is missing"),
        ("modality_config", None, "modality_config: .*, found null"),
        (
            "modality_config",
            {"text": TEXT | {"method_output_name": "pooler_output"}},
            r"modality_config\.text\.method_output_name: .* 'last_hidden_state', found 'pooler",
        ),
        ("modality_config", {"text": TEXT, "message": TEXT}, r"modality_config\.message"),
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
def test_refuses_what_is_not_baked(key: str, value: object, shown: str, tmp_path: Path) -> None:
    """A setting that changes the embeddings, and one that is unknown, is named with its value."""
    with pytest.raises(InputError, match=rf"sentence_bert_config\.json: {key}") as raised:
        read(tmp_path, {key: value})
    assert raised.match(shown)
    assert "; put the encoder's .onnx file" in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"query_length": 8}, "query_length: .* found 8"),
        ({"document_length": 8}, "document_length: .* found 8"),
        ({"modality_config": {"text": TEXT, "message": TEXT, "image": TEXT}}, "image: is not kn"),
        ({"processing_kwargs": {"chat_template": {"truncation": False}}}, "truncation changes how"),
        ({"processing_kwargs": {"chat_template": {"restore_suffix": False}}}, "restore_suffix"),
    ],
)
def test_refuses_what_is_not_baked_of_messages(
    changes: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """Limits of queries, templates of images, and what cuts a text otherwise."""
    write_json(tmp_path / FILE, {"modality_config": {"text": TEXT, "message": TEXT}} | changes)
    with pytest.raises(InputError, match=shown):
        read_transformer_settings(ModelFolder.at(tmp_path), MessageSettings)


def test_variables_of_the_template(tmp_path: Path) -> None:
    """Without a flag that is the library's own."""
    given = {"restore_suffix": True, "add_generation_prompt": True}
    write_json(tmp_path / FILE, {"processing_kwargs": {"chat_template": given}})
    found = read_transformer_settings(ModelFolder.at(tmp_path), MessageSettings)
    assert found.variables == {"add_generation_prompt": True}


def test_refuses_keys_that_are_not_known(tmp_path: Path) -> None:
    """All of them at once, with their values."""
    with pytest.raises(InputError, match=r"config\.json: unknown keys prefix = \"a\", scale = 2, "):
        read(tmp_path, {"prefix": "a", "scale": 2, "suffix": None})
