"""Write any network of modules as one ONNX file, as the examples do."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxscript import GraphBuilder, ir, nn

from polybake.baking.graph.check import check_graph
from polybake.baking.graph.write import serialize
from polybake.baking.layers.weights import load_weights
from polybake.base.files.atomic import replacing

#: Loaded by runtimes years old.
OPSET = 18
IR_VERSION = 8


def new_model() -> ir.Model:
    """A model without inputs, nodes and outputs."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": OPSET}, name="polybake")
    return ir.Model(graph, ir_version=IR_VERSION, producer_name="polybake")


def write_network(
    network: nn.Module, inputs: Sequence[ir.Value], out: Path, weights: Path | None = None
) -> str:
    """Call ``network`` with ``inputs``, and write the resulting graph to ``out``.

    Args:
        network: A module whose ``forward(op, *inputs)`` returns one value, the output ``y``.
        inputs: Values such as ``ir.val("x", ir.DataType.FLOAT, ["batch", 8])``.
        out: The ONNX file to write.
        weights: A safetensors file, or a ``.bin`` that ``torch.save`` wrote of a state dict, with
            PyTorch's names and shapes. None draws every weight without a value from a normal
            distribution of std 0.2, the same in each call.

    Returns:
        The network's inputs and output, such as ``x FLOAT[batch,8] -> y FLOAT[batch,3]``.

    Raises:
        InputError: The weights do not fit the network.
        CheckFailed: The graph is not valid ONNX; nothing is written.
    """
    model = new_model()
    model.graph.inputs.extend(inputs)
    y: ir.Value = network(GraphBuilder(model.graph).op, *inputs)
    y.name = "y"
    model.graph.outputs.append(y)
    if weights is None:
        _draw(network)
    else:
        load_weights(network, [weights])
    check_every_parameter_is_placed(network, model.graph)
    check_graph(model, out)
    with replacing(out) as file:
        serialize(model).write_to(file)
    return f"{', '.join(map(_readable, inputs))} -> {_readable(y)}"


def check_every_parameter_is_placed(network: nn.Module, graph: ir.Graph) -> None:
    """Find a parameter whose module was never called: it would leave a dangling name."""
    placed = {id(value) for value in graph.initializers.values()}
    missing = {name for name, value in network.named_parameters() if id(value) not in placed}
    if missing:
        raise RuntimeError(f"parameters without an initializer: {', '.join(sorted(missing))}")


def _draw(network: nn.Module) -> None:
    random = np.random.default_rng(0)
    for parameter in network.parameters():
        if parameter.const_value is None and parameter.shape is not None:
            values = random.normal(0.0, 0.2, parameter.shape.numpy())
            parameter.const_value = ir.tensor(values.astype(np.float32))


def _readable(value: ir.Value) -> str:
    return f"{value.name} {value.dtype}{value.shape}"
