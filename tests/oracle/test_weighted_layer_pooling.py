"""Weighted means of hidden states against sentence-transformers: baked tiny models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from models.folders.saved import MAX_LENGTH, wordpiece_vocabulary
from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Proven

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY = wordpiece_vocabulary(*SPECIAL)
LAYERS = 3
SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 12,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 70,
    "output_hidden_states": True,
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", {}),
    "roberta": ("Roberta", {"pad_token_id": 0}),
    "electra": ("Electra", {"embedding_size": 8}),
    "mpnet": ("MPNet", {"pad_token_id": 0}),
    "distilbert": ("DistilBert", {"hidden_dim": 20, "intermediate_size": None}),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("start", [0, 2])
def test_agrees(kind: str, start: int, tmp_path: Path, proven: Proven) -> None:
    """The mean of the states from the first one on is what the pooling takes."""
    folder = save(kind, start, tmp_path)
    proven(kind, agreement_with_folder(folder, tmp_path / "tiny.onnx"))


def test_does_nothing_without_hidden_states(tmp_path: Path, proven: Proven) -> None:
    """An encoder that was saved without ``output_hidden_states`` keeps its last layer's output."""
    folder = save("bert", 1, tmp_path)
    change_json(folder / "config.json", output_hidden_states=None)
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx")
    assert read_head(found.baked).manifest.steps == ("pool(mode=mean)",)
    proven("bert", found)


def save(kind: str, start: int, folder: Path) -> Path:
    """Let the libraries save a tiny model with random layer weights."""
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Pooling,
        Transformer,
        WeightedLayerPooling,
    )

    name, own = MODELS[kind]
    config = getattr(transformers, f"{name}Config")(**SIZES | own)
    body = folder / "body"
    randomise(getattr(transformers, f"{name}Model")(config)).save_pretrained(body)
    transformers.BertTokenizer(vocab=VOCABULARY).save_pretrained(body)
    weights = torch.nn.Parameter(torch.linspace(0.9, 0.2, LAYERS + 1 - start))
    modules = [
        Transformer(str(body), max_seq_length=MAX_LENGTH),
        WeightedLayerPooling(12, LAYERS, start, weights),
        Pooling(12, pooling_mode="mean"),
    ]
    assert modules[0].model.config.output_hidden_states
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "saved"))
    return folder / "saved"
