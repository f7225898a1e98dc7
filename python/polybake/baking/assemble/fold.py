"""Append steps to the graph of an encoder: each step takes the result of the previous one."""

from collections.abc import Sequence
from dataclasses import dataclass

from onnxscript import ir

from polybake.baking.sources.source import EncoderGraph
from polybake.baking.steps import Step, Values
from polybake.baking.tasks import Embed
from polybake.base.modelfile.manifest import UNQUANTIZED, Input, Output
from polybake.errors import InputError

#: The output with the number of rows of each text.
COUNTS = "row_counts"


@dataclass(frozen=True)
class Folded:
    """The result of folding steps over an encoder.

    Attributes:
        results: The result of each step.
        output: The graph's first output.
        further: The others that clients read.
    """

    results: tuple[ir.Value, ...]
    output: Output
    further: tuple[Output, ...] = ()


def fold(
    steps: Sequence[Step],
    graph: EncoderGraph,
    inputs: Sequence[Input] = (),
    *,
    output: str = Embed.output,
    by_token: bool = Embed.by_token,
) -> Folded:
    """Append every step to the graph, and make the last result its output.

    The input of a final step becomes an output, too: golden cases need to know which values lie
    at an edge.
    """
    _check_order(steps, graph)
    op, state = graph.builder.op, graph.state
    for item in inputs:
        if getattr(state, item.name) is None:
            fed = graph.builder.input(item.name, ir.DataType.INT64, [1])
            state = state.becomes(state.x, **{item.name: fed})
    results: list[ir.Value] = []
    for index, step in enumerate(steps):
        if step.dtype != "float32":
            state = state.becomes(op.Identity(state.x))
            _give(graph, state.x, UNQUANTIZED, "batch", *(state.x.shape or ())[1:])
        graph.builder.push_module(f"steps.{index}", type(step).__name__)
        try:
            state = step.build(op, state)
        except InputError as error:
            raise InputError(f"steps[{index}]: {error}") from error
        finally:
            graph.builder.pop_module()
        results.append(state.x)
    further = [_further(graph, name, value) for name, value in [*state.further.items()][::-1]]
    counts = next((value.counts for value in state.further.values()), None)
    if counts is not None:
        _give(graph, counts, COUNTS, "batch", before=len(further))
    result = _output(graph, steps, state, output, by_token=by_token)
    return Folded(tuple(results), result, tuple(further[::-1]))


def _check_order(steps: Sequence[Step], graph: EncoderGraph) -> None:
    for index, step in enumerate(steps[:-1]):
        if step.final:
            raise InputError(
                f"steps[{index + 1}]: stands after {step.name}; move {step.name} to the end"
            )
    routes = [tuple(step.inner) for step in steps if step.inner]
    if graph.routes and routes != [graph.routes]:
        raise InputError(
            f"steps: the encoder has the routes {', '.join(graph.routes)}; "
            "list one route step with these, in this order"
        )


def _output(
    graph: EncoderGraph, steps: Sequence[Step], state: Values, name: str, *, by_token: bool
) -> Output:
    """Make the last result the first output of the graph."""
    x = state.x
    dimension = x.shape[1] if x.shape is not None and len(x.shape) == 2 else None
    if by_token and (state.counts is None or not isinstance(dimension, int)):
        raise InputError(
            f"steps: they end in {x.shape}, expected [rows, dimension] of tokens; leave the "
            '[[steps]] out, for those of the task, or let them end in: step = "unpad"'
        )
    if state.counts is not None and not by_token:
        raise InputError(
            f"steps: they end in {x.shape} of tokens, expected [batch, dimension]; put a step "
            'that pools in the place of unpad, such as: step = "pool", mode = "mean"'
        )
    if not isinstance(dimension, int):
        raise InputError(
            f"steps: they end in {x.shape}, expected [batch, dimension]; "
            'add a step that pools, such as: step = "pool", mode = "mean"'
        )
    counts = None
    if state.counts is not None:
        counts = COUNTS
        _give(graph, state.counts, counts, "batch")
    rows = "batch" if counts is None else "rows"
    _give(graph, graph.builder.op.Identity(x) if x is graph.state.x else x, name, rows, dimension)
    if not steps:
        return Output(name=name, dimension=dimension)
    last = steps[-1]
    return Output(
        name=name,
        dtype=last.dtype,
        dimension=dimension,
        packed_bits=last.packs,
        counts=counts,
    )


def _further(graph: EncoderGraph, name: str, state: Values) -> Output:
    """Make a further result the first output of the graph, of rows that one output counts."""
    size = state.x.shape[1] if state.x.shape is not None else None
    if not isinstance(size, int):
        raise RuntimeError(f"{name} has no size")
    _give(graph, state.x, name, "rows", size)
    return Output(name=name, dimension=size, counts=COUNTS)


def _give(
    graph: EncoderGraph, x: ir.Value, name: str, *shape: str | int | ir.SymbolicDim, before: int = 0
) -> None:
    """Make a value an output of the graph; by default the first one."""
    x.name = name
    x.shape = ir.Shape(shape)
    graph.model.graph.outputs.insert(before, x)
