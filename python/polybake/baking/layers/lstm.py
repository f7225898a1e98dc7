"""Long short-term memory over texts of different lengths."""

from onnxscript import OpBuilder, ir, nn

#: The places of ONNX's gates i, o, f, c in PyTorch's order i, f, g, o.
_GATES = [0, 3, 1, 2]


class LstmLayers(nn.Module):
    """Layers of LSTM, in one direction or both, with PyTorch's names and order of gates.

    Source: PyTorch ``LSTM`` over the result of ``pack_padded_sequence``.
    """

    def __init__(
        self, inputs: int, hidden: int, layers: int = 1, *, bidirectional: bool = False
    ) -> None:
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.directions = ["", "_reverse"] if bidirectional else [""]
        for layer in range(layers):
            size = inputs if layer == 0 else hidden * len(self.directions)
            for direction in self.directions:
                suffix = f"l{layer}{direction}"
                setattr(self, f"weight_ih_{suffix}", nn.Parameter([4 * hidden, size]))
                setattr(self, f"weight_hh_{suffix}", nn.Parameter([4 * hidden, hidden]))
                setattr(self, f"bias_ih_{suffix}", nn.Parameter([4 * hidden]))
                setattr(self, f"bias_hh_{suffix}", nn.Parameter([4 * hidden]))

    def forward(self, op: OpBuilder, x: ir.Value, lengths: ir.Value) -> ir.Value:
        """Run over the first tokens of each text.

        Args:
            op: The builder.
            x: float32 ``[batch, sequence, inputs]``.
            lengths: int64 ``[batch]``; tokens behind them are not read.

        Returns:
            float32 ``[batch, sequence, hidden * directions]``; zeros behind the lengths.
        """
        lengths = op.Cast(lengths, to=ir.DataType.INT32)
        x = op.Transpose(x, perm=[1, 0, 2])
        for layer in range(self.layers):
            x = self._layer(op, layer, x, lengths)
        return op.Transpose(x, perm=[1, 0, 2])

    def _layer(self, op: OpBuilder, layer: int, x: ir.Value, lengths: ir.Value) -> ir.Value:
        """Map float32 ``[sequence, batch, inputs]`` to ``[sequence, batch, hidden * directions]``.

        The directions of a weight and its gates are put together in the graph, whose runtime does
        so once, when it loads the model.
        """
        biases = [self._gates(op, f"{name}_l{layer}") for name in ("bias_ih", "bias_hh")]
        y = op.LSTM(
            x,
            self._gates(op, f"weight_ih_l{layer}"),
            self._gates(op, f"weight_hh_l{layer}"),
            op.Squeeze(op.Concat(*biases, axis=1), axes=[2]),
            lengths,
            hidden_size=self.hidden,
            direction="forward" if len(self.directions) == 1 else "bidirectional",
            _outputs=1,
        )
        side_by_side = op.Transpose(y, perm=[0, 2, 1, 3])
        return op.Reshape(side_by_side, [0, 0, len(self.directions) * self.hidden])

    def _gates(self, op: OpBuilder, name: str) -> ir.Value:
        """A weight of all directions, ``[directions, 4 * hidden, columns]``, as ONNX has it."""
        weights = [getattr(self, f"{name}{direction}") for direction in self.directions]
        stacked = op.Concat(*weights, axis=0)
        gates = op.Reshape(stacked, [len(self.directions), 4, self.hidden, -1])
        ordered = op.Gather(gates, _GATES, axis=1)
        return op.Reshape(ordered, [len(self.directions), 4 * self.hidden, -1])
