"""Rewrite a graph so that ONNX Runtime makes no fusions that are slower.

On a CPU SkipLayerNormalization (a sum and its norm) takes longer than its parts, and so does
BiasGelu: together 14 % of MiniLM's time with one thread, a quarter of an int8 graph's (seen in
1.31). The fusions do not match a Sum, which equals an Add, or a bias of two axes.
"""

from onnxscript import ir

#: The first operator of a layer's norm, whether it is one operator or several.
_NORM_BEGINS = {"LayerNormalization", "ReduceMean"}


def avoid_slow_fusions(model: ir.Model) -> None:
    """Rewrite residual sums before norms and biases before GELU, in place.

    A graph that rounds is left as it is: other operators round float32 differently, so that a
    number at the edge of two steps may fall into the other step.
    """
    if rounds(model):
        return
    for node in model.graph:
        if node.op_type != "Add" or node.domain:
            continue
        users = {user.op_type for user, _ in node.outputs[0].uses()}
        if users & _NORM_BEGINS and not any(_is_initializer(value) for value in node.inputs):
            node.op_type = "Sum"
        elif _before_gelu(node.outputs[0]):
            for value in node.inputs:
                _lengthen(value)


def rounds(model: ir.Model) -> bool:
    """Return whether the graph quantizes what it computes, with any kind of scale."""
    return any(node.op_type == "QuantizeLinear" for node in model.graph)


def _before_gelu(value: ir.Value) -> bool:
    """Whether its error function is taken, of it or of a part of it."""
    users = [user for user, _ in value.uses()]
    scaled = [user for node in users if node.op_type in ("Div", "Mul") for user in _users(node)]
    return any(node.op_type in ("Erf", "Gelu") for node in [*users, *scaled])


def _users(node: ir.Node) -> list[ir.Node]:
    return [user for user, _ in node.outputs[0].uses()]


def _is_initializer(value: ir.Value | None) -> bool:
    return value is not None and value.is_initializer()


def _lengthen(value: ir.Value | None) -> None:
    """Make a bias that nothing else uses ``[1, size]``."""
    if value is None or not value.is_initializer() or len(value.uses()) > 1:
        return
    tensor = value.const_value
    if tensor is None or len(tensor.shape) != 1:
        return
    shape = ir.Shape([1, *tensor.shape.numpy()])
    value.const_value = ir.LazyTensor(
        lambda: ir.tensor(tensor.numpy().reshape(shape.numpy())), tensor.dtype, shape
    )
    value.shape = shape
