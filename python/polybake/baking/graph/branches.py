"""Branches of a graph, of which each run takes one: ONNX ``If``."""

from collections.abc import Callable, Sequence

from onnxscript import GraphBuilder, ir

#: The key under which `choose` notes each branch's own shape, for the following steps.
_SHAPES = "polybake.shapes"


def branch(builder: GraphBuilder, name: str, build: Callable[[], Sequence[ir.Value]]) -> ir.Graph:
    """Make a graph of the nodes that ``build`` adds; their weights stay in the main graph.

    The nodes are added to the main graph first, as only there a module names its weights in full.
    """
    graph = builder.graph
    before = len(graph)
    builder.push_module(name)
    try:
        values = build()
        own = {value for node in list(graph)[before:] for value in node.outputs}
        results: list[ir.Value] = []
        for value in values:  # a branch's results must be its own, each listed once
            fresh = value in own and value not in results
            results.append(value if fresh else builder.op.Identity(value))
    finally:
        builder.pop_module()
    nodes = list(graph)[before:]
    graph.remove(nodes)
    return ir.Graph([], results, nodes=nodes, name=name)


def route_input(builder: GraphBuilder) -> ir.Value:
    """The input that chooses a route, int64 ``[1]``; it is added where the graph has none."""
    known = (value for value in builder.graph.inputs if value.name == "route")
    return next(known, None) or builder.input("route", ir.DataType.INT64, [1])


def choose(
    builder: GraphBuilder, number: ir.Value, branches: Sequence[ir.Graph], first: int = 0
) -> list[ir.Value]:
    """Add an ``If`` that runs one of the branches; for more than two, nested ``If`` nodes.

    Returns:
        The results; a size, or a number of axes, that the branches do not share is unknown.
    """
    condition = builder.op.Equal(number, [first])
    others = branches[1:]
    rest = (
        others[0]
        if len(others) == 1
        else branch(builder, "otherwise", lambda: choose(builder, number, others, first + 1))
    )
    count = len(branches[0].outputs)
    output = builder.op.If(condition, then_branch=branches[0], else_branch=rest, _outputs=count)
    results = [output] if count == 1 else list(output)
    for index, result in enumerate(results):
        ends = [graph.outputs[index] for graph in branches]
        shapes = [_shape(end) for end in ends]
        result.dtype = ends[0].dtype
        if len({len(shape) for shape in shapes}) == 1:
            result.shape = ir.Shape(
                sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)
            )
        result.meta[_SHAPES] = shapes
    return results


def within(builder: GraphBuilder, x: ir.Value, number: int) -> ir.Value:
    """The value ``x`` as a branch of that number sees it: with its shape in full."""
    shapes = x.meta.get(_SHAPES)
    if shapes is None or x.shape == shapes[number]:
        return x
    view: ir.Value = builder.op.Identity(x)
    view.shape = shapes[number]
    return view


def _shape(value: ir.Value) -> ir.Shape:
    if value.shape is None:
        raise RuntimeError(f"{value.name} has no shape")
    return value.shape
