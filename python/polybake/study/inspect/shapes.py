"""Every value of a graph with its dtype and shape."""

from typing import Any

from onnxscript import ir

from polybake.baking.graph.namespace import namespace
from polybake.base.files.printable import printable
from polybake.study.inspect.graph import dtype_text, shape_sizes


def shape_facts(model: ir.Model) -> dict[str, Any]:
    """Return all values for ``--json``: inputs, nodes by namespace, outputs and weights."""
    graph = model.graph
    weights = [value for value in graph.initializers.values() if not value.is_graph_input()]
    groups: dict[str, list[dict[str, Any]]] = {}
    for node in graph:
        values = [_facts(value) | {"operator": node.op_type} for value in node.outputs]
        groups.setdefault("/".join(namespace(node)), []).extend(values)
    return {
        "inputs": [_facts(value) for value in graph.inputs],
        "nodes": [{"namespace": name, "values": values} for name, values in groups.items()],
        "outputs": [_facts(value) for value in graph.outputs],
        "weights": [_facts(value) for value in weights],
    }


def shape_table(facts: dict[str, Any]) -> str:
    """Return the facts as text: a heading for each group, and a line for each value."""
    groups = [
        ("inputs", facts["inputs"]),
        *((group["namespace"] or "(no namespace)", group["values"]) for group in facts["nodes"]),
        ("outputs", facts["outputs"]),
        ("weights", facts["weights"]),
    ]
    rows = [(title, [_cells(value) for value in values]) for title, values in groups if values]
    columns = zip(*(cells for _, some in rows for cells in some), strict=True)
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for title, some in rows:
        lines.append(printable(title))
        lines += ["  " + "  ".join(map(str.ljust, cells, widths)).rstrip() for cells in some]
    return "\n".join(lines)


def _facts(value: ir.Value) -> dict[str, Any]:
    return {"name": value.name or "", "dtype": dtype_text(value), "shape": shape_sizes(value)}


def _cells(value: dict[str, Any]) -> tuple[str, ...]:
    shape = value["shape"]
    text = "?" if shape is None else f"[{', '.join(map(str, shape))}]"
    cells = (value["name"], value["dtype"] or "?", text, value.get("operator", ""))
    return tuple(map(printable, cells))
