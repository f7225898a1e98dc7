"""Tiny random models, saved by transformers and sentence-transformers."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

from models.folders.seeded import randomise

#: Tokens of a tiny model's longest text, special tokens included.
MAX_LENGTH = 60

_PIECES = ["\u2581", "\u2581the", "\u2581water", "\u2581river", "\u2581boat", "ing", "s", "er"]
_LETTERS = [letter for letter in string.ascii_lowercase + ".,:!?" if letter != "s"]


def wordpiece_vocabulary(*special: str) -> dict[str, int]:
    """Ids of special tokens, some words, and letters inside and at the beginning of words."""
    words = ["the", "water", "river", "boat", "##s", "##ing", *string.punctuation]
    letters = [f"{prefix}{letter}" for prefix in ("", "##") for letter in string.ascii_lowercase]
    tokens = dict.fromkeys([*special, *words, *letters])
    return {token: number for number, token in enumerate(tokens)}


def unigram_vocabulary(*special: str) -> list[tuple[str, float]]:
    """Scores of special tokens, some words, and letters."""
    scored = [(piece, -2.0 - number / 8) for number, piece in enumerate(_PIECES)]
    return [(token, 0.0) for token in special] + scored + [(letter, -6.0) for letter in _LETTERS]


def byte_vocabulary(*special: str) -> dict[str, int]:
    """Ids of special tokens, of every byte, and of what the merges of `MERGES` give."""
    from tokenizers.pre_tokenizers import ByteLevel

    merged = ["".join(pair) for pair in MERGES]
    return {
        token: number
        for number, token in enumerate([*special, *sorted(ByteLevel.alphabet()), *merged])
    }


MERGES = [("t", "h"), ("th", "e"), ("\u0120", "the"), ("e", "r"), ("w", "a"), ("\u0120", "wa")]


def save(folder: Path, model: Any, tokenizer: Any, pooling: str = "mean") -> Path:
    """Save as transformers does, then as sentence-transformers does with a pooling.

    Args:
        folder: Gets the folders ``body`` and ``saved``.
        model: A transformers model; its weights are drawn by `randomise`.
        tokenizer: A transformers tokenizer.
        pooling: sentence-transformers' name of the mode.

    Returns:
        The sentence-transformers folder.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    randomise(model).save_pretrained(folder / "body")
    tokenizer.save_pretrained(folder / "body")
    body = Transformer(str(folder / "body"), max_seq_length=MAX_LENGTH)
    pool = Pooling(body.get_embedding_dimension(), pooling_mode=pooling)
    SentenceTransformer(modules=[body, pool], device="cpu").save(str(folder / "saved"))
    return folder / "saved"
