"""Tiny random models of texts and pictures, made by the classes of transformers."""

from __future__ import annotations

from typing import Any

from models.folders.saved import byte_vocabulary

#: Rows of the table of positions: a golden text that is longer is cut.
ROWS = 20
MERGES = [("t", "h"), ("th", "e</w>"), ("w", "a")]
SIZES: dict[str, Any] = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": ROWS,
}
PICTURES: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 8,
    "patch_size": 4,
}


def clip_vocabulary() -> dict[str, int]:
    """Ids of every byte, within and at the end of a word, and of what `MERGES` give."""
    letters = [token for token in byte_vocabulary() if len(token) == 1]
    ends = [f"{letter}</w>" for letter in letters]
    merged = ["".join(pair) for pair in MERGES]
    tokens = [*letters, *ends, *merged, "<|startoftext|>", "<|endoftext|>"]
    return {token: number for number, token in enumerate(tokens)}


def clip_tokenizer() -> Any:
    import transformers

    return transformers.CLIPTokenizer(vocab=clip_vocabulary(), merges=MERGES, model_max_length=ROWS)


def clip_text_config(**settings: Any) -> dict[str, Any]:
    """The text tower's; it ends texts with the tokenizer's last token."""
    vocabulary = clip_vocabulary()
    ids = {"bos_token_id": vocabulary["<|startoftext|>"], "pad_token_id": 0}
    ends = {"eos_token_id": vocabulary["<|endoftext|>"]}
    return {"vocab_size": len(vocabulary), **SIZES, **ids, **ends, **settings}
