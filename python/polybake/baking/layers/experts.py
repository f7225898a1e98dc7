"""A mixture of experts: each token takes the few feed-forward blocks that a router chooses.

Source: ``NomicMoELayer`` of nomic-ai/nomic-bert-2048; megablocks' ``dMoE`` in evaluation.
"""

from onnxscript import OpBuilder, ir, nn

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.linear import Linear


class Expert(nn.Module):
    """A feed-forward block without biases."""

    def __init__(self, size: int, wide: int, activation: str) -> None:
        super().__init__()
        self.w1 = Linear(size, wide, bias=False)
        self.w2 = Linear(wide, size, bias=False)
        self.activation = ACTIVATIONS[activation]

    def forward(self, op: OpBuilder, rows: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[tokens, size]``."""
        return self.w2(op, self.activation.build(op, self.w1(op, rows)))


class Router(nn.Module):
    """How much each expert counts for a token; nothing, unless it is one of the token's largest."""

    def __init__(self, size: int, experts: int, top: int) -> None:
        super().__init__()
        self.layer = Linear(size, experts, bias=False)
        self.top = top

    def forward(self, op: OpBuilder, rows: ir.Value) -> ir.Value:
        """Map float32 ``[tokens, size]`` to ``[tokens, experts]``.

        The kept shares are of all experts; they do not add up to 1.
        """
        shares = op.Softmax(self.layer(op, rows), axis=-1)
        largest, chosen = op.TopK(shares, [self.top], axis=-1, _outputs=2)
        return op.ScatterElements(op.Mul(shares, 0.0), chosen, largest, axis=1)


class Experts(nn.Module):
    """The sum of what the chosen experts give, each times its share, and one bias for all."""

    def __init__(self, size: int, wide: int, activation: str, count: int) -> None:
        super().__init__()
        self.mlp = nn.ModuleList([Expert(size, wide, activation) for _ in range(count)])
        self.bias = nn.Parameter([size])

    def forward(self, op: OpBuilder, rows: ir.Value, shares: ir.Value) -> ir.Value:
        """Map float32 ``[tokens, size]`` and ``[tokens, experts]`` to ``[tokens, size]``.

        An expert computes the rows that it is chosen for, and no others.
        """
        total = op.Mul(rows, 0.0)
        for number, expert in enumerate(self.mlp):
            share = op.Gather(shares, number, axis=1)
            mine = op.Squeeze(op.NonZero(share), axes=[0])
            weighted = op.Mul(
                expert(op, op.Gather(rows, mine)), op.Unsqueeze(op.Gather(share, mine), axes=[1])
            )
            total = op.ScatterND(total, op.Unsqueeze(mine, axes=[1]), weighted, reduction="add")
        return op.Add(total, self.bias)


class MixtureOfExperts(nn.Module):
    """The router and its experts, in the place of a feed-forward block."""

    def __init__(
        self, size: int, wide: int, activation: str, *, experts: int, top: int, name: str
    ) -> None:
        super().__init__(name)
        self.size = size
        self.router = Router(size, experts, top)
        self.experts = Experts(size, wide, activation, experts)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, size]``."""
        rows = op.Reshape(x, [-1, self.size])
        mixed = self.experts(op, rows, self.router(op, rows))
        return op.Reshape(mixed, op.Shape(x))
