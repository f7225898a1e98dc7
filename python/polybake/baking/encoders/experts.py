"""A mixture of experts: each token takes the few feed-forward blocks that a router chooses.

Source: ``NomicMoELayer`` of nomic-ai/nomic-bert-2048; megablocks' ``dMoE`` in evaluation.
"""

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.options import Experts, Options
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.linear import Linear


class Expert(nn.Module):
    """A feed-forward block without biases."""

    def __init__(self, options: Options, name: str) -> None:
        super().__init__(name)
        self.w1 = Linear(options.hidden_size, options.intermediate_size, bias=False)
        self.w2 = Linear(options.intermediate_size, options.hidden_size, bias=False)
        self.activate = ACTIVATIONS[options.activation].build

    def forward(self, op: OpBuilder, rows: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[tokens, size]``."""
        return self.w2(op, self.activate(op, self.w1(op, rows)))


class MixtureOfExperts(nn.Module):
    """The router and its experts, in the place of a feed-forward block, and one bias for all."""

    def __init__(self, options: Options, experts: Experts, name: str) -> None:
        super().__init__(name)
        self.size, self.top = options.hidden_size, experts.top
        self.router = Linear(self.size, experts.count, bias=False, name="router.layer")
        self.bias = nn.Parameter([self.size], name="experts.bias")
        self.experts = [Expert(options, f"experts.mlp.{n}") for n in range(experts.count)]
        for expert in self.experts:
            setattr(self, str(expert.name), expert)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, size]``.

        An expert computes the rows that it is chosen for, and no others.
        """
        rows = op.Reshape(x, [-1, self.size])
        shares, total = self._shares(op, rows), op.Mul(rows, 0.0)
        for number, expert in enumerate(self.experts):
            share = op.Gather(shares, number, axis=1)
            mine = op.Squeeze(op.NonZero(share), axes=[0])
            weighted = op.Mul(
                expert(op, op.Gather(rows, mine)), op.Unsqueeze(op.Gather(share, mine), axes=[1])
            )
            total = op.ScatterND(total, op.Unsqueeze(mine, axes=[1]), weighted, reduction="add")
        return op.Reshape(op.Add(total, self.bias), op.Shape(x))

    def _shares(self, op: OpBuilder, rows: ir.Value) -> ir.Value:
        """Give how much each expert counts for a token, float32 ``[tokens, experts]``.

        It is nothing, unless it is one of the token's largest. The kept shares are of all experts;
        they do not add up to 1.
        """
        shares = op.Softmax(self.router(op, rows), axis=-1)
        largest, indices = op.TopK(shares, [self.top], axis=-1, _outputs=2)
        return op.ScatterElements(op.Mul(shares, 0.0), indices, largest, axis=1)
