"""A tiny BERT whose tokenizer sees every byte: what is changed in a text changes its token ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import polybake
from models.folders.tiny_folders import CONFIG, SPECIAL, bert_weights, write_bert, write_json

MAX_LENGTH = 128
PROMPTS = {"query": "query: ", "document": "passage: "}
_VOCABULARY = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]


def write_every_byte_model(path: Path) -> Path:
    """Bake it with the golden cases that every model gets."""
    config = CONFIG | {
        "vocab_size": len(_VOCABULARY),
        "max_position_embeddings": MAX_LENGTH + 16,  # room for rows that are not cut as they should
        "num_hidden_layers": 1,
    }
    weights = bert_weights(config)
    for name in weights:  # a bias that all texts share would bring their vectors together
        if name.endswith("LayerNorm.bias"):
            weights[name] = np.zeros_like(weights[name])
    folder = write_bert(path.with_suffix(""), config, weights)
    _tokenizer().save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": MAX_LENGTH, "pad_token": "[PAD]"}
    write_json(folder / "tokenizer_config.json", settings)
    mean = folder / "mean.npy"
    np.save(mean, np.full(config["hidden_size"], 0.05, np.float32))
    steps = [
        {"step": "pool", "mode": "mean"},
        {"step": "subtract", "vector": str(mean)},
        {"step": "normalize"},
    ]
    polybake.bake(folder, path, name=path.stem, steps=steps, prompts=PROMPTS)
    return path


def _tokenizer() -> Tokenizer:
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(_VOCABULARY)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(SPECIAL)
    return made
