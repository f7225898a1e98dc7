"""Folders of gliner; tests/oracle/test_gliner.py compares their spans with the library's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from models.files.task_models import write_gliner
from models.folders.tiny_folders import change_json, write_json
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.baking.tasks import task_of
from polybake.errors import InputError

SETTINGS = "gliner_config.json"


def steps(source: Source) -> list[Any]:
    return [*resolve(task_of(source).recipe(source), base=Path(), source=source)]


def built(folder: Path) -> None:
    source = open_source(folder)
    source.encoder.place()
    steps(source)


def test_words_decide_the_length_where_the_tokenizer_has_no_limit(tmp_path: Path) -> None:
    """Four tokens a word, though the encoder's files say fewer."""
    folder = write_gliner(tmp_path)
    assert open_source(folder).tokenizer.max_length == 96
    change_json(folder / "tokenizer_config.json", model_max_length=int(1e30))
    assert open_source(folder).tokenizer.max_length == 4 * 40


def test_an_older_folder_lacks_its_encoder_and_tokens(tmp_path: Path) -> None:
    """Its encoder's files are put beside it, and its tokens are added as the library does."""
    folder = write_gliner(tmp_path)
    settings = json.loads((folder / SETTINGS).read_text("utf-8"))
    config, table, label = map(settings.pop, ("encoder_config", "vocab_size", "class_token_index"))
    write_json(folder / SETTINGS, settings | {"model_name": "some/base"})
    write_json(folder / "config.json", config | {"vocab_size": 1})
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    tokenizer["added_tokens"] = tokenizer["added_tokens"][:-3]
    write_json(folder / "tokenizer.json", tokenizer)
    source = open_source(folder)
    assert steps(source)[1].label == label
    assert source.encoder.config.vocab_size == table  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"span_mode": "token_level"}, r"span_mode: Input should be 'markerV0'.*span models"),
        ({"labels_encoder": "some/model"}, "unknown key labels_encoder"),
        ({"fuse_layers": True}, "unknown key fuse_layers"),
        ({"subtoken_pooling": "mean"}, "subtoken_pooling"),
        ({"words_splitter_type": "spacy"}, "words_splitter_type"),
        ({"class_token_index": 3}, r"class_token_index = 3, and the tokenizer's id of '<<ENT>>'"),
        ({"encoder_config": {"model_type": "bert"}}, "is of 'bert', expected deberta-v2"),
        ({"encoder_config": {"model_type": "deberta-v2"}}, r"encoder_config\.\w+: is missing"),
        ({"num_rnn_layers": 0}, r"unexpected rnn\.lstm"),
        ({"num_rnn_layers": 2}, "weight_ih_l1"),
    ],
)
def test_other_models_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """By the setting that says so."""
    with pytest.raises(InputError, match=message):
        built(write_gliner(tmp_path, **changes))


def test_every_tensor_is_read(tmp_path: Path) -> None:
    """Or refused by its name; PyTorch exports none."""
    folder = write_gliner(tmp_path)
    with pytest.raises(InputError, match="has no encoder that PyTorch could export"):
        open_source(folder, "torch")
    weights = load_file(folder / "model.safetensors")
    save_file(weights | {"rnn.other": np.ones(1, np.float32)}, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"unexpected rnn\.other"):
        steps(open_source(folder))
