"""MatMulNBits of four bits, by the words of its specification alone."""

import numpy as np
import onnx
from onnx import numpy_helper


def constants_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The constants of a graph, those behind a Cast in float32."""
    found = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    casts = [node for node in model.graph.node if node.op_type == "Cast"]
    found |= {
        node.output[0]: found[node.input[0]].astype(np.float32)
        for node in casts
        if node.input[0] in found
    }
    return found


def weight_of(node: onnx.NodeProto, constants: dict[str, np.ndarray]) -> np.ndarray:
    """What a MatMulNBits multiplies by, ``[in, out]``, by the words of its specification alone."""
    told = {one.name: one.i for one in node.attribute}
    packed, scales, zeros = (constants[name] for name in node.input[1:4])
    assert (told["bits"], told["accuracy_level"]) == (4, 1)
    weight = np.empty((told["K"], told["N"]), np.float32)
    for row in range(told["K"]):
        block, place = divmod(row, told["block_size"])
        integers = packed[:, block, place // 2] >> 4 * (place % 2) & 15
        middle = zeros[:, block // 2] >> 4 * (block % 2) & 15
        weight[row] = (integers.astype(np.float32) - middle) * scales[:, block]
    return weight


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same graph with a float32 product in the place of each MatMulNBits."""
    constants = constants_of(model)
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            weight = numpy_helper.from_array(weight_of(node, constants), f"{node.name}.weight")
            model.graph.initializer.append(weight)
            inputs = [node.input[0], weight.name]
            made = onnx.helper.make_node("MatMul", inputs, node.output, node.name)
            node.CopyFrom(made)
    return model
