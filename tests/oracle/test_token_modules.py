"""Modules between the encoder and the pooling, against sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    CNN,
    LSTM,
    Pooling,
    Transformer,
)

from models.folders.seeded import randomise
from models.folders.tiny_folders import CONFIG, write_bert
from support.oracle.agreement import agreement_with_folder, bake_source
from support.oracle.proven import Proven

HIDDEN = CONFIG["hidden_size"]
TEXTS = ["the river", "a boat on the water, singing: " * 2, "w"]

MODULES: dict[str, Callable[[], list[Any]]] = {
    "cnn": lambda: [CNN(HIDDEN, 7, kernel_sizes=[1, 3, 5])],
    "lstm": lambda: [LSTM(HIDDEN, 5, num_layers=2, dropout=0.3)],
    "lstm_forward": lambda: [LSTM(HIDDEN, 7, bidirectional=False)],
    "cnn_lstm": lambda: [CNN(HIDDEN, 5, kernel_sizes=[3, 5]), LSTM(10, 7)],
    "lstm_cnn": lambda: [LSTM(HIDDEN, 7), CNN(14, 9, kernel_sizes=[5])],
}


@pytest.fixture(autouse=True)
def lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """An LSTM is told how many tokens a text has; of the encoders only WordEmbeddings does that."""
    forward = LSTM.forward

    def told(self: Any, features: dict[str, Any]) -> Any:
        features["sentence_lengths"] = features["attention_mask"].sum(dim=1)
        return forward(self, features)

    monkeypatch.setattr(LSTM, "forward", told)


def save(folder: Path, name: str, pooling: str) -> Path:
    """Let sentence-transformers save a tiny BERT with these modules, their weights of std 0.2."""
    parts = [randomise(part, seed=place) for place, part in enumerate(MODULES[name]())]
    body = Transformer(str(write_bert(folder / "body")))
    pool = Pooling(parts[-1].get_embedding_dimension(), pooling_mode=pooling)
    model = SentenceTransformer(modules=[body, *parts, pool], device="cpu")
    model.save(str(folder / "saved"))
    return folder / "saved"


@pytest.mark.parametrize(
    ("name", "pooling"),
    [(name, "mean") for name in MODULES] + [("cnn", "max"), ("lstm", "max")],
)
def test_agrees_with_each_text_alone(
    name: str, pooling: str, tmp_path: Path, proven: Proven
) -> None:
    """Ids are equal, and vectors to 1e-5 of their length, in batches with padding too."""
    folder = save(tmp_path, name, pooling)
    proven("bert", agreement_with_folder(folder, tmp_path / "tiny.onnx"))


def test_the_oracle_itself_depends_on_padding(tmp_path: Path) -> None:
    """sentence-transformers' CNN gives a text in a batch another vector: golden ones are alone."""
    model = SentenceTransformer(str(save(tmp_path, "cnn", "mean")), device="cpu")
    alone = np.concatenate([model.encode([text]) for text in TEXTS])
    together = model.encode(TEXTS)
    assert np.abs(together - alone).max() > 1e-3


def test_no_bake_of_a_module_behind_the_pooling(tmp_path: Path) -> None:
    """A CNN that stands behind the pooling is refused."""
    from polybake.errors import InputError

    body = Transformer(str(write_bert(tmp_path / "body")))
    modules = [body, Pooling(HIDDEN), CNN(HIDDEN, 7, kernel_sizes=[1])]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "saved"))
    with pytest.raises(InputError, match=r"steps\[1\]: cnn takes token embeddings"):
        bake_source(tmp_path / "saved", tmp_path / "tiny.onnx")
