"""Append steps to the graph of an encoder: each continues the result of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnxscript import ir

from polybake.baking import prompt_length as promptlength
from polybake.baking import routes
from polybake.errors import InputError
from polybake.fixtures.edges import UNQUANTIZED
from polybake.graph.functions import call_as_function, remove_unused_literals
from polybake.modelfile.manifest import Output
from polybake.sources.source import EncoderGraph
from polybake.steps import Quantize, Step

#: The graph's output.
OUTPUT = "sentence_embedding"


@dataclass(frozen=True)
class Folded:
    """What the steps made of an encoder's result.

    Attributes:
        results: The result of each step.
        unquantized: What the quantize step was given; None without one.
    """

    results: list[ir.Value]
    unquantized: ir.Value | None


def fold(steps: Sequence[Step], graph: EncoderGraph, *, functions: bool = False) -> Folded:
    """Append every step to the graph.

    Args:
        steps: In order.
        graph: Has no output yet; `finish` makes it.
        functions: Make each step one node, which calls a function that holds its operators; but
            one that tells the next steps something of the tokens, too, has more than one result.

    Raises:
        InputError: a step does not fit what stands before it.
    """
    builder, tokens = graph.builder, graph.tokens
    if any(map(promptlength.excludes_prompt, steps)):
        tokens.prompt_length = builder.input(promptlength.NAME, ir.DataType.INT64, [1])
    route = routes.route_step(steps)
    if graph.routes and (route is None or tuple(route.routes) != graph.routes):
        raise InputError(
            f"steps: the encoder has the routes {', '.join(graph.routes)}; "
            "list one route step with these, in this order"
        )
    if route is not None and tokens.route is None:
        tokens.route = builder.input(routes.NAME, ir.DataType.INT64, [1])
    x, results = graph.embeddings, []
    unquantized = None
    for index, step in enumerate(steps):
        if unquantized is not None:
            raise InputError(f"steps[{index}]: stands after quantize; move quantize to the end")
        if isinstance(step, Quantize):
            x = unquantized = builder.op.Identity(x)
        kind, scope = type(step).__name__, f"steps.{index}"
        before = graph.model.graph.num_nodes()
        builder.push_module(scope, kind)
        try:
            told = vars(tokens).copy()
            x = step.build(builder.op, x, tokens)
            if functions and vars(tokens) == told:
                x = call_as_function(kind, scope, graph, graph.model.graph[before:], x)
        except InputError as error:
            raise InputError(f"steps[{index}]: {error}") from error
        finally:
            builder.pop_module()
        results.append(x)
    if functions:
        remove_unused_literals(graph.model.graph)
    return Folded(results, unquantized)


def finish(folded: Folded, steps: Sequence[Step], graph: EncoderGraph) -> Output:
    """Make the last result the graph's output.

    What a quantize step is given becomes one too: golden cases need to know what lies at an edge.

    Raises:
        InputError: nothing pools the tokens.
    """
    x = folded.results[-1] if folded.results else graph.embeddings
    dimension = x.shape[1] if x.shape is not None and len(x.shape) == 2 else None
    if not isinstance(dimension, int):
        raise InputError(
            f"steps: they end in {x.shape}, expected [batch, dimension]; "
            'add a step that pools, such as: step = "pool", mode = "mean"'
        )
    _give(graph, graph.builder.op.Identity(x) if x is graph.embeddings else x, OUTPUT)
    last = steps[-1] if steps else None
    if folded.unquantized is None or not isinstance(last, Quantize):
        return Output(name=OUTPUT, dimension=dimension)
    _give(graph, folded.unquantized, UNQUANTIZED)
    return Output(name=OUTPUT, dtype=last.dtype, dimension=dimension, packed_bits=last.packs)


def _give(graph: EncoderGraph, x: ir.Value, name: str) -> None:
    """Make ``[batch, dimension]`` an output of the graph."""
    assert x.shape is not None  # noqa: S101 - checked by what stands before
    x.name = name
    x.shape = ir.Shape(["batch", x.shape[1]])
    graph.model.graph.outputs.append(x)
