"""The folder of a Transformer module: which of its files is read, and what that says."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.transformer import (
    read_transformer_settings,
    takes_messages,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import TransformerSettings
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def test_the_first_file_that_says_something(tmp_path: Path) -> None:
    """An empty file is passed over, and the file at fault is named."""
    write_json(tmp_path / "sentence_bert_config.json", {})
    write_json(tmp_path / "sentence_roberta_config.json", {"query_length": 0})
    with pytest.raises(InputError, match=r"sentence_roberta_config\.json: query_length: .* 0"):
        read_transformer_settings(ModelFolder.at(tmp_path), TransformerSettings)


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
