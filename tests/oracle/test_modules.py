"""Modules that stand after the pooling, against sentence-transformers: baked tiny models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    Dropout,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)

from models.folders.seeded import randomise
from models.folders.tiny_folders import CONFIG, write_bert
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Proven

HIDDEN = CONFIG["hidden_size"]

#: What stands after the mean pooling; no two sizes are equal but those of a plain residual.
MODULES: dict[str, Callable[[], list[Any]]] = {
    "layer_norm": lambda: [LayerNorm(HIDDEN)],
    "dropout": lambda: [Dropout(0.4), Normalize()],
    "dense": lambda: [Dense(HIDDEN, 7), Normalize()],
    "dense_no_bias": lambda: [Dense(HIDDEN, 7, bias=False, activation_function=torch.nn.GELU())],
    "dense_residual": lambda: [Dense(HIDDEN, HIDDEN, use_residual=True)],
    "dense_projected_residual": lambda: [Dense(HIDDEN, 7, use_residual=True)],
    "dense_on_tokens": lambda: [Dense(HIDDEN, 7, module_input_name="token_embeddings")],
    "all": lambda: [
        Dense(HIDDEN, 9, use_residual=True),
        Dropout(0.1),
        LayerNorm(9),
        Dense(9, 7, activation_function=torch.nn.Identity()),
        Normalize(),
    ],
}


@pytest.mark.parametrize("name", MODULES)
def test_agrees_with_sentence_transformers(name: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal, and vectors to 1e-5 of their length."""
    proven("bert", agreement_with_folder(save(tmp_path, name), tmp_path / "tiny.onnx"))


@pytest.mark.parametrize("name", ["dense", "layer_norm"])
def test_truncate_dim_cuts_after_the_modules(name: str, tmp_path: Path, proven: Proven) -> None:
    """The cut comes last; behind a Normalize the vectors are then shorter than 1."""
    out = tmp_path / "tiny.onnx"
    proven("bert", agreement_with_folder(save(tmp_path, name, truncate_dim=5), out))
    manifest = read_head(out).manifest
    assert manifest.contract.output.dimension == 5
    assert manifest.steps[-1] == "truncate(dimension=5, renormalize=False)"


def save(folder: Path, name: str, truncate_dim: int | None = None) -> Path:
    """Let sentence-transformers save a tiny BERT with these modules, their weights of std 0.2."""
    parts = [randomise(part, seed=place) for place, part in enumerate(MODULES[name]())]
    on_tokens = [p for p in parts if getattr(p, "module_input_name", None) == "token_embeddings"]
    after = [part for part in parts if part not in on_tokens]
    size = on_tokens[-1].out_features if on_tokens else HIDDEN
    body = Transformer(str(write_bert(folder / "body")))
    modules = [body, *on_tokens, Pooling(size, pooling_mode="mean"), *after]
    model = SentenceTransformer(modules=modules, device="cpu", truncate_dim=truncate_dim)
    model.save(str(folder / "saved"))
    return folder / "saved"
