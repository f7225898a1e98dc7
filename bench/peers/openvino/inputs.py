"""What the graph takes of texts."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer


def read_tokenizer(folder: Path) -> Tokenizer:
    """The model's, which cuts at 256 tokens and pads to the longest."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    return tokenizer


def inputs(tokenizer: Tokenizer, texts: list[str]) -> dict[str, np.ndarray]:
    """Arrays ``[texts, tokens]``."""
    rows = tokenizer.encode_batch(texts)
    return {
        "input_ids": np.array([row.ids for row in rows]),
        "attention_mask": np.array([row.attention_mask for row in rows]),
        "token_type_ids": np.array([row.type_ids for row in rows]),
    }
