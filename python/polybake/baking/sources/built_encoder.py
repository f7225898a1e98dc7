"""An encoder whose graph is built here, from its weights."""

import abc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from onnxscript import GraphBuilder, ir

from polybake.baking.graph.write import write_to_run
from polybake.baking.layers.network import new_model
from polybake.baking.sources.source import EncoderGraph, SourceReference
from polybake.baking.steps.state import State
from polybake.base.modelfile.manifest import Feed, Input

_ENCODER_OUTPUT = "token_embeddings"


def named(model: ir.Model, name: str) -> ir.Value:
    """Return the value of a name."""
    return next(value for node in model.graph for value in node.outputs if value.name == name)


class BuiltEncoder(abc.ABC):
    """An encoder that adds itself to any graph.

    Attributes:
        name: The architecture.
        typed: Whether the tokens of a pair have types; None where it makes no difference.
    """

    name: str
    typed: bool | None = None
    proves: Literal["steps"] = "steps"

    @property
    def feeds(self) -> tuple[Feed, ...]:
        """The encoder's inputs, in the graph's order; some encoders have more."""
        return ("input_ids", "attention_mask")

    @abc.abstractmethod
    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add the encoder to a graph; return its token embeddings and hidden states."""

    def further(self, model: ir.Model) -> list[ir.Value]:  # noqa: ARG002 - for those that have any
        """Return what the encoder's own file gives besides its embeddings: nothing."""
        return []

    def for_pairs(self, gives_types: Callable[[], bool]) -> Self:  # noqa: ARG002 - for some
        """Most know of no types."""
        return self

    def place(self) -> EncoderGraph:
        """Build it in a new model; the weights are read when that is written."""
        model = new_model()
        builder = GraphBuilder(model.graph)
        shape = ["batch", "sequence"]
        values = {feed: builder.input(feed, ir.DataType.INT64, shape) for feed in self.feeds}
        embeddings, hidden_states = self.build(builder, values)
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
            # Padding is masked, so either side works. Behind a text it does not move the text's
            # positions, so that rotations round the same.
            pad_side="right",
            typed=self.typed,
        )

    def reference(self, folder: Path) -> SourceReference:
        """Write it without any step to ``folder``; its hidden states are outputs, too."""
        graph = self.place()
        embeddings, states = graph.state.x, graph.state.hidden_states
        embeddings.name = _ENCODER_OUTPUT
        others = [state for state in states if state is not embeddings]
        graph.model.graph.outputs.extend([embeddings, *others, *self.further(graph.model)])
        path = folder / "encoder.onnx"
        write_to_run(graph.model, path)
        return SourceReference(path, _ENCODER_OUTPUT, tuple(str(state.name) for state in states))
