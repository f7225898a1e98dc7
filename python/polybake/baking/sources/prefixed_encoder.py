"""A causal encoder that begins behind the prefix that all rows of a batch have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onnxscript import GraphBuilder, ir

from polybake.baking.layers.prefix_cache import PrefixCache
from polybake.baking.sources.built_encoder import BuiltEncoder, named
from polybake.baking.sources.checkpoint import Checkpoint
from polybake.baking.sources.source import EncoderGraph, SourceReference
from polybake.base.modelfile.manifest import Feed

_IDS, _MASK = "ids_behind_prefix", "mask_behind_prefix"


@dataclass(frozen=True)
class PrefixedEncoder(BuiltEncoder):
    """An encoder with the keys and values of prefixes; steps see the tokens behind them alone.

    Attributes:
        name: The encoder's name.
        body: The encoder.
        cache: The prefixes, and their keys and values.
        whole: The encoder without them, as it was written already.
        tokens: The tokens that are not computed, by the prompt's name; a pair's has no name.
    """

    name: str
    body: Checkpoint
    cache: PrefixCache
    whole: SourceReference
    tokens: dict[str, int]

    def place(self) -> EncoderGraph:
        """Build the graph; steps see the tokens behind the prefix."""
        graph = super().place()
        ids, mask = (named(graph.model, name) for name in (_IDS, _MASK))
        return replace(graph, state=replace(graph.state, input_ids=ids, attention_mask=mask))

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Find the prefix, and add the encoder behind it."""
        op, ids, mask = builder.op, values["input_ids"], values["attention_mask"]
        past = self.cache.past(builder, ids, mask)
        rest = past.rest(op, ids, 1)
        rest.name, past.rest(op, mask, 1).name = _IDS, _MASK
        return self.body.build(builder, {"input_ids": rest, "attention_mask": mask}, past)

    def reference(self, folder: Path) -> SourceReference:  # noqa: ARG002 - it is there
        """Return the encoder without prefixes."""
        return self.whole
