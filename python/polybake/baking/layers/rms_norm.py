"""Root mean square normalisation."""

from onnxscript import OpBuilder, ir, nn


class RMSNorm(nn.Module):
    """Divide by the root of the last axis's mean square, then scale.

    Source: transformers ``T5LayerNorm``, ``Qwen2RMSNorm``.
    """

    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter([size])
        self.epsilon = epsilon

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., size]``."""
        square = op.ReduceMean(op.Mul(x, x), axes=[-1], keepdims=1)
        return op.Mul(op.Div(x, op.Sqrt(op.Add(square, self.epsilon))), self.scale(op))

    def scale(self, op: OpBuilder) -> ir.Value:  # noqa: ARG002 - what subclasses take
        """Return the factor of the normalised values, float32 ``[size]``."""
        return self.weight


class OneBasedRMSNorm(RMSNorm):
    """Scales with ``1 + weight``.

    Source: transformers ``GemmaRMSNorm``.
    """

    def scale(self, op: OpBuilder) -> ir.Value:
        """Return the factor of the normalised values, float32 ``[size]``."""
        return op.Add(self.weight, 1.0)
