"""Make one ONNX function of a step's operators, so that a viewer shows the step as one node."""

import itertools
from collections.abc import Sequence

from onnxscript import GraphBuilder, ir

#: The domain of the functions, and its only version.
DOMAIN = "polybake.steps"
_VERSION = 1


def call_as_function(
    kind: str,
    scope: str,
    model: ir.Model,
    builder: GraphBuilder,
    nodes: Sequence[ir.Node],
    result: ir.Value,
) -> ir.Value:
    """Replace the last nodes of the graph by one call of a function that holds them.

    Weights stay initializers of the graph and become inputs of the function, which cannot hold
    any. Literals of the code, such as an epsilon or axes, become constants inside it.

    Returns:
        The call's output, of the dtype and shape of ``result``; ``result`` itself if no node makes
        it.
    """
    inner = {value for node in nodes for value in node.outputs}
    if result not in inner:
        return result
    outer = [value for value in _read(nodes) if value not in inner]
    literals = [value for value in outer if _is_literal(value, scope)]
    given = sorted((value for value in outer if value not in literals), key=_place)
    function = ir.Function(
        DOMAIN,
        _free_name(kind, model),
        graph=_body(scope, model, nodes, given, literals, result),
        attributes=[],
    )
    model.functions[function.identifier()] = function
    model.opset_imports[DOMAIN] = _VERSION
    model.graph.remove(nodes, safe=True)
    called: ir.Value = builder.call(function, *given, _outputs=["result"])
    called.type, called.shape = result.type, result.shape
    return called


def remove_unused_literals(graph: ir.Graph) -> None:
    """Drop the initializers that only functions need, which hold them as constants."""
    # Nodes that became functions still count as uses of a literal that their subgraph reads.
    nodes = ir.traversal.RecursiveGraphIterator(graph)
    read = {value for node in nodes for value in node.inputs}
    for name, value in list(graph.initializers.items()):
        if value not in read:
            del graph.initializers[name]


def _read(nodes: Sequence[ir.Node]) -> list[ir.Value]:
    """Every value of the main graph that the nodes or their subgraphs read, once each."""
    main = nodes[0].graph
    within = ir.traversal.RecursiveGraphIterator(ir.GraphView([], [], nodes=nodes))
    read = (value for node in within for value in node.inputs if value is not None)
    return list(dict.fromkeys(value for value in read if value.graph is main))


def _is_literal(value: ir.Value, scope: str) -> bool:
    """Whether the builder made it of a number in the code, which it names in no scope."""
    return value.is_initializer() and not (value.name or "").startswith(f"{scope}.")


def _place(value: ir.Value) -> tuple[bool, bool]:
    """Sort results of earlier nodes first, then inputs of the model, then weights."""
    return value.is_initializer(), value.is_graph_input()


def _free_name(kind: str, model: ir.Model) -> str:
    taken = {function.name for function in model.functions.values() if function.domain == DOMAIN}
    names = itertools.chain([kind], (f"{kind}_{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def _body(
    scope: str,
    model: ir.Model,
    nodes: Sequence[ir.Node],
    given: Sequence[ir.Value],
    literals: Sequence[ir.Value],
    result: ir.Value,
) -> ir.Graph:
    """A copy of the nodes, with readable names."""
    imports = {domain: one for domain, one in model.opset_imports.items() if domain != DOMAIN}
    body = ir.GraphView(
        given, [result], nodes=nodes, initializers=literals, opset_imports=imports
    ).clone()
    for value in list(body.initializers.values()):
        constant = ir.node("Constant", [], {"value": value.const_value}, name=value.name)
        constant.outputs[0].name = value.name
        value.replace_all_uses_with(constant.outputs[0])
        body.insert_before(body[0], constant)
    body.initializers.clear()
    taken = {value.name for node in body for value in node.outputs}
    for value in body.inputs:
        wanted = _role(value, scope)
        if wanted not in taken:
            value.name = wanted
        taken.add(value.name)
    if "result" not in taken:
        body.outputs[0].name = "result"
    return body


def _role(value: ir.Value, scope: str) -> str:
    """Return the role of a value in a step: a weight, an input of the model, or embeddings."""
    name = value.name or ""
    if name.startswith(f"{scope}."):
        return name.removeprefix(f"{scope}.")
    if value.dtype == ir.DataType.FLOAT and value.shape is not None:
        return {2: "embedding", 3: "token_embeddings"}.get(len(value.shape), name)
    return name
