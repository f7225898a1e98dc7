"""The graph of an encoder that is built here, in a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from onnxscript import GraphBuilder, ir

from polybake.graph.write import serialize
from polybake.layers.network import new_model
from polybake.modelfile.manifest import Feed, Input
from polybake.sources.source import EncoderGraph, Reference
from polybake.steps.state import State

_ENCODER_OUTPUT = "token_embeddings"

#: Adds an encoder to a graph that has its inputs, and gives its embeddings and hidden states.
Build = Callable[[GraphBuilder, Mapping[Feed, ir.Value]], tuple[ir.Value, Sequence[ir.Value]]]


def place(build: Build, feeds: Iterable[Feed]) -> EncoderGraph:
    """Build an encoder in a new model.

    Args:
        build: Adds the encoder.
        feeds: What it takes, in the order of the graph's inputs; ``input_ids`` and
            ``attention_mask`` are among them.
    """
    model = new_model()
    builder = GraphBuilder(model.graph)
    values = {feed: builder.input(feed, ir.DataType.INT64, ["batch", "sequence"]) for feed in feeds}
    embeddings, hidden_states = build(builder, values)
    return EncoderGraph(
        model=model,
        builder=builder,
        inputs=tuple(Input(name=feed, feed=feed) for feed in values),
        state=State(
            embeddings,
            values["input_ids"],
            values["attention_mask"],
            hidden_states=tuple(hidden_states),
        ),
    )


def write_reference(graph: EncoderGraph, folder: Path) -> Reference:
    """Write the encoder without any step to ``folder``; its hidden states are outputs, too."""
    embeddings, states = graph.state.x, graph.state.hidden_states
    embeddings.name = _ENCODER_OUTPUT
    others = [state for state in states if state is not embeddings]
    graph.model.graph.outputs.extend([embeddings, *others])
    path = folder / "encoder.onnx"
    serialize(graph.model).write(path)
    return Reference(path, _ENCODER_OUTPUT, tuple(str(state.name) for state in states))
