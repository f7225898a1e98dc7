"""The feed-forward block whose activated half gates the other: SwiGLU and GeGLU."""

from onnxscript import OpBuilder, ir, nn

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.linear import Linear


def gated(op: OpBuilder, activation: str, gate: ir.Value, x: ir.Value) -> ir.Value:
    """Multiply ``x`` by the activated ``gate``; all of the same shape.

    ``activation`` is a key of `polybake.baking.layers.activations.ACTIVATIONS`.
    """
    return op.Mul(ACTIVATIONS[activation].build(op, gate), x)


class GatedMLP(nn.Module):
    """``down(activation(gate(x)) * up(x))``, without biases."""

    def __init__(self, size: int, wide: int, activation: str) -> None:
        super().__init__()
        self.gate_proj = Linear(size, wide, bias=False)
        self.up_proj = Linear(size, wide, bias=False)
        self.down_proj = Linear(wide, size, bias=False)
        self.activation = activation

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., size]``."""
        gate, up = self.gate_proj(op, x), self.up_proj(op, x)
        return self.down_proj(op, gated(op, self.activation, gate, up))
