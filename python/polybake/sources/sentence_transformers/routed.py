"""Several encoders over one tokenizer, of which a prompt's route takes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from onnx_ir.passes.common import DeduplicateHashedInitializersPass
from onnxscript import GraphBuilder, ir

from polybake.graph.branches import branch, choose
from polybake.modelfile.manifest import Feed
from polybake.sources.checkpoint import Checkpoint
from polybake.sources.encoder_graph import place, write_reference
from polybake.sources.source import EncoderGraph, Reference


@dataclass(frozen=True)
class Routed:
    """The encoder of each route, by the route's name."""

    encoders: Mapping[str, Checkpoint]
    proves: Literal["steps"] = "steps"

    @property
    def name(self) -> str:
        """The architectures, such as ``query: distilbert; document: bert``."""
        return "; ".join(f"{route}: {encoder.name}" for route, encoder in self.encoders.items())

    def place(self) -> EncoderGraph:
        """Build every encoder as a branch; weights that they share are kept once.

        Raises:
            InputError: weights do not fit their configuration.
        """
        feeds = dict.fromkeys(feed for one in self.encoders.values() for feed in one.feeds)
        graph = place(self._build, feeds)
        DeduplicateHashedInitializersPass()(graph.model)
        route = next(value for value in graph.model.graph.inputs if value.name == "route")
        return replace(graph, state=replace(graph.state, route=route), routes=tuple(self.encoders))

    def _build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        route = builder.input("route", ir.DataType.INT64, [1])

        def embeddings(encoder: Checkpoint) -> list[ir.Value]:
            return [encoder.build(builder, values)[0]]

        branches = [
            branch(builder, f"encoders.{name}", partial(embeddings, encoder))
            for name, encoder in self.encoders.items()
        ]
        return choose(builder, route, branches)[0], ()

    def reference(self, folder: Path) -> Reference:
        """Write the encoders without any step."""
        return write_reference(self.place(), folder)
