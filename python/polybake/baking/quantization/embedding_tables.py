"""Make integers of the tables of a graph, with a scale for each row."""

from pathlib import Path

from onnxscript import ir

from polybake.baking.quantization.matmuls import is_weight
from polybake.baking.quantization.nodes import Nodes, in_file
from polybake.baking.quantization.rounding import round_rows


def quantize_tables(graph: ir.Graph, folder: Path) -> None:
    """Round the tables to int8, in place."""
    for node in list(graph):
        table = table_of(node)
        if table is None or table.const_value is None:
            continue
        nodes = Nodes(graph, node)
        integers, scales = round_rows(table.const_value.numpy())
        integers = in_file(integers, folder)
        places = node.inputs[1]
        rows = nodes.op("Gather", nodes.constant(f"{table.name}", integers), places)
        scale = nodes.op("Gather", nodes.constant(f"{table.name}.scale", scales), places)
        wide = nodes.op("Cast", rows, to=ir.DataType.FLOAT)
        nodes.replace(node, nodes.op("Mul", wide, scale))


def table_of(node: ir.Node) -> ir.Value | None:
    """Return the table that a node looks rows up in, if it is large enough."""
    if node.op_type != "Gather" or node.attributes.get_int("axis", 0) != 0:
        return None
    table = node.inputs[0]
    return table if table is not None and is_weight(table) else None
