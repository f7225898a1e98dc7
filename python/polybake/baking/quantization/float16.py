"""Compute a graph's large matmuls, and the operators between them, in float16.

On GPUs float16 matmuls are several times as fast. On a CPU ONNX Runtime computes them in float32
and rounds. Inputs and outputs keep their types.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx_ir.passes.common import LiftConstantsToInitializersPass
from onnxscript import ir

from polybake.baking.graph.session import open_written
from polybake.baking.graph.storage import LARGEST_FLOAT16, as_float16, cast, drop_unused_weights
from polybake.baking.graph.write import write_to_run
from polybake.baking.quantization.narrow_nodes import NarrowNodes, branches, numbers
from polybake.base.modelfile.manifest import Contract
from polybake.errors import InputError
from polybake.runtime.feeds import feeds
from polybake.runtime.session import run

_NARROW = ir.DataType.FLOAT16
_WIDE = ir.DataType.FLOAT

#: Operators that read only a value's shape.
_SHAPES = {"Shape", "Size"}


def narrow(model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path) -> int:
    """Make the matmuls of ``model`` float16, in place.

    Returns:
        The number of nodes that compute in float16 now.
    """
    LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    selection = NarrowNodes(model.graph)
    _check_range(model, selection, contract, rows, folder)
    _Rewrite(model.graph, selection).graph(model.graph)
    drop_unused_weights(model.graph)
    return len(selection.nodes)


def _check_range(
    model: ir.Model,
    selection: NarrowNodes,
    contract: Contract,
    rows: Sequence[Sequence[int]],
    folder: Path,
) -> None:
    """Check float32 values, as a runtime may keep them wide on a CPU but not on a GPU."""
    # Values within a branch cannot be outputs.
    values = [node.outputs[0] for node in selection.nodes if node.graph is model.graph]
    for value, largest in zip(
        values, largest_values(model, values, contract, rows, folder), strict=True
    ):
        if not largest <= LARGEST_FLOAT16:
            node = value.producer()
            assert node is not None  # noqa: S101 - a node's output
            raise InputError(
                f"node {node.name} ({node.op_type}) gives {largest:g} for a golden text, and "
                f'float16 holds at most {LARGEST_FLOAT16:g}; set precision = "float32" in [model]'
            )


class _Rewrite:
    """Gives narrow nodes narrow inputs, and all other nodes wide inputs."""

    def __init__(self, main: ir.Graph, selection: NarrowNodes) -> None:
        self._main = main
        self._found = selection
        self._casts: dict[tuple[ir.Graph, ir.Value, ir.DataType], ir.Value] = {}

    def graph(self, graph: ir.Graph) -> None:
        """Rewrite a graph, and the branches within it."""
        for node in list(graph):
            for branch in branches(node):
                self.graph(branch)
            if node in self._found.nodes:
                self._narrow(graph, node)
            elif node.op_type not in _SHAPES:
                self._widen(graph, node)
        for index, value in enumerate(graph.outputs):
            if value in self._found.values:
                graph.outputs[index] = self._given(graph, value)

    def _narrow(self, graph: ir.Graph, node: ir.Node) -> None:
        for index, value in enumerate(numbers(node)):
            if value is None or value in self._found.values:
                continue
            if value.is_initializer():
                node.replace_input_with(index, self._constant(value))
            else:
                node.replace_input_with(index, self._cast(graph, value, _NARROW, node))
        for output in node.outputs:
            output.dtype = _NARROW

    def _widen(self, graph: ir.Graph, node: ir.Node) -> None:
        for index, value in enumerate(node.inputs):
            if value is not None and value in self._found.values:
                node.replace_input_with(index, self._cast(graph, value, _WIDE, node))

    def _cast(
        self, graph: ir.Graph, value: ir.Value, dtype: ir.DataType, before: ir.Node
    ) -> ir.Value:
        """The value in another type, cast once in a graph, before the first node that needs it."""
        key = (graph, value, dtype)
        if key not in self._casts:
            node = cast(value, dtype, f"{value.name}.{str(dtype).lower()}", before)
            graph.insert_before(before, node)
            self._casts[key] = node.outputs[0]
        return self._casts[key]

    def _given(self, graph: ir.Graph, value: ir.Value) -> ir.Value:
        """An output in float32, under the name that it had."""
        node = value.producer()
        assert node is not None  # noqa: S101 - narrow values are outputs of nodes
        name = str(value.name)
        value.name = f"{name}.float16"
        wide = cast(value, _WIDE, name, node)
        graph.insert_after(node, wide)
        return wide.outputs[0]

    def _constant(self, value: ir.Value) -> ir.Value:
        """The same weight in float16."""
        name = f"{value.name}.float16"
        weight = self._main.initializers.get(name)
        if weight is None:
            weight = as_float16(value, name)
            self._main.initializers.add(weight)
        return weight


def largest_values(
    model: ir.Model,
    values: Sequence[ir.Value],
    contract: Contract,
    rows: Sequence[Sequence[int]],
    folder: Path,
) -> list[float]:
    """Return the largest absolute number of each value over all texts; NaN if it has NaN.

    They are found inside a copy of the graph, which frees its values as it runs.
    """
    copy = model.clone()
    by_name = {value.name: value for node in copy.graph for value in node.outputs}
    names = []
    for number, value in enumerate(values):
        size = ir.node("Abs", [by_name[value.name]])
        most = ir.node("ReduceMax", size.outputs, {"keepdims": 0}, name=f"largest.{number}")
        output = most.outputs[0]
        output.name, output.dtype, output.shape = (
            f"largest.{number}",
            ir.DataType.FLOAT,
            ir.Shape([]),
        )
        copy.graph.extend([size, most])
        copy.graph.outputs.append(output)
        names.append(str(output.name))
    if not names:
        return []
    path = folder / "largest.onnx"
    write_to_run(copy, path)
    session = open_written(path, threads=1, name="the graph")
    results = [run(session, names, feeds(contract, [row])) for row in rows]
    return [float(maximum) for maximum in np.max(np.array(results, np.float32), axis=0)]
