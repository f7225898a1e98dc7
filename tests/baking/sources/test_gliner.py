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
from polybake.baking.steps import LabelSpans
from polybake.baking.tasks import task_of
from polybake.errors import InputError

SETTINGS = "gliner_config.json"


def steps(source: Source) -> list[Any]:
    return [*resolve(task_of(source).recipe(source), base=Path(), source=source)]


def test_a_folder_is_a_tagger(tmp_path: Path) -> None:
    """With the layers behind its encoder, and the tokens that its labels stand behind."""
    source = open_source(write_gliner(tmp_path))
    assert task_of(source).name == "zero-shot-tag"
    projection, spans = steps(source)
    assert isinstance(spans, LabelSpans)
    assert (projection.weight.shape, spans.width, spans.context.hidden) == ((8, 12), 4, 4)
    assert spans.label == source.tokenizer.id_of("<<ENT>>")
    assert source.tokenizer.max_length == 96


def test_words_decide_the_length_where_the_tokenizer_has_no_limit(tmp_path: Path) -> None:
    """Four tokens a word, though the encoder's files say fewer."""
    folder = write_gliner(tmp_path)
    change_json(folder / "tokenizer_config.json", model_max_length=int(1e30))
    assert open_source(folder).tokenizer.max_length == 4 * 40


def test_an_older_folder_lacks_its_encoder_and_tokens(tmp_path: Path) -> None:
    """Its encoder's files are put beside it, and its tokens are added as the library does."""
    folder = write_gliner(tmp_path)
    settings = json.loads((folder / SETTINGS).read_text("utf-8"))
    config = settings.pop("encoder_config")
    table = settings.pop("vocab_size")
    label = settings.pop("class_token_index")
    write_json(folder / SETTINGS, settings | {"model_name": "some/base"})
    with pytest.raises(InputError, match=r"put config\.json .* of some/base into the folder"):
        open_source(folder)
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
    folder = write_gliner(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        _built(folder)


def test_pytorch_exports_no_such_model(tmp_path: Path) -> None:
    """The setting that asks for it is refused."""
    with pytest.raises(InputError, match="has no encoder that PyTorch could export"):
        open_source(write_gliner(tmp_path), "torch")


def test_every_tensor_is_read(tmp_path: Path) -> None:
    """Or refused by its name; a pickle is named with the way to read it."""
    folder = write_gliner(tmp_path)
    weights = load_file(folder / "model.safetensors")
    save_file(weights | {"rnn.other": np.ones(1, np.float32)}, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"unexpected rnn\.other"):
        steps(open_source(folder))
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=r"has no model\.safetensors.*--pickle tensors"):
        open_source(folder)


def _built(folder: Path) -> None:
    source = open_source(folder)
    source.encoder.place()
    _, spans = steps(source)
    assert isinstance(spans, LabelSpans)
