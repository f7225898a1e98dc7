"""Add nodes in the place of a node."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.errors import InputError

#: The domain of operators that ONNX Runtime has beside ONNX's.
MICROSOFT = "com.microsoft"

#: The opset from which on ReduceMax takes axes as an input.
_AXES_ARE_INPUTS = 18


class Nodes:
    """Adds nodes before ``place``, in whose namespace they are; ``label`` is in their names."""

    def __init__(self, graph: ir.Graph, place: ir.Node, label: str = "int8") -> None:
        self._graph = graph
        self._place = place
        self._label = label

    def op(
        self, kind: str, *inputs: ir.Value | None, domain: str = "", **attributes: Any
    ) -> ir.Value:
        """Add an operator, of ONNX where no domain is named; return its only output."""
        if domain:
            self._graph.opset_imports[domain] = 1
        node = ir.node(kind, inputs, attributes or None, domain=domain)
        node.metadata_props.update(self._place.metadata_props)
        self._graph.insert_before(self._place, node)
        # The graph's own number makes the name unique; a profile knows nodes only by name.
        node.name = f"{(self._place.name or '').rpartition('/')[0]}/{self._label}/{node.name}"
        return node.outputs[0]

    def largest_of_rows(self, x: ir.Value) -> ir.Value:
        """The largest element of each row, ``[..., 1]``."""
        if self._opset < _AXES_ARE_INPUTS:
            return self.op("ReduceMax", x, axes=[-1], keepdims=1)
        last = self.constant("last_axis", np.array([-1], np.int64))
        return self.op("ReduceMax", x, last, keepdims=1)

    @property
    def _opset(self) -> int:
        return self._graph.opset_imports[""]

    def constant(self, name: str, array: NDArray[Any]) -> ir.Value:
        """Return an initializer, either a new one or the existing one of this name."""
        name = f"{self._label}.{name}"
        initializer = self._graph.initializers.get(name)
        if initializer is not None:
            return initializer
        tensor = ir.tensor(array, name=name)
        value = ir.Value(
            name=name,
            shape=ir.Shape(array.shape),
            type=ir.TensorType(tensor.dtype),
            const_value=tensor,
        )
        self._graph.initializers.add(value)
        return value

    def number(self, value: float) -> ir.Value:
        """A float32 number."""
        return self.constant(f"{value:g}", np.array(value, np.float32))

    def replace(self, node: ir.Node, new: ir.Value) -> None:
        """Put ``new`` in the place of a node's only output, under its name; drop the node."""
        old = node.outputs[0]
        name = old.name
        new.type, new.shape = old.type, old.shape
        old.replace_all_uses_with(new, replace_graph_outputs=True)
        self.drop(node)
        new.name = name

    def drop(self, node: ir.Node) -> None:
        """Remove a node that nothing uses."""
        self._graph.remove(node, safe=True)


def in_file(integers: NDArray[Any], folder: Path) -> NDArray[Any]:
    """Return the same integers, mapped from a new file in ``folder``: they take no memory."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".integers", delete=False) as file:
            integers.tofile(file)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); make room for "
            f"{integers.nbytes} bytes, or name another folder in TMPDIR"
        ) from error
    return np.memmap(file.name, integers.dtype, "r", shape=integers.shape)
