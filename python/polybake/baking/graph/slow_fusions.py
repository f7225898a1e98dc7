"""Spell a graph so that ONNX Runtime fuses nothing that is slower fused.

On a CPU its SkipLayerNormalization (a sum and the norm of it) takes longer than the two do, and so
does BiasGelu: together 14 % of MiniLM's time with one thread, a quarter of an int8 graph's (seen in
1.31). A Sum is the same as an Add and is not looked for; nor is a bias of two axes.
"""

from onnxscript import ir

#: What a layer's norm begins with, as one operator or taken apart.
_NORM_BEGINS = {"LayerNormalization", "ReduceMean"}


def avoid_slow_fusions(model: ir.Model) -> None:
    """Rewrite residual sums before norms and biases before GELU, in place.

    A graph that rounds is left as it is: another spelling rounds float32 otherwise, and a number at
    the edge of two steps then falls into the other one.
    """
    if rounds(model):
        return
    for node in model.graph:
        if node.op_type != "Add" or node.domain not in ("", "ai.onnx"):
            continue
        users = {user.op_type for user, _ in node.outputs[0].uses()}
        if users & _NORM_BEGINS and not any(_is_initializer(value) for value in node.inputs):
            node.op_type = "Sum"
        elif _before_gelu(node.outputs[0]):
            for value in node.inputs:
                _lengthen(value)


def rounds(model: ir.Model) -> bool:
    """Whether the graph quantizes what it computes, by whatever scales."""
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
