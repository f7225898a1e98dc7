"""A tiny model for search, whose queries and documents have different prompts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import polybake
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert

PROMPTS = {"query": "query: ", "document": "passage: "}


def write_search_model(path: Path, **changes: object) -> Path:
    """Bake a BERT of one layer, whose prompt changes every element of a vector."""
    config = CONFIG | {"num_hidden_layers": 1} | changes
    weights = bert_weights(config)
    for name in weights:  # a bias that all texts share would bring their vectors together
        if name.endswith("LayerNorm.bias"):
            weights[name] = np.zeros_like(weights[name])
    folder = write_bert(path.with_suffix(""), config, weights)
    steps = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
    polybake.bake(folder, path, name=path.stem, steps=steps, prompts=PROMPTS)
    return path
