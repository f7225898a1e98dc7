"""A folder that Stanford's ColBERT saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert, write_json

PROJECTION = np.random.default_rng(3).normal(size=(5, CONFIG["hidden_size"])).astype(np.float32)


def write_stanford(folder: Path, metadata: dict[str, Any] | None = None) -> Path:
    """A BERT with a projection beside it, whose markers are words of the vocabulary."""
    config = CONFIG | {"architectures": ["HF_ColBERT"]}
    write_bert(folder, config, bert_weights() | {"linear.weight": PROJECTION})
    write_json(folder / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]"})
    markers = {"query_token_id": "query", "doc_token_id": "passage", "query_maxlen": 9}
    write_json(folder / "artifact.metadata", markers | (metadata or {}))
    return folder
