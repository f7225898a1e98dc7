"""A tiny model for search, whose queries and documents need different prompts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import polybake
from models.folders.tiny_folders import Arrays, bert_weights, write_bert

NAME = "all-minilm-l6-v2"
PROMPTS = {"query": "query: ", "document": "passage: "}
STEPS = ({"step": "pool", "mode": "mean"}, {"step": "normalize"})

#: The document nearest to the query, and the one that another prompt would make the nearest.
DOCUMENTS = ["boats on the water", "the river", "a boat sails", "water, the boat.", "rivering"]
QUERY, NEAREST, WRONG = "a river", "the river", "rivering"


def write_prompted(path: Path, seed: int = 1) -> Path:
    """Bake it; another seed gives a file of the same contract with another fingerprint."""
    with TemporaryDirectory() as folder:
        source = write_bert(Path(folder), weights=plain_bert_weights(seed))
        polybake.bake(source, path, name=NAME, steps=STEPS, prompts=PROMPTS)
    return path


def plain_bert_weights(seed: int) -> Arrays:
    """Plain norms and large words, without which all texts of a random BERT are alike."""
    weights = bert_weights(seed=seed)
    weights["embeddings.word_embeddings.weight"] *= 20
    for name, array in weights.items():
        if "LayerNorm" in name:
            weights[name] = np.full_like(array, name.endswith("weight"))
    return weights
