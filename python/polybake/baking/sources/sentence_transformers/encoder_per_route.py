"""Several encoders with one tokenizer; a prompt's route chooses the encoder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from onnx_ir.passes.common import DeduplicateHashedInitializersPass
from onnxscript import GraphBuilder, ir

from polybake.baking.graph.branches import branch, choose, route_input
from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.source import EncoderGraph
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import Feed
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer


@dataclass(frozen=True)
class EncoderPerRoute(BuiltEncoder):
    """An encoder for each route.

    Attributes:
        name: The architectures, such as ``query: distilbert; document: bert``.
        encoders: The encoders, by the route's name.
    """

    name: str
    encoders: Mapping[str, BuiltEncoder]

    @property
    def feeds(self) -> tuple[Feed, ...]:
        """The inputs of all encoders."""
        return tuple(dict.fromkeys(feed for part in self.encoders.values() for feed in part.feeds))

    def place(self) -> EncoderGraph:
        """Build every encoder as a branch; shared weights are kept once."""
        graph = super().place()
        DeduplicateHashedInitializersPass()(graph.model)
        route = next(value for value in graph.model.graph.inputs if value.name == "route")
        return replace(graph, state=replace(graph.state, route=route), routes=tuple(self.encoders))

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add the input that chooses a route, and the choice; it has no hidden states."""
        route = route_input(builder)

        def embeddings(encoder: BuiltEncoder) -> list[ir.Value]:
            return [encoder.build(builder, values)[0]]

        branches = [
            branch(builder, f"encoders.{name}", partial(embeddings, encoder))
            for name, encoder in self.encoders.items()
        ]
        return choose(builder, route, branches)[0], ()


def same_tokenizer(folder: ModelFolder, tokenizers: Mapping[str, BakedTokenizer]) -> BakedTokenizer:
    """Return the common tokenizer of all routes, as ids are made before a route is taken.

    It cuts texts at the largest of their limits.
    """
    (first, tokenizer), *others = tokenizers.items()
    facts = _facts(tokenizer)
    for name, other in others:
        settings = _facts(other)
        for key in dict.fromkeys([*facts, *settings]):
            if facts.get(key) != settings.get(key):
                raise InputError(
                    f"{folder.path}: routes {first!r} and {name!r} have different tokenizers "
                    f"({key}: {_short(facts.get(key))} and {_short(settings.get(key))}); "
                    "bake each route as a model of its own"
                )
    return tokenizer.cut_at(max(each.max_length for each in tokenizers.values()))


def _facts(tokenizer: BakedTokenizer) -> dict[str, object]:
    """Return the facts that make ids, but for the limits."""
    return {
        "padding id": tokenizer.pad_id,
        "truncation side": tokenizer.cut_side,
        **json.loads(tokenizer.json),
        "truncation": None,
        "decoder": None,
    }


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
