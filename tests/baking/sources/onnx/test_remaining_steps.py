"""Which of a folder's steps are left to do after an export's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.baking.sources.onnx.remaining_steps import remaining_steps
from polybake.baking.sources.onnx.signature import EmbeddingOutputs
from polybake.errors import InputError

POOL = {"step": "pool", "mode": "mean"}
CLS = {"step": "pool", "mode": "cls"}
MAX = {"step": "pool", "mode": "max"}
NO_PROMPT = {"step": "pool", "mode": "mean", "include_prompt": False}
DENSE = {"step": "dense", "source": "2_Dense"}
NORMALIZE = {"step": "normalize"}
TRUNCATE = {"step": "truncate", "dimension": 3}

HIDDEN = EmbeddingOutputs("last_hidden_state", None)
BOTH = EmbeddingOutputs("token_embeddings", "sentence_embedding")
SENTENCE = EmbeddingOutputs("sentence_embedding", "sentence_embedding")
TXTAI = EmbeddingOutputs("embeddings", "embeddings")
POOLER = EmbeddingOutputs("pooler_output", "pooler_output")


@pytest.mark.parametrize(
    ("outputs", "recipe", "left"),
    [
        (HIDDEN, (POOL, NORMALIZE), (POOL, NORMALIZE)),
        (HIDDEN, (DENSE, POOL), (DENSE, POOL)),
        (BOTH, (POOL, DENSE, NORMALIZE), (POOL, DENSE, NORMALIZE)),
        (BOTH, (), ()),
        (SENTENCE, (POOL, DENSE, NORMALIZE), ()),
        (SENTENCE, (DENSE, POOL, TRUNCATE), (TRUNCATE,)),
        (TXTAI, (POOL, DENSE, NORMALIZE), (DENSE, NORMALIZE)),
        (TXTAI, (CLS, TRUNCATE), (TRUNCATE,)),
    ],
)
def test_no_step_is_done_twice(
    outputs: EmbeddingOutputs,
    recipe: tuple[dict[str, object], ...],
    left: tuple[dict[str, object], ...],
) -> None:
    """Steps that the output went through already are left out."""
    assert remaining_steps(recipe, outputs, Path("model.onnx")) == left


@pytest.mark.parametrize(
    ("outputs", "recipe", "shown"),
    [
        (BOTH, (DENSE, POOL), r"\(dense, pool\) output 'token_embeddings'"),
        (SENTENCE, (NO_PROMPT, NORMALIZE), r"\(pool, normalize\) output 'sentence_embedding'"),
        (TXTAI, (MAX,), r"\(pool\) output 'embeddings'"),
        (TXTAI, (DENSE, POOL), r"\(dense, pool\) output 'embeddings'"),
        (TXTAI, (), r"\(none\) output 'embeddings'"),
        (POOLER, (POOL,), r"\(pool\) output 'pooler_output'"),
    ],
)
def test_refuses_to_guess(
    outputs: EmbeddingOutputs, recipe: tuple[dict[str, object], ...], shown: str
) -> None:
    """What cannot be known is an error with the steps, the output, and two ways out."""
    with pytest.raises(InputError, match=rf"{shown} went through is not known; export last_hid"):
        remaining_steps(recipe, outputs, Path("model.onnx"))
