"""The class of transformers' tokenizers that a folder gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_json
from polybake.base.files.model_folder import ModelFolder
from polybake.runtime.tokenization.known_classes import CLASSES, gives_types, rebuilt_class
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
    ("declared", "default", "typed"),
    [
        (None, True, True),
        (None, False, False),
        ("PreTrainedTokenizerFast", True, True),
        ("BertTokenizerFast", False, True),
        ("DebertaV2Tokenizer", False, True),
        ("RobertaTokenizer", True, False),
        ("DistilBertTokenizer", True, False),
    ],
)
def test_the_class_says_whether_pairs_have_types(
    declared: str | None, default: bool, typed: bool
) -> None:
    """A known class decides; without one the architecture's own does."""
    config = TokenizerConfig(tokenizer_class=declared)
    assert gives_types(config, ModelConfig(), default) is typed
    told = ModelConfig(tokenizer_class=declared)
    assert gives_types(TokenizerConfig(), told, default) is typed
