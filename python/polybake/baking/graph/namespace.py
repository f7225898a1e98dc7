"""The modules that the nodes of a graph belong to."""

from onnxscript import ir

#: Modules, each within the one before, such as ``encoder`` and ``layer.0``.
Namespace = tuple[str, ...]


def namespace(node: ir.Node) -> Namespace:
    """Return the modules that a node belongs to, outermost first.

    They come from the metadata of onnxscript and torch.onnx, ``name: Class`` for each module,
    or from the node's name, as in ``/encoder/layer.0/MatMul``.
    """
    stated = node.metadata_props.get("namespace")
    if not stated:
        return tuple(filter(None, (node.name or "").split("/")[:-1]))
    parts = [part.partition(":")[0].strip() for part in stated.split("/")]
    above = ["", *parts]  # torch.onnx writes encoder, then encoder.layer.0
    own = (part.removeprefix(f"{prefix}.") for prefix, part in zip(above, parts, strict=False))
    return tuple(filter(None, own))
