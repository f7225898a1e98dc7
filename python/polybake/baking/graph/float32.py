"""Convert a graph that computes in float16 or bfloat16 to float32."""

from collections.abc import Iterable

import numpy as np
import onnx

_NARROW = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)

#: Attributes of ONNX's operators that name the type of a result.
_TYPE_ATTRIBUTES = {"to", "dtype", "output_dtype", "output_datatype"}


def widen(model: onnx.ModelProto) -> None:
    """Make every narrow weight, constant, cast and declared type float32, in place.

    Runtimes choose where to round to 16 bits: they keep numbers wider between operators if they
    can, each in other places. Checkpoints are widened likewise.

    Raises:
        ValueError: The data of a weight do not fit its shape.
    """
    _widen_graph(model.graph)
    for function in model.functions:
        _widen_types(function.value_info)
        _widen_nodes(function.node)


def _widen_graph(graph: onnx.GraphProto) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for values in (graph.input, graph.output, graph.value_info):
        _widen_types(values)
    _widen_nodes(graph.node)


def _widen_nodes(nodes: Iterable[onnx.NodeProto]) -> None:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.name in _TYPE_ATTRIBUTES and attribute.i in _NARROW:
                attribute.i = onnx.TensorProto.FLOAT
            for tensor in (attribute.t, *attribute.tensors):
                _widen_tensor(tensor)
            for graph in (attribute.g, *attribute.graphs):
                _widen_graph(graph)


def _widen_types(values: Iterable[onnx.ValueInfoProto]) -> None:
    for value in values:
        if value.type.tensor_type.elem_type in _NARROW:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_type in _NARROW:
        try:
            array = onnx.numpy_helper.to_array(tensor).astype(np.float32)
        except ValueError as error:
            raise ValueError(
                f"weight {tensor.name!r} of shape {list(tensor.dims)} has other data ({error})"
            ) from error
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
