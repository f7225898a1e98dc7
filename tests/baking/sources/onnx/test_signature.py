"""What the inputs and outputs of exports are taken for."""

from __future__ import annotations

from pathlib import Path

import onnx.helper
import pytest
from onnxscript import ir

from polybake.baking.golden.edges import UNQUANTIZED
from polybake.baking.sources.onnx.signature import EmbeddingOutputs, embedding_outputs
from polybake.errors import InputError

FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
TOKENS = ["batch", "sequence", 12]


def chosen(*outputs: tuple[str, int, list[str | int]]) -> EmbeddingOutputs:
    values = [onnx.helper.make_tensor_value_info(*output) for output in outputs]
    graph = ir.from_proto(onnx.helper.make_graph([], "g", [], values))
    return embedding_outputs(graph, Path("model.onnx"))


def test_names_decide_where_shapes_do_not() -> None:
    """Of several outputs of a shape the usual name is taken, in any order."""
    first = ("hidden_states.1", FLOAT, TOKENS)
    assert chosen(first, ("last_hidden_state", FLOAT, TOKENS)).first == "last_hidden_state"
    assert chosen(("token_embeddings", FLOAT, TOKENS), first).first == "token_embeddings"


def test_token_embeddings_come_before_a_pooled_output() -> None:
    """Both are known where both are there; BERT's pooler is no embedding of a sentence."""
    tokens = ("token_embeddings", FLOAT, TOKENS)
    pooled = ("sentence_embedding", FLOAT, ["batch", 12])
    assert chosen(pooled, tokens) == ("token_embeddings", "sentence_embedding")
    assert chosen(("pooler_output", FLOAT, ["batch", 12]), tokens) == ("token_embeddings", None)
    assert chosen(pooled) == ("sentence_embedding", "sentence_embedding")
    assert chosen(("embeddings", FLOAT, ["batch", 12])) == ("embeddings", "embeddings")


def test_heads_are_no_embeddings() -> None:
    """Logits beside token embeddings are passed over."""
    logits = ("logits", FLOAT, ["batch", "sequence", 30])
    assert chosen(logits, ("embedding", FLOAT, TOKENS)) == ("embedding", None)


def test_a_quantized_bake_is_no_source() -> None:
    """Its floats are there for golden cases; whoever bakes it again wants its source."""
    values = (("sentence_embedding", INT, ["batch", 12]), (UNQUANTIZED, FLOAT, ["batch", 12]))
    with pytest.raises(InputError, match="is baked and quantized already; bake its source"):
        chosen(*values)


@pytest.mark.parametrize(
    "output",
    [
        ("logits", FLOAT, ["batch", 2]),
        ("logits", FLOAT, ["batch", "sequence", 30]),
        ("start_logits", FLOAT, ["batch", 12]),
        ("embeddings", INT, ["batch", 12]),
        ("embeddings", FLOAT, ["batch", "dimension"]),
        ("attention", FLOAT, ["batch", 12, 12]),
    ],
)
def test_refuses_what_is_no_embedding(output: tuple[str, int, list[str | int]]) -> None:
    """A head's logits, integers, and an unknown dimension are errors with what was found."""
    with pytest.raises(InputError, match=f"no output is surely the embeddings: {output[0]} "):
        chosen(output)
