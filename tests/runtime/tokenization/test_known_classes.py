"""The class of transformers' tokenizers that a folder gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_json
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.known_classes import (
    CLASSES,
    gave_types,
    gives_types,
    rebuilt_class,
)
from polybake.runtime.tokenization.model_config import ModelConfig
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig


@pytest.mark.parametrize(
    ("declared", "model", "expected"),
    [
        ("BertTokenizerFast", {}, "BertTokenizer"),
        ("BertTokenizer", {"model_type": "new"}, "BertTokenizer"),
        (None, {"model_type": "nomic_bert"}, "BertTokenizer"),
        (None, {"model_type": "bert", "tokenizer_class": "PreTrainedTokenizerFast"}, None),
        ("FooTokenizer", {"model_type": "bert"}, None),
        ("TokenizersBackend", {"model_type": "bert"}, None),
        ("XLMRobertaTokenizer", {"model_type": "bert"}, "XLMRobertaTokenizer"),
        ("BertTokenizer", {"model_type": "modernbert"}, None),
        ("PreTrainedTokenizerFast", {"model_type": "qwen2"}, "Qwen2Tokenizer"),
        ("PreTrainedTokenizerFast", {"model_type": "qwen3"}, None),
        (None, {}, None),
    ],
)
def test_class_is_the_library_s(
    declared: str | None, model: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    """The declared class, else the model's; an unknown one keeps tokenizer.json."""
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": declared})
    config = TokenizerConfig.of(ModelFolder.at(tmp_path))
    assert rebuilt_class(config, ModelConfig(**model)) is CLASSES.get(expected or "")


@pytest.mark.parametrize(
    ("declared", "model", "typed"),
    [
        (None, "bert", True),
        (None, "roberta", False),
        ("BertTokenizerFast", "roberta", True),
        ("DebertaV2Tokenizer", "bert", True),
        ("RobertaTokenizer", "bert", False),
        ("DistilBertTokenizer", "bert", False),
        ("AlbertTokenizerFast", "albert", False),
        ("TokenizersBackend", "bert", False),
    ],
)
@pytest.mark.parametrize("place", ["tokenizer_config.json", "config.json"])
def test_the_class_says_whether_pairs_have_types(
    declared: str | None, model: str, typed: bool, place: str, tmp_path: Path
) -> None:
    """A known class decides, and ``model_input_names`` before it."""
    settings: dict[str, dict[str, object]] = {"tokenizer_config.json": {}, "config.json": {}}
    settings[place]["tokenizer_class"] = declared
    settings["config.json"]["model_type"] = model
    for name, content in settings.items():
        write_json(tmp_path / name, content)
    folder = ModelFolder.at(tmp_path)
    assert gives_types(folder) is typed
    assert gave_types(folder) is (model == "albert")
    names = ["input_ids", "attention_mask", *([] if typed else ["token_type_ids"])]
    settings["tokenizer_config.json"]["model_input_names"] = names
    write_json(tmp_path / "tokenizer_config.json", settings["tokenizer_config.json"])
    assert gives_types(folder) is not typed
    assert not gave_types(folder)


@pytest.mark.parametrize("declared", ["PreTrainedTokenizerFast", "FooTokenizer", None])
def test_the_key_is_asked_for(declared: str | None, tmp_path: Path) -> None:
    """Transformers 4 and 5 differ, or the class is not known."""
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": declared})
    write_json(tmp_path / "config.json", {"model_type": "foo" if declared is None else "bert"})
    with pytest.raises(
        InputError,
        match=rf"no model_input_names.* {declared or 'TokenizersBackend'} leaves open.*set model_i",
    ):
        gives_types(ModelFolder.at(tmp_path))
