"""What a source of words refuses, by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import change_json, write_json
from polybake.baking.sources.sentence_transformers.word_modules import (
    open_bag_of_words,
    open_word_embeddings,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

TOKENIZER = "whitespacetokenizer_config.json"
CLASS = "sentence_transformers.models.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A WordEmbeddings folder."""
    write_json(tmp_path / "wordembedding_config.json", {"tokenizer_class": CLASS})
    write_json(tmp_path / TOKENIZER, {"vocab": ["a", "b"], "stop_words": []})
    save_file({"emb_layer.weight": np.ones((2, 3), np.float32)}, tmp_path / "model.safetensors")
    return tmp_path


def test_opens_word_embeddings(folder: Path) -> None:
    """The limit is the library's default where the file has none."""
    encoder, tokenizer = open_word_embeddings(ModelFolder.at(folder))
    assert encoder.name == "word_embeddings"
    assert (tokenizer.max_length, tokenizer.encode(["b, A x"])) == (1_000_000, [[1, 0]])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("wordembedding_config.json", {"max_seq_length": 0}, "max_seq_length: .* found 0"),
        ("wordembedding_config.json", {"tokenizer_class": None}, "tokenizer_class: is missing"),
        (
            "wordembedding_config.json",
            {"tokenizer_class": "x.WhitespaceTokenizer"},
            "should match pattern .* found 'x.WhitespaceTokenizer'; .* save it with a Whitespace",
        ),
        (TOKENIZER, {"vocab": None}, "vocab: is missing"),
        (TOKENIZER, {"stop_words": [1]}, r"stop_words\[0\]: .*string, found 1"),
        (TOKENIZER, {"vocab": ["a", "b", "c"]}, "has 3 words and the embedding 2 rows"),
    ],
)
def test_names_what_does_not_fit(
    folder: Path, file: str, change: dict[str, object], message: str
) -> None:
    """A setting that is missing, of another type or of another size is named."""
    change_json(folder / file, **change)
    with pytest.raises(InputError, match=message):
        open_word_embeddings(ModelFolder.at(folder))


@pytest.mark.parametrize("config", [{}, {"vocab": []}, {"vocab": ["a"], "word_weights": [1]}])
def test_needs_words(tmp_path: Path, config: dict[str, object]) -> None:
    """A bag of no words has no vectors."""
    write_json(tmp_path / "config.json", config)
    with pytest.raises(InputError, match=r"config\.json: (vocab|word_weights): "):
        open_bag_of_words(ModelFolder.at(tmp_path))
