"""Layer normalisation, with the parameter names that PyTorch gives it."""

from onnxscript import OpBuilder, ir, nn


class LayerNorm(nn.Module):
    """Normalise the last axis, then scale it, and shift it if there is a bias."""

    def __init__(self, size: int, epsilon: float, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter([size])
        # Zeros, as ONNX Runtime (SkipLayerNormFusion, 1.20 to 1.31) crashes without a bias.
        self.bias = nn.Parameter([size]) if bias else [0.0] * size
        self.epsilon = epsilon

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., size]``."""
        return op.LayerNormalization(x, self.weight, self.bias, axis=-1, epsilon=self.epsilon)
