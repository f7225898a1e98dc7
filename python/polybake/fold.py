"""Append steps to the graph of an encoder: each continues the result of the one before."""

from __future__ import annotations

from collections.abc import Sequence

from onnxscript import ir

from polybake import promptlength
from polybake.errors import InputError
from polybake.functions import call_as_function, remove_unused_literals
from polybake.sources.source import EncoderGraph
from polybake.steps import Step

#: The graph's output.
OUTPUT = "sentence_embedding"


def fold(steps: Sequence[Step], graph: EncoderGraph, *, functions: bool = False) -> list[ir.Value]:
    """Append every step to the graph.

    Args:
        steps: In order.
        graph: Has no output yet; `finish` makes it.
        functions: Make each step one node, which calls a function that holds its operators.

    Returns:
        The result of each step.

    Raises:
        InputError: a step does not fit what stands before it.
    """
    builder, tokens = graph.builder, graph.tokens
    if any(map(promptlength.excludes_prompt, steps)):
        tokens.prompt_length = builder.input(promptlength.NAME, ir.DataType.INT64, [1])
    x, results = graph.embeddings, []
    for index, step in enumerate(steps):
        kind, scope = type(step).__name__, f"steps.{index}"
        before = graph.model.graph.num_nodes()
        builder.push_module(scope, kind)
        try:
            x = step.build(builder.op, x, tokens)
            if functions:
                x = call_as_function(kind, scope, graph, graph.model.graph[before:], x)
        except InputError as error:
            raise InputError(f"steps[{index}]: {error}") from error
        finally:
            builder.pop_module()
        results.append(x)
    if functions:
        remove_unused_literals(graph.model.graph)
    return results


def finish(x: ir.Value, graph: EncoderGraph) -> int:
    """Make ``x`` the graph's output.

    Returns:
        The elements of one embedding.

    Raises:
        InputError: nothing pools the tokens.
    """
    dimension = x.shape[1] if x.shape is not None and len(x.shape) == 2 else None
    if not isinstance(dimension, int):
        raise InputError(
            f"steps: they end in {x.shape}, expected [batch, dimension]; "
            'add a step that pools, such as: step = "pool", mode = "mean"'
        )
    if x is graph.embeddings:
        x = graph.builder.op.Identity(x)
    x.name = OUTPUT
    x.shape = ir.Shape(["batch", dimension])
    graph.model.graph.outputs.append(x)
    return dimension
