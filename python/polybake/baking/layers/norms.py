"""Normalisations of the last axis, with the parameter names that PyTorch gives them."""

from onnxscript import OpBuilder, ir, nn


class LayerNorm(nn.Module):
    """Normalise mean and variance, then scale, and shift if there is a bias."""

    def __init__(
        self, size: int, epsilon: float, *, bias: bool = True, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.weight = nn.Parameter([size])
        # Zeros, as ONNX Runtime (SkipLayerNormFusion, 1.20 to 1.31) crashes without a bias.
        self.bias = nn.Parameter([size]) if bias else [0.0] * size
        self.epsilon = epsilon

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., size]``."""
        return op.LayerNormalization(x, self.weight, self.bias, axis=-1, epsilon=self.epsilon)


class RMSNorm(nn.Module):
    """Divide by the root of the mean square, then scale.

    Source: transformers ``T5LayerNorm``, ``Qwen2RMSNorm``.
    """

    def __init__(self, size: int, epsilon: float, *, name: str | None = None) -> None:
        super().__init__(name)
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
    """Scale with ``1 + weight``.

    Source: transformers ``GemmaRMSNorm``.
    """

    def scale(self, op: OpBuilder) -> ir.Value:
        """Return the factor of the normalised values, float32 ``[size]``."""
        return op.Add(self.weight, 1.0)
