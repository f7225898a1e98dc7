"""Heads of masked language models; tests/oracle/test_sparse.py compares their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.files.task_models import masked_lm_weights
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.baking.sources.heads import open_head
from polybake.baking.sources.source import TaskHead
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense, LayerNorm, TiedDense

DECODER = "cls.predictions.decoder.weight"


def opened(folder: Path, without: str = "", **settings: object) -> TaskHead:
    """The head of a BERT, without the weights whose names begin so."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"], **settings}
    decoder = {DECODER: np.ones((CONFIG["vocab_size"], CONFIG["hidden_size"]), np.float32)}
    weights = {
        name: array
        for name, array in (masked_lm_weights() | decoder).items()
        if not without or not name.startswith(without)
    }
    head = open_head(ModelFolder.at(write_bert(folder, config, weights)))
    assert head is not None
    return head


def test_it_reads_as_steps(tmp_path: Path) -> None:
    """BERT's: a layer, its norm, and the table of tokens once more."""
    head = opened(tmp_path)
    dense, norm, table = head.steps()
    assert (head.kind, head.labels) == ("ForMaskedLM", ())
    assert isinstance(dense, Dense)
    assert isinstance(norm, LayerNorm)
    assert isinstance(table, TiedDense)
    assert dense.activation == "gelu"
    words = bert_weights()["embeddings.word_embeddings.weight"]
    assert (table.weight == words).all()


def test_a_table_of_its_own(tmp_path: Path) -> None:
    """Where the configuration says that it is not the embeddings'; the bias may be shared."""
    *_, table = opened(tmp_path, tie_word_embeddings=False).steps()
    assert isinstance(table, Dense)
    assert (table.weight == 1).all()
    assert table.bias == pytest.approx(masked_lm_weights()["cls.predictions.bias"])


def test_a_missing_layer_is_named(tmp_path: Path) -> None:
    """With what to do about it."""
    head = opened(tmp_path, without="cls.predictions.transform.dense")
    with pytest.raises(InputError, match=r"has no cls\.predictions\.transform\.dense\.weight"):
        head.steps()


def test_an_unknown_family_is_refused(tmp_path: Path) -> None:
    """With those that are known."""
    head = opened(tmp_path, model_type="t5")
    with pytest.raises(InputError, match="language model of 't5' is not known; known are: albert"):
        head.steps()
