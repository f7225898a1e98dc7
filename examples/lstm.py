"""A sequence tagger: ``y_t = W [forward h_t, backward h_t] + b`` over a two-layer LSTM.

``c_t = f_t c_(t-1) + i_t g_t`` and ``h_t = o_t tanh(c_t)``, where ``i``, ``f``, ``o`` are sigmoids
and ``g`` is the tanh of linear layers over ``x_t`` and ``h_(t-1)``. Backward begins at each
sequence's own end.
"""

from __future__ import annotations

from pathlib import Path

import typer
from onnxscript import OpBuilder, ir, nn

from polybake.layers import Linear, LstmLayers, write_network


class Tagger(nn.Module):
    """One row of scores for each element of a sequence."""

    def __init__(self, inputs: int, hidden: int, tags: int) -> None:
        super().__init__()
        self.lstm = LstmLayers(inputs, hidden, layers=2, bidirectional=True)
        self.head = Linear(2 * hidden, tags)

    def forward(self, op: OpBuilder, x: ir.Value, lengths: ir.Value) -> ir.Value:
        """Map float32 ``[batch, sequence, in]``, int64 ``[batch]`` to ``[batch, sequence, tags]``.

        Behind a sequence's length stands what the head makes of zeros, its bias.
        """
        return self.head(op, self.lstm(op, x, lengths))


def main(out: Path, weights: Path | None = None) -> None:
    """Write the network to OUT, with random weights where no safetensors file is given."""
    x = ir.val("x", ir.DataType.FLOAT, ["batch", "sequence", 6])
    lengths = ir.val("lengths", ir.DataType.INT64, ["batch"])
    print(write_network(Tagger(6, 5, 4), [x, lengths], out, weights))


if __name__ == "__main__":
    typer.run(main)
