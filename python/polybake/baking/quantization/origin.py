"""What made the rows that a product multiplies."""

from onnxscript import ir

#: How far above a product its GELU may begin: x * (1 + erf(x / sqrt(2))) / 2.
_GELU_DEPTH = 4

_NORMS = {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"}


def after_norm(x: ir.Value) -> bool:
    """Return whether ``x`` is the output of a norm: an operator, or a vector's product or sum."""
    producer = x.producer()
    if producer is None or producer.op_type in _NORMS:
        return producer is not None
    vectors = [value for value in producer.inputs if value is not None and value.is_initializer()]
    return producer.op_type in ("Mul", "Add") and any(
        value.shape is not None and len(value.shape) == 1 for value in vectors
    )


def after_gelu(x: ir.Value) -> bool:
    """Return whether ``x`` is the output of a GELU: an operator, or its parts."""
    values = [x]
    for _ in range(_GELU_DEPTH):
        makers = [maker for value in values if (maker := value.producer()) is not None]
        if any(maker.op_type in ("Erf", "Gelu") for maker in makers):
            return True
        values = [
            value
            for maker in makers
            if maker.op_type in ("Mul", "Add")
            for value in maker.inputs
            if value is not None and not value.is_initializer()
        ]
    return False
