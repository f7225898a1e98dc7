"""An encoder whose rows are cut and filled up by the route that they take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onnxscript import GraphBuilder, ir

from polybake.baking.graph.branches import route_input
from polybake.baking.sources.built_encoder import BuiltEncoder, named
from polybake.baking.sources.query_augmentation import QueryAugmentation
from polybake.baking.sources.source import EncoderGraph, SourceReference
from polybake.base.modelfile.manifest import Feed


@dataclass(frozen=True)
class AugmentedEncoder(BuiltEncoder):
    """An encoder behind an augmentation.

    Attributes:
        name: The encoder's name.
        body: The encoder, which takes token ids and their mask.
        augmentation: The augmentation of token ids and mask before the encoder.
        routes: The names of the routes that the augmentation knows.
    """

    name: str
    body: BuiltEncoder
    augmentation: QueryAugmentation
    routes: tuple[str, ...]

    def place(self) -> EncoderGraph:
        """Build the graph; steps see the tokens after the augmentation."""
        graph = super().place()
        fed = {value.name: value for value in graph.model.graph.inputs}
        ids, counted = (named(graph.model, name) for name in (_IDS, _COUNTED))
        state = replace(graph.state, input_ids=ids, attention_mask=counted, route=fed["route"])
        return replace(graph, state=state, routes=self.routes)

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add the input that chooses a route, the augmentation, and the encoder."""
        route = route_input(builder)
        op = builder.op
        tokens = self.augmentation.build(op, values["input_ids"], values["attention_mask"], route)
        tokens.ids.name, tokens.counted.name = _IDS, _COUNTED
        return self.body.build(
            builder, {"input_ids": tokens.ids, "attention_mask": tokens.attended}
        )

    def reference(self, folder: Path) -> SourceReference:
        """Return the encoder alone; a proof expands its rows in NumPy."""
        return replace(self.body.reference(folder), augmentation=self.augmentation)


_IDS, _COUNTED = "expanded_ids", "counted_tokens"
