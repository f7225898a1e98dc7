"""The head of a causal language model, of which a reranker reads one or two tokens.

Source: transformers, ``ForCausalLM`` of each family; sentence-transformers ``LogitScore``.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from polybake.baking.encoders import ENCODERS
from polybake.baking.layers.weights import Prefix
from polybake.baking.sources.checkpoint import checkpoint_files
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.source import TaskHead
from polybake.baking.steps import Dense, Pool, Step
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel, first_fault
from polybake.errors import InputError

_TABLE, _OWN = "embed_tokens.weight", "lm_head.weight"

#: The families, and whether their heads are their tables if config.json does not say.
_TIED = {
    **dict.fromkeys(("gemma", "gemma3_text"), True),
    **dict.fromkeys(("mistral", "qwen2", "qwen3"), False),
}


class _Config(JsonModel):
    """The keys of config.json that decide what the head computes."""

    tie_word_embeddings: bool | None = None
    final_logit_softcapping: None = None


def causal_lm(folder: ModelFolder, true: int, false: int | None, relevance: str) -> TaskHead:
    """The head that scores a pair by the logit of the token ``true``, less that of ``false``."""
    name = ModelConfig.of(folder).model_type
    if name not in _TIED:
        raise InputError(
            f"{folder.path / 'config.json'}: the language model's head of {name!r} is not known; "
            f"known are: {', '.join(_TIED)}; choose a model of one of these"
        )
    config = folder.read("config.json", _Config)
    tied = _TIED[name] if config.tie_word_embeddings is None else config.tie_word_embeddings
    tokens = (true,) if false is None else (true, false)
    steps = partial(_steps, folder, ENCODERS[name].prefix, tokens, tied=tied)
    return TaskHead("ForCausalLM", steps, ("relevance",), None, relevance, of_pairs=True)


def _steps(
    folder: ModelFolder, prefix: Prefix, tokens: tuple[int, ...], *, tied: bool
) -> list[Step]:
    """Return the last token, and a layer that gives a logit, or the difference of two."""
    layers = Layers(checkpoint_files(folder), prefix)
    names = [name for name in (_TABLE, _OWN) if layers.has(name)]
    if tied and len(names) > 1:
        table, own = (layers.rows(name, tokens) for name in names)
        if not np.array_equal(table, own):
            whole = f"{prefix if isinstance(prefix, str) else prefix[0]}{_TABLE}"
            raise InputError(
                f"{layers.files[0]}: {_OWN} differs from {whole}, and config.json says "
                "that they are one (tie_word_embeddings = true); correct it, or save it again"
            )
    rows: NDArray[np.float32] = layers.rows(_TABLE if tied else _OWN, tokens)
    weight = rows[:1] - rows[1:] if len(tokens) > 1 else rows
    try:
        return [Pool(mode="lasttoken"), Dense(weight=weight, activation="identity")]
    except ValidationError as error:
        raise InputError(
            f"{layers.files[0]}: {first_fault(error)}; save the model again"
        ) from error
