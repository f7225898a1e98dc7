"""Weights of words, as sentence-transformers' BoW and WordWeights keep them in config.json."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder


def vocabulary(folder: ModelFolder, config: dict[str, object], key: str = "vocab") -> list[str]:
    """The list of words under ``key``.

    Raises:
        InputError: it is no list of texts.
    """
    words = config.get(key)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{folder.path}: {key} is no list of words; download it again")
    return words


def word_weights(
    folder: ModelFolder, config: dict[str, object], words: list[str]
) -> NDArray[np.float32]:
    """The weight of each of ``words``: its own, else that of the same word in lower case.

    Raises:
        InputError: ``word_weights`` or ``unknown_word_weight`` is no number, or none at all.

    Source: sentence-transformers ``WordWeights``.
    """
    weights, unknown = config.get("word_weights", {}), config.get("unknown_word_weight", 1)
    if not isinstance(weights, dict) or not words:
        raise InputError(f"{folder.path}: word_weights are no object; download it again")
    found = [weights.get(word, weights.get(word.lower(), unknown)) for word in words]
    if not all(isinstance(weight, int | float) and np.isfinite(weight) for weight in found):
        raise InputError(f"{folder.path}: a weight is no finite number; download it again")
    return np.array(found, np.float32)
