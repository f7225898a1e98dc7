"""A transformer block: ``x + attention(norm(x))``, then ``x + mlp(norm(x))``.

``attention`` is ``softmax(Q K' / sqrt(d)) V`` in each head, and ``mlp`` is ``gelu(x W + b) V + c``.
"""

from __future__ import annotations

from pathlib import Path

import typer
from onnxscript import OpBuilder, ir, nn

from polybake.layers import (
    ACTIVATIONS,
    LayerNorm,
    Linear,
    attend,
    padding_bias,
    split_heads,
    write_network,
)


class Attention(nn.Module):
    """Each token mixes the values of all tokens that are kept."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_size = heads, size // heads
        self.query, self.key, self.value, self.output = (Linear(size, size) for _ in range(4))

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, size]``."""
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.query, self.key, self.value)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.output(op, mixed)


class TransformerBlock(nn.Module):
    """Attention and a two-layer perceptron, each added to what it is given."""

    def __init__(self, size: int, heads: int, wide: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(size, 1e-5), LayerNorm(size, 1e-5)
        self.attention = Attention(size, heads)
        self.linear1, self.linear2 = Linear(size, wide), Linear(wide, size)

    def forward(self, op: OpBuilder, x: ir.Value, mask: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, size]``.

        ``mask`` is int64 ``[batch, sequence]``, 1 where others may attend to a token, else 0.
        """
        x = op.Add(x, self.attention(op, self.norm1(op, x), padding_bias(op, mask)))
        wide = ACTIVATIONS["gelu"].build(op, self.linear1(op, self.norm2(op, x)))
        return op.Add(x, self.linear2(op, wide))


def main(out: Path, weights: Path | None = None) -> None:
    """Write the network to OUT, with random weights where no safetensors file is given."""
    x = ir.val("x", ir.DataType.FLOAT, ["batch", "sequence", 12])
    mask = ir.val("mask", ir.DataType.INT64, ["batch", "sequence"])
    print(write_network(TransformerBlock(12, 3, 20), [x, mask], out, weights))


if __name__ == "__main__":
    typer.run(main)
