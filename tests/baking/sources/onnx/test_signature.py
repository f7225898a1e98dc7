"""What the inputs and outputs of exports are taken for, and which steps are left to do then."""

from __future__ import annotations

from pathlib import Path

import onnx.helper
import pytest
from onnxscript import ir

from polybake.baking.golden.edges import UNQUANTIZED
from polybake.baking.sources.onnx.signature import (
    EmbeddingOutputs,
    embedding_outputs,
    remaining_steps,
)
from polybake.errors import InputError

Output = tuple[str, int, list[str | int]]

FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
ROWS: list[str | int] = ["batch", "sequence", 12]
TEXT: list[str | int] = ["batch", 12]


def chosen(*outputs: Output) -> EmbeddingOutputs:
    values = [onnx.helper.make_tensor_value_info(*output) for output in outputs]
    graph = ir.from_proto(onnx.helper.make_graph([], "g", [], values))
    return embedding_outputs(graph, Path("model.onnx"))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (["hidden_states.1", "last_hidden_state"], ("last_hidden_state", None)),
        (["token_embeddings", "hidden_states.1"], ("token_embeddings", None)),
        (["sentence_embedding 2", "token_embeddings"], ("token_embeddings", "sentence_embedding")),
        (["pooler_output 2", "token_embeddings"], ("token_embeddings", None)),
        (["sentence_embedding 2"], ("sentence_embedding", "sentence_embedding")),
        (["embeddings 2"], ("embeddings", "embeddings")),
        (["logits", "embedding"], ("embedding", None)),
    ],
)
def test_the_outputs_of_embeddings(outputs: list[str], expected: tuple[str, str | None]) -> None:
    """Tokens come first, by the usual name; BERT's pooler and logits are no embeddings."""
    split = [output.split(" ") for output in outputs]
    assert chosen(*((name, FLOAT, TEXT if axes else ROWS) for name, *axes in split)) == expected


@pytest.mark.parametrize(
    "output",
    [
        ("logits", FLOAT, ["batch", 2]),
        ("logits", FLOAT, ["batch", "sequence", 30]),
        ("start_logits", FLOAT, TEXT),
        ("embeddings", INT, TEXT),
        ("rows", INT, ROWS),
        ("embeddings", FLOAT, ["batch", "dimension"]),
        ("attention", FLOAT, ["batch", 12, 12]),
        ("rows", FLOAT, ["batch", 2, 3, 4]),
    ],
)
def test_what_is_no_embedding_is_refused(output: Output) -> None:
    """A head's logits, integers, and an unknown dimension are errors with what was found."""
    with pytest.raises(InputError, match=f"no output is surely the embeddings: {output[0]} "):
        chosen(output)


def test_a_quantized_bake_is_no_source() -> None:
    """Its floats are there for golden cases; whoever bakes it again wants its source."""
    with pytest.raises(InputError, match="is baked and quantized already; bake its source"):
        chosen(("sentence_embedding", INT, TEXT), (UNQUANTIZED, FLOAT, TEXT))


POOL = {"step": "pool", "mode": "mean"}
CLS = {"step": "pool", "mode": "cls"}
MAX = {"step": "pool", "mode": "max"}
NO_PROMPT = {"step": "pool", "mode": "mean", "include_prompt": False}
DENSE = {"step": "dense", "source": "2_Dense"}
NORMALIZE = {"step": "normalize"}
TRUNCATE = {"step": "truncate", "dimension": 3}
ROUTE = {"step": "route", "default": "query", "routes": {"query": (NORMALIZE,), "document": ()}}

HIDDEN = EmbeddingOutputs("last_hidden_state", None)
BOTH = EmbeddingOutputs("token_embeddings", "sentence_embedding")
SENTENCE = EmbeddingOutputs("sentence_embedding", "sentence_embedding")
TXTAI = EmbeddingOutputs("embeddings", "embeddings")
POOLER = EmbeddingOutputs("pooler_output", "pooler_output")

Recipe = tuple[dict[str, object], ...]


@pytest.mark.parametrize(
    ("outputs", "recipe", "left"),
    [
        (HIDDEN, (POOL, NORMALIZE), (POOL, NORMALIZE)),
        (HIDDEN, (DENSE, POOL), (DENSE, POOL)),
        (BOTH, (POOL, DENSE, NORMALIZE), (POOL, DENSE, NORMALIZE)),
        (BOTH, (POOL, ROUTE), (POOL, ROUTE)),
        (BOTH, (), ()),
        (SENTENCE, (POOL, DENSE, NORMALIZE), ()),
        (SENTENCE, (DENSE, POOL, TRUNCATE), (TRUNCATE,)),
        (TXTAI, (POOL, DENSE, NORMALIZE), (DENSE, NORMALIZE)),
        (TXTAI, (CLS, TRUNCATE), (TRUNCATE,)),
    ],
)
def test_no_step_is_done_twice(outputs: EmbeddingOutputs, recipe: Recipe, left: Recipe) -> None:
    """Steps that the output went through already are left out."""
    assert remaining_steps(recipe, outputs, Path("model.onnx")) == left


@pytest.mark.parametrize(
    ("outputs", "recipe", "shown"),
    [
        (BOTH, (DENSE, POOL), r"\(dense, pool\) output 'token_embeddings'"),
        (SENTENCE, (NO_PROMPT, NORMALIZE), r"\(pool, normalize\) output 'sentence_embedding'"),
        (SENTENCE, (POOL, ROUTE), "one route of the folder's Router"),
        (TXTAI, (MAX,), r"\(pool\) output 'embeddings'"),
        (TXTAI, (DENSE, POOL), r"\(dense, pool\) output 'embeddings'"),
        (TXTAI, (), r"\(none\) output 'embeddings'"),
        (POOLER, (POOL,), r"\(pool\) output 'pooler_output'"),
    ],
)
def test_nothing_is_guessed(outputs: EmbeddingOutputs, recipe: Recipe, shown: str) -> None:
    """What cannot be known is an error with the steps and the output."""
    with pytest.raises(InputError, match=f"{shown}.*export last_hid"):
        remaining_steps(recipe, outputs, Path("model.onnx"))
